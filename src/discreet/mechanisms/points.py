"""Points that people have, as numbers: whatever a record holds, it becomes a point by itself and refuses nobody else's.

An exception would tell that somebody's record is no point, so such a record is a point of NaN, which is moved to a
public place later. An array of numbers is refused for its shape alone.

Records that are the same for ``discreet.units.frozen`` are the same point. So a point is a list, a tuple or an array,
whose entries have an order, and never a set or a dictionary, which have none. Methods that a class has of its own are
not asked: they may fail, warn, or never return. Numbers are Python's and numpy's, Fraction and Decimal; what is too
large for a float is infinite.
"""

import math
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.mechanisms.lookalikes import unpacked
from discreet.mechanisms.quietly import Silence
from discreet.noise.fast import Floats
from discreet.sensitivity.total import safely
from discreet.units import records

__all__ = ["as_points", "on_grid"]

Int64 = npt.NDArray[np.int64]

SMALL = 1 << 1000
"""Whole numbers below this are floats without more ado."""


def as_points(data: object, columns: int) -> Floats:
    """Return one row of so many numbers for each record; a record is a number where there is one column.

    >>> as_points([0.5, 7, None, "a", True], 1).ravel().tolist()
    [0.5, 7.0, nan, nan, 1.0]
    >>> as_points([(1, 2), [3, "x"], (1, 2, 3)], 2).tolist()
    [[1.0, 2.0], [3.0, nan], [nan, nan]]
    >>> as_points([10**400, b"7", {7}], 1).ravel().tolist()
    [inf, nan, nan]
    """
    if type(data) is np.ndarray and data.dtype.kind in "biuf":
        if data.ndim == 1 and (columns == 1 or not data.size):
            return _floats(data).reshape(-1, columns)
        if data.ndim != 2 or data.shape[1] != columns:
            raise InvalidInput(f"points must be rows of {columns} numbers each.")
        return _floats(data)
    out = np.full((len(listed := records(data)), columns), math.nan)  # type: ignore[arg-type]
    with Silence(), np.errstate(all="ignore"):
        for place, record in enumerate(listed):
            if columns == 1 and (type(record) is float or (type(record) is int and -SMALL < record < SMALL)):
                out[place, 0] = record
                continue
            own = safely(partial(_entries, columns), record, otherwise=())
            if len(own) == columns:
                out[place] = [safely(_number, one, otherwise=math.nan) for one in own]
    return out


def on_grid(points: Floats, bounds: tuple[tuple[float, float], ...], cells: int) -> Int64:
    """Return the cell of each point on a grid of so many in every direction; what is no number is in the first.

    >>> on_grid(np.array([[0.0], [0.3], [9.0], [math.nan]]), ((0.0, 1.0),), 4).ravel().tolist()
    [0, 1, 3, 0]
    """
    out = np.empty(points.shape, dtype=np.int64)
    for axis, (low, high) in enumerate(bounds):
        with np.errstate(all="ignore"):
            column = np.clip(points[:, axis], low, high)
            column -= low
            column /= high - low  # first, as cells of a tiny box are too small for a number, and those of a wide one
            column *= cells
            column[np.isnan(column)] = 0.0
            out[:, axis] = column
    return np.clip(out, 0, cells - 1)  # as whole numbers: beyond 2^53 the last cell is no float


def _floats(array: npt.NDArray[np.generic]) -> Floats:
    with np.errstate(all="ignore"):
        return array.astype(np.float64)


def _entries(most: int, record: object) -> list[object] | tuple[object, ...]:
    """Return the entries of a list, tuple or array, one more than ``most`` at most, or the record as the only one."""
    plain = unpacked(record)
    for several in (list, tuple):
        if issubclass(type(plain), several):
            return several.__getitem__(plain, slice(most + 1))  # type: ignore[no-any-return,call-overload]
    return (plain,)


def _number(value: object) -> float:
    """Return a number as a float; what is of another type is none, whatever it says."""
    plain = unpacked(value)
    kind = type(plain)
    if issubclass(kind, float):
        return float.__float__(plain)  # type: ignore[arg-type]
    if issubclass(kind, int):
        exact: int | Fraction = int.__int__(plain)  # type: ignore[arg-type]
    elif kind is Decimal:
        return float(plain)  # type: ignore[arg-type]
    elif kind is Fraction:
        exact = plain  # type: ignore[assignment]
    else:
        return math.nan
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
