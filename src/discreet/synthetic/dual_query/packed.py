"""Records as columns of bits, 64 records to a word: how many of them satisfy each query, exactly and fast.

A column for each pair (attribute, value) that some query reads. A conjunction is AND over its columns, a parity XOR,
and the answer the number of ones. Records that are alike are one row with a count: the rows whose count has bit b set
are packed together, and their ones count ``2^b``.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.synthetic.coded import Tallied
from discreet.synthetic.dual_query.queries import Int32, Queries

__all__ = ["Packed", "packed"]

Int64 = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

BLOCK_WORDS = 1 << 17
"""Words of one column of a block of queries: a block stays in the cache."""

ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The columns that some queries read; every word counts ``weights`` for each of its ones.

    ``valid`` has a one for each record: the last word of a part may be partly empty.
    """

    columns: Int32
    words: Words
    valid: Words
    weights: Int64

    @classmethod
    def from_columns(
        cls, queries: Queries, records: int, column: Callable[[int, int], npt.NDArray[np.uint8]]
    ) -> "Packed":
        """Return columns that are made one by one: ``column(attribute, value)`` has eight records in a byte.

        >>> asked = Queries(sizes=(2,), attributes=[[0]], values=[[1]])
        >>> Packed.from_columns(asked, 3, lambda attribute, value: np.array([0b110], dtype=np.uint8)).answers(asked)
        array([2])
        """
        width = -(-records // 64)
        words = np.zeros((len(queries.columns), width), dtype=np.uint64)
        room = words.view(np.uint8)
        for row, (attribute, value) in enumerate(queries.columns.tolist()):
            bits = column(attribute, value)
            room[row, : len(bits)] = bits
        valid = _bits(np.ones((1, records), dtype=np.bool_), width)[0]
        words &= valid
        return cls(queries.columns, words, valid, np.ones(width, dtype=np.int64))

    @property
    def records(self) -> int:
        """How many records there are: as secret as they are."""
        return int((np.bitwise_count(self.valid).astype(np.int64) * self.weights).sum())

    def reads(self, queries: Queries) -> bool:
        """Tell whether the queries read exactly these columns."""
        return queries.columns is self.columns or np.array_equal(queries.columns, self.columns)

    def answers(self, queries: Queries) -> Int64:
        """Return how many records satisfy each query; exact, and as secret as the records."""
        width = max(1, len(self.valid))
        step = max(1, BLOCK_WORDS // width)
        out = np.empty(len(queries), dtype=np.int64)
        starts = range(0, len(queries), step)

        def block(start: int) -> None:
            out[start : start + step] = self._block(queries, slice(start, start + step))

        workers = min(4, os.cpu_count() or 1)
        if workers > 1 and len(queries) * width > 1 << 22:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(block, starts))
        else:
            for start in starts:
                block(start)
        return out

    def _block(self, queries: Queries, places: slice) -> Int64:
        literals, flipped = queries.literals[places], queries.flipped[places]
        if queries.kind == "parity":
            found = self.words[literals[:, 0]]
            for i in range(1, queries.width):
                found ^= self.words[literals[:, i]]
            odd = flipped.sum(axis=1) % 2 == 1
            found[odd] ^= self.valid
        else:
            masks = np.where(flipped, ALL_ONES, np.uint64(0))
            found = self.words[literals[:, 0]]
            found ^= masks[:, :1]
            for i in range(1, queries.width):
                more = self.words[literals[:, i]]
                more ^= masks[:, i : i + 1]
                found &= more
            found &= self.valid
        ones = np.bitwise_count(found)
        if (self.weights == 1).all():
            return np.asarray(ones.sum(axis=1, dtype=np.int64))
        summed: Int64 = ones.astype(np.int64) @ self.weights
        return summed


def packed(tally: Tallied, queries: Queries) -> Packed:
    """Return the columns of coded records that the queries read.

    >>> asked = Queries(sizes=(2, 2), attributes=[[0, 1], [0, 1]], values=[[1, 1], [0, 1]])
    >>> packed(Tallied(np.array([[1, 1], [0, 1]]), np.array([5, 2])), asked).answers(asked)
    array([5, 2])
    """
    columns: list[Words] = []
    valid: list[Words] = []
    weights: list[Int64] = []
    for bit in range(int(tally.counts.max(initial=0)).bit_length()):
        rows = tally.codes[(tally.counts >> bit) & 1 == 1]
        if not len(rows):
            continue
        width = -(-len(rows) // 64)
        part = np.empty((len(queries.columns), width), dtype=np.uint64)
        for place, (attribute, value) in enumerate(queries.columns.tolist()):
            part[place] = _bits(rows[None, :, attribute] == value, width)[0]
        columns.append(part)
        valid.append(_bits(np.ones((1, len(rows)), dtype=np.bool_), width)[0])
        weights.append(np.full(width, 1 << bit, dtype=np.int64))
    nothing = np.zeros((len(queries.columns), 0), dtype=np.uint64)
    return Packed(
        queries.columns,
        np.concatenate([nothing, *columns], axis=1),
        np.concatenate([nothing[0], *valid]),
        np.concatenate([np.zeros(0, dtype=np.int64), *weights]),
    )


def _bits(rows: npt.NDArray[np.bool_], width: int) -> Words:
    """Return booleans as words, the first in the lowest bit."""
    out = np.zeros((len(rows), 8 * width), dtype=np.uint8)
    packed_bytes = np.packbits(rows, axis=1, bitorder="little")
    out[:, : packed_bytes.shape[1]] = packed_bytes
    return out.view("<u8").astype(np.uint64, copy=False)
