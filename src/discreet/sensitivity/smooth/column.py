"""Records as arrays, without letting one record decide how the others are read, or tell what it is by an error.

numpy chooses the type of an array by all of its entries and calls methods of those it does not know. So a list becomes
an array only if every entry is a plain number; everything else is read one by one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.sensitivity.reals import array_of, real
from discreet.sensitivity.total import safely
from discreet.units import records as rows_of

__all__ = ["column", "number", "once", "pairs"]

Array = npt.NDArray[Any]

PLAIN = frozenset(
    {bool, int, float, np.bool_, np.float16, np.float32, np.float64}
    | {np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64}
)
"""Numbers that numpy reads as they are."""

READ_AS_THEY_ARE = frozenset(map(id, PLAIN))
ROWS = frozenset({id(tuple), id(list)})
"""Types by their identity: a class may say anything of its hash and of what it equals."""


def once(data: Any) -> Any:  # noqa: ANN401 - any data
    """Return data that can be read several times: what is gone once it was read becomes a list.

    >>> once(iter([1, 2])), once((iter([1]), iter([2]))), once([1, 2])
    ([1, 2], ([1], [2]), [1, 2])
    """
    if type(data) is tuple and len(data) == 2 and all(isinstance(part, Iterator) for part in data):
        return tuple(safely(list, part, otherwise=[]) for part in data)
    again = isinstance(data, Sequence | Mapping | AbstractSet) or hasattr(data, "__array__") or hasattr(data, "columns")
    return data if again or not isinstance(data, Iterable) else list(data)


def number(value: object) -> Fraction | float:
    """Return the exact number a record is, an infinity, or NaN for whatever is missing or no number.

    >>> number(0.5), number("7"), number(np.timedelta64(3))
    (Fraction(1, 2), nan, nan)
    """
    with np.errstate(all="ignore"):
        read: Fraction | float = safely(_real, value, otherwise=np.nan)
    return read


def column(data: Any) -> Array | Sequence[object]:  # noqa: ANN401 - any numbers
    """Return an array of booleans, integers or floats of up to 64 bits, or else the records to read one by one.

    An array that is given keeps its shape. A masked number becomes NaN.

    >>> column([1, 2.5]), column([1, "2"]), column(np.ma.array([1, 2], mask=[False, True]))
    (array([1. , 2.5]), [1, '2'], array([ 1., nan]))
    """
    if isinstance(data, np.ma.MaskedArray):
        if data.ndim == 1 and not _fits(data):
            return list(data)
        return np.ma.filled(data.astype(np.float64), np.nan) if _fits(data) else np.asarray(data)
    if hasattr(data, "__array__"):
        array: Array | None = safely(array_of, data, otherwise=None)
        if array is not None:
            return list(array) if array.ndim == 1 and not _fits(array) else array
    rows = rows_of(data)
    if not _types(rows) <= READ_AS_THEY_ARE:
        return rows
    array = safely(array_of, rows, otherwise=None)
    return array if array is not None and _fits(array) else rows


def pairs(data: Any) -> Array | Sequence[object]:  # noqa: ANN401 - any pairs of numbers
    """Return an array of two columns of booleans, integers or floats, or else the records to read one by one.

    >>> pairs([(1, 2), [3, 4]]).shape, pairs([(1, 2), "34"])
    ((2, 2), [(1, 2), '34'])
    """
    rows = data if type(data) is np.ndarray and data.ndim > 0 else rows_of(data)
    if not isinstance(rows, np.ndarray) and not _plain_pairs(rows):
        return rows
    array: Array | None = safely(array_of, rows, otherwise=None)
    if array is not None and array.ndim == 2 and array.shape[1] == 2 and _fits(array):
        return array
    return rows_of(rows)


def _real(value: object) -> Fraction | float:
    if isinstance(value, np.timedelta64):  # numpy takes durations for integers, and a missing one for none
        return np.nan
    return real(value)


def _plain_pairs(rows: Sequence[Any]) -> bool:
    return _types(rows) <= ROWS and _types(chain.from_iterable(rows)) <= READ_AS_THEY_ARE


def _types(values: Iterable[object]) -> set[int]:
    return set(map(id, map(type, values)))


def _fits(array: Array) -> bool:
    return array.dtype.kind in "biuf" and array.dtype.itemsize <= 8
