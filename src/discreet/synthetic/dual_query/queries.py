"""Yes-or-no questions about a record, and their complements: conjunctions and parities of a few literals.

A literal says that an attribute has a value, or that it has not. A marginal asks whether all literals of a query hold,
a parity whether an odd number of them does. Every query q comes with its complement 1 - q, which is never written
down: it is the same row with another sign. Nothing is laid out on the domain, so that there may be half a million
attributes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.noise import uniform_below
from discreet.synthetic.operators.operator import positive_size

__all__ = ["Int32", "Kind", "Queries", "all_marginals", "random_queries"]

Int32 = npt.NDArray[np.int32]
Bits = npt.NDArray[np.bool_]
Kind = Literal["marginal", "parity"]

MOST_CELLS = 1 << 30
MOST_LITERALS = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Queries:
    """Queries over records with ``sizes`` values of each attribute: a row for each query, a column for each literal.

    Query j is about ``attributes[j]``, all different; literal i of it says ``record[attributes[j, i]] == values[j,
    i]``, or that this is not so where ``negated[j, i]``. All of it is public.

    >>> both = Queries(sizes=(2, 3), attributes=[[0, 1]], values=[[1, 2]])
    >>> both.holds([[1, 2], [1, 0], [0, 2]]).tolist()
    [[True], [False], [False]]
    >>> odd = Queries(sizes=(2, 3), attributes=[[0, 1]], values=[[1, 2]], kind="parity")
    >>> odd.holds([[1, 2], [1, 0], [0, 2]]).tolist()
    [[False], [True], [True]]
    """

    sizes: tuple[int, ...]
    attributes: npt.ArrayLike
    values: npt.ArrayLike
    negated: npt.ArrayLike | None = None
    kind: Kind = "marginal"
    literals: Int32 = field(init=False)
    """Which row of ``columns`` each literal reads."""
    flipped: Bits = field(init=False)
    """Whether it reads the opposite."""
    columns: Int32 = field(init=False)
    """The pairs (attribute, value) that the queries read, each once."""
    places: Int32 = field(init=False)
    """Twice the literal, and one more where it is flipped: one row for each literal of a query."""

    def __post_init__(self) -> None:
        sizes = tuple(positive_size(size, "an attribute's size") for size in self.sizes)
        if not sizes or sum(sizes) > MOST_CELLS:
            raise InvalidParameter("queries need at least one attribute, and at most 2^30 values of all of them.")
        if self.kind not in ("marginal", "parity"):
            raise InvalidParameter("the kind of queries is 'marginal' or 'parity'.")
        attributes, values = _whole(self.attributes), _whole(self.values)
        negated = np.zeros(attributes.shape, dtype=np.bool_) if self.negated is None else np.asarray(self.negated)
        if attributes.ndim != 2 or not attributes.size or attributes.shape[1] > MOST_LITERALS:
            raise InvalidParameter(f"attributes have a row for each query, of 1 to {MOST_LITERALS} literals.")
        if values.shape != attributes.shape or negated.shape != attributes.shape or negated.dtype != np.bool_:
            raise InvalidParameter("values are whole numbers and negated is true or false, one for each attribute.")
        _check_range(attributes, values, np.array(sizes))
        for name, value in {"sizes": sizes, "attributes": attributes, "values": values, "negated": negated}.items():
            object.__setattr__(self, name, value)
        self._index(np.array(sizes))

    def _index(self, sizes: npt.NDArray[np.int64]) -> None:
        """Give every pair (attribute, value) that is read a number; 0 of two values is the opposite of 1."""
        attributes, values, negated = self.parts
        other = (sizes[attributes] == 2) & (values == 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        cells = starts[attributes] + np.where(other, 1, values)
        read = np.zeros(int(starts[-1]), dtype=np.bool_)
        read[cells] = True
        used = np.flatnonzero(read)
        number = np.zeros(len(read), dtype=np.int32)
        number[used] = np.arange(len(used), dtype=np.int32)
        owners = np.searchsorted(starts, used, side="right") - 1
        object.__setattr__(self, "literals", number[cells])
        object.__setattr__(self, "flipped", negated ^ other)
        object.__setattr__(self, "columns", np.stack([owners, used - starts[owners]], axis=1).astype(np.int32))
        object.__setattr__(self, "places", np.ascontiguousarray((2 * self.literals + self.flipped).T))

    @property
    def parts(self) -> tuple[Int32, Int32, Bits]:
        """The attributes, the values and what is negated."""
        return np.asarray(self.attributes), np.asarray(self.values), np.asarray(self.negated)

    @property
    def width(self) -> int:
        """How many literals a query has."""
        return int(self.literals.shape[1])

    def __len__(self) -> int:
        return len(self.literals)

    def __repr__(self) -> str:
        return f"<{len(self):,} {self.width}-way {self.kind} queries of {len(self.sizes):,} attributes>"

    def holds(self, codes: npt.ArrayLike) -> Bits:
        """Return whether each query holds for each of a few records: one row for each record."""
        rows = np.asarray(codes)
        attributes, values, negated = self.parts
        true = (rows[:, attributes] == values) ^ negated
        answers: Bits = np.logical_and.reduce(true, axis=2) if self.kind == "marginal" else true.sum(axis=2) % 2 == 1
        return answers

    def of_record(self, record: npt.NDArray[np.integer]) -> Bits:
        """Return whether each query holds for one record; the fastest way for many queries.

        >>> Queries(sizes=(2, 3), attributes=[[0, 1]], values=[[1, 2]]).of_record(np.array([1, 2])).tolist()
        [True]
        """
        true = record[self.columns[:, 0]] == self.columns[:, 1]
        table = np.stack([true, ~true], axis=1).reshape(-1)
        found: Bits = table[self.places[0]]
        for row in self.places[1:]:
            if self.kind == "marginal":
                found &= table[row]
            else:
                found ^= table[row]
        return found

    def chosen(self, places: npt.NDArray[np.int64]) -> "Queries":
        """Return some of the queries."""
        attributes, values, negated = (part[places] for part in self.parts)
        return Queries(sizes=self.sizes, attributes=attributes, values=values, negated=negated, kind=self.kind)


def all_marginals(sizes: Sequence[int], ways: int = 2, *, most: int = 1 << 22) -> Queries:
    """Return a query for every cell of every table of so many attributes.

    >>> len(all_marginals((2, 3, 2), 2))
    16
    """
    cells = [c for group in combinations(range(len(sizes)), ways) for c in islice(_cells(group, sizes), most + 1)]
    if not cells or len(cells) > most:
        raise InvalidParameter(f"there must be from 1 to {most:,} cells; take fewer attributes, or random_queries.")
    pairs = np.array(cells, dtype=np.int32)
    return Queries(sizes=tuple(sizes), attributes=pairs[:, :, 0], values=pairs[:, :, 1])


def _cells(group: tuple[int, ...], sizes: Sequence[int]) -> Iterable[list[tuple[int, int]]]:
    shape = tuple(sizes[i] for i in group)
    return (list(zip(group, map(int, place), strict=True)) for place in np.ndindex(shape))


def random_queries(
    sizes: Sequence[int], count: int, *, ways: int = 3, kind: Kind = "marginal", negations: bool = True
) -> Queries:
    """Return queries over random attributes and values, each literal negated or not with equal odds.

    Public, and drawn without any data; a query may be there twice.

    >>> random_queries((2,) * 10, 100)
    <100 3-way marginal queries of 10 attributes>
    """
    known, wanted = tuple(sizes), positive_size(count, "the number of queries")
    if not 1 <= ways <= min(len(known), MOST_LITERALS):
        raise InvalidParameter(f"a query is of 1 to {min(len(known), MOST_LITERALS)} different attributes here.")
    attributes = _below(len(known), (wanted, ways))
    while (again := np.flatnonzero(_repeats(attributes))).size:
        attributes[again] = _below(len(known), (again.size, ways))
    spread = _below(math.lcm(*set(known)) if len(set(known)) < 8 else 1 << 62, (wanted, ways))
    values = spread % np.array(known, dtype=np.int64)[attributes]
    negated = _below(2, (wanted, ways)) == 1 if negations else np.zeros((wanted, ways), dtype=np.bool_)
    return Queries(sizes=known, attributes=attributes, values=values, negated=negated, kind=kind)


def _below(n: int, shape: tuple[int, int]) -> npt.NDArray[np.int64]:
    return np.asarray(uniform_below(n, shape), dtype=np.int64)


def _repeats(attributes: npt.NDArray[np.generic]) -> Bits:
    ordered = np.sort(attributes, axis=1)
    return np.asarray((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))


def _whole(given: npt.ArrayLike) -> Int32:
    array = np.asarray(given)
    if array.dtype.kind not in "iu":
        raise InvalidParameter("attributes and values of queries are whole numbers.")
    clipped: Int32 = np.clip(array, -1, MOST_CELLS).astype(np.int32)
    return clipped


def _check_range(attributes: Int32, values: Int32, sizes: npt.NDArray[np.int64]) -> None:
    if attributes.min() < 0 or attributes.max() >= len(sizes):
        raise InvalidParameter(f"attributes are numbered from 0 to {len(sizes) - 1}.")
    if values.min() < 0 or (values >= sizes[attributes]).any():
        raise InvalidParameter("a value lies from 0 to below the size of its attribute.")
    if _repeats(attributes).any():
        raise InvalidParameter("a query has an attribute twice; each of its literals is about another one.")
