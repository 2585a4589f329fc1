"""Coded records: a row of whole numbers for each person, read so that no record can be refused.

What is public is refused: data that are no table, or a table with another number of columns. What one record can decide
is not: an array of whole numbers becomes one of floats if a single code is missing, and a list may hold anything.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.quietly import Silence
from discreet.sensitivity.smooth.column import number
from discreet.units import records as rows_of
from discreet.units.numeric import check_numeric

__all__ = ["Tallied", "codes_of_rows", "tallied"]

Int64 = npt.NDArray[np.int64]

FAR = 1 << 40
FRAMES = ("pandas", "polars", "pyarrow")
MOST_ALIKE = 1 << 32
"""The largest number of records in one row of a tally; sums over all rows fit into 64 bits."""

EXACT = 1 << 53
"""Whole numbers up to this are floats exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Tallied:
    """Rows of codes, and how many records each row stands for.

    >>> Tallied(np.array([[0, 1], [1, 1]]), np.array([3, 2])).table((1,), (2, 2)).tolist()
    [0, 5]
    """

    codes: Int64
    counts: Int64

    def table(self, attributes: tuple[int, ...], sizes: tuple[int, ...]) -> Int64:
        """Return the exact counts by some attributes, one axis for each."""
        place = np.zeros(len(self.codes), dtype=np.int64)
        for i in attributes:
            place = place * sizes[i] + self.codes[:, i]
        shape = tuple(sizes[i] for i in attributes)
        if int(self.counts.sum()) > EXACT:  # which floats, that are faster, would round
            whole = np.zeros(math.prod(shape), dtype=np.int64)
            np.add.at(whole, place, self.counts)
            return whole.reshape(shape)
        sums = np.bincount(place, weights=self.counts, minlength=math.prod(shape))
        return sums.astype(np.int64).reshape(shape)

    def coarsened(self, places: Iterable[Int64]) -> "Tallied":
        """Return the same records with other codes: value v of attribute i becomes ``places[i][v]``."""
        columns = [one[self.codes[:, i]] for i, one in enumerate(places)]
        return Tallied(np.stack(columns, axis=1), self.counts)


def tallied(data: Any, sizes: tuple[int, ...]) -> Tallied:  # noqa: ANN401 - a tally, a table, or a list of rows
    """Return coded records as a tally, with codes clamped to what each attribute can be.

    >>> tallied([[5, 0], [-1, 1]], (2, 2)).codes.tolist()
    [[1, 0], [0, 1]]
    """
    given = data if isinstance(data, Tallied) else None
    codes = codes_of_rows(data if given is None else given.codes, len(sizes), FAR)
    clamped = [np.clip(codes[:, i], 0, size - 1) for i, size in enumerate(sizes)]
    counts = np.ones(len(codes), dtype=np.int64)
    if given is not None:
        counts = np.asarray(given.counts)
        if counts.shape != (len(codes),) or counts.dtype.kind not in "iu":
            raise InvalidInput("a tally has a whole number for each of its rows.")
        counts = np.clip(counts, 0, MOST_ALIKE).astype(np.int64)
    return Tallied(np.stack(clamped, axis=1).reshape(len(codes), len(sizes)), counts)


def codes_of_rows(data: Any, columns: int, farthest: int) -> Int64:  # noqa: ANN401 - a table, or a list of rows
    """Return one row of ``columns`` codes for each record, none farther from 0 than ``farthest``.

    Numbers count by their value, so True and 1.0 are 1. What is no whole number is the code 0, and so is what a row
    lacks; what it has too much is left out. A record that is no row has the code 0 in all columns. A frame that
    declares a column of texts or dates is refused, or all its records would silently have the code 0 there; a column
    of objects may be one because of a single record, and is read value by value.

    >>> codes_of_rows([[1, 2], (True, 3.0), [4], [None, "x", 5], 7], 2, 9).tolist()
    [[1, 2], [1, 3], [4, 0], [0, 0], [0, 0]]
    >>> codes_of_rows(np.array([[1, 2], [3, np.nan]]), 2, 9).tolist()
    [[1, 2], [3, 0]]
    """
    if type(data).__module__.partition(".")[0] in FRAMES:
        check_numeric(data, mixed=True)
    array = np.asarray(data) if hasattr(data, "__array__") else None
    if array is None or (array.dtype.kind == "O" and array.ndim == 1):  # rows of different lengths make such an array
        with Silence():
            listed = [_row(record, columns, farthest) for record in rows_of(data if array is None else array)]
        return np.array(listed, dtype=np.int64).reshape(-1, columns)
    if array.shape == (0,):  # of no rows
        array = array.reshape(0, columns).astype(np.int64)
    if array.ndim != 2 or array.dtype.kind not in "biufO":
        raise InvalidInput("records are an array of whole numbers with one row for each record.")
    if array.shape[1] != columns:
        raise InvalidInput(f"records have one column for each of {columns} attributes, got {array.shape[1]}.")
    if array.dtype.kind == "O":
        with Silence():
            listed = [[_code(value, farthest) for value in row] for row in array.tolist()]
        return np.array(listed, dtype=np.int64).reshape(-1, columns)
    return _whole(array, farthest)


def _whole(array: npt.NDArray[Any], farthest: int) -> Int64:
    """Return an array of numbers as whole ones."""
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            array = np.where(np.isfinite(array) & (array == np.rint(array)), array, 0)
            far = np.abs(array) >= farthest
            near = np.where(far, 0, array).astype(np.int64)
        return np.where(far, np.where(array > 0, farthest, -farthest), near)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:  # in any order of bytes
        array = np.minimum(array, np.uint64(farthest))
    return np.clip(array.astype(np.int64), -farthest, farthest)


def _row(record: object, columns: int, farthest: int) -> list[int]:
    codes = [_code(value, farthest) for _, value in zip(range(columns), _entries(record), strict=False)]
    return codes + [0] * (columns - len(codes))


def _entries(record: Any) -> Iterator[object]:  # noqa: ANN401 - any record
    """Return the entries of a row, read as its kind of list is and not as a class of its own may say."""
    kind = type(record)
    if issubclass(kind, list):
        return list.__iter__(record)
    if issubclass(kind, tuple):
        return tuple.__iter__(record)
    entries: Iterable[object] = record.tolist() if kind is np.ndarray and record.ndim == 1 else ()
    if kind is np.void and record.dtype.names is not None:
        entries = record.item()
    return iter(entries)


def _code(value: object, farthest: int) -> int:
    read: Fraction | float | int = value if type(value) is int else number(value)
    if isinstance(read, float) or read.denominator != 1:
        return 0
    return min(max(int(read), -farthest), farthest)
