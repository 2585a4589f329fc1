"""Rows as they are handed to a function that an analyst wrote: copies, in a form that no other row decides.

numpy and pandas give all numbers of a column one type, and a single missing value turns whole numbers into floats. A
function can tell 7 from 7.0 in every block, so one record would change all of its answers. So numbers are handed over
as floats, whatever they were: what a row becomes depends on that row alone, and numbers that are equal become the same.
"""

import math
from copy import deepcopy
from decimal import Decimal
from typing import Any

import numpy as np

from discreet.mechanisms.lookalikes import key_of, shown

__all__ = ["handed"]


def handed(row: Any) -> Any:  # noqa: ANN401 - any row
    """Return a copy of a row in which every number is a float, but for whole numbers that no float equals.

    Booleans are numbers, -0.0 is 0.0, and a Decimal has the digits it needs. Numbers are looked for in lists, tuples,
    sets, dictionaries and arrays; arrays of numbers become float64. All else is copied as it is.

    >>> handed((7, True, "a", {"b": [-0.0, 2**53 + 1]}, Decimal("1.50")))
    (7.0, 1.0, 'a', {'b': [0.0, 9007199254740993]}, Decimal('1.5'))
    """
    kind = type(row)
    if kind in (bool, int, float) or issubclass(kind, np.longdouble):
        return _float(row)
    if kind is Decimal:
        return shown(key_of(row))
    if issubclass(kind, np.generic):
        return handed(row.item())
    if kind is np.ndarray and row.dtype.kind in "biuf":
        return row.astype(np.float64) + 0.0
    if kind is np.ndarray and row.dtype.kind == "O":
        copied = np.empty(row.size, dtype=object)
        for place, value in enumerate(row.reshape(-1).tolist()):
            copied[place] = handed(value)
        return copied.reshape(row.shape)
    if kind in (list, set, frozenset):
        return kind(map(handed, row))
    if issubclass(kind, tuple):
        return tuple.__new__(kind, map(handed, tuple.__iter__(row)))
    if kind is dict:
        return {handed(name): handed(value) for name, value in row.items()}
    return deepcopy(row)


def _float(value: Any) -> Any:  # noqa: ANN401 - any number
    try:
        near = float(value)
    except OverflowError:
        return value
    return near + 0.0 if near == value or math.isnan(near) else value
