"""Coded records: a row of whole numbers for each person, read so that no record can be refused.

What is public is refused: data that are no table, or a table with another number of columns. What one record can decide
is not: an array of whole numbers becomes one of floats if a single code is missing, and a list may hold anything.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.quietly import Silence
from discreet.sensitivity.smooth.column import number
from discreet.units import records as rows_of

__all__ = ["codes_of_rows"]

Int64 = npt.NDArray[np.int64]


def codes_of_rows(data: Any, columns: int, farthest: int) -> Int64:  # noqa: ANN401 - a table, or a list of rows
    """Return one row of ``columns`` codes for each record, none farther from 0 than ``farthest``.

    Numbers count by their value, so True and 1.0 are 1. What is no whole number is the code 0, and so is what a row
    lacks; what it has too much is left out. A record that is no row has the code 0 in all columns.

    >>> codes_of_rows([[1, 2], (True, 3.0), [4], [None, "x", 5], 7], 2, 9).tolist()
    [[1, 2], [1, 3], [4, 0], [0, 0], [0, 0]]
    >>> codes_of_rows(np.array([[1, 2], [3, np.nan]]), 2, 9).tolist()
    [[1, 2], [3, 0]]
    """
    if not hasattr(data, "__array__"):
        with Silence():
            listed = [_row(record, columns, farthest) for record in rows_of(data)]
        return np.array(listed, dtype=np.int64).reshape(-1, columns)
    array = np.asarray(data)
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
