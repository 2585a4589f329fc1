"""Points that people have, as numbers: whatever a record holds, it becomes a point by itself and refuses nobody else's.

An exception would tell that somebody's record is no point, so such a record is a point of NaN, which is moved to a
public place later. An array of numbers is refused for its shape alone.
"""

import math

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.mechanisms.quietly import Silence
from discreet.noise.fast import Floats
from discreet.sensitivity.total import safely
from discreet.units import records

__all__ = ["as_points", "on_grid"]

Int64 = npt.NDArray[np.int64]


def as_points(data: object, columns: int) -> Floats:
    """Return one row of so many numbers for each record; a record is a number where there is one column.

    >>> as_points([0.5, 7, None, "a", True], 1).ravel().tolist()
    [0.5, 7.0, nan, nan, 1.0]
    >>> as_points([(1, 2), [3, "x"], (1, 2, 3)], 2).tolist()
    [[1.0, 2.0], [3.0, nan], [nan, nan]]
    """
    if type(data) is np.ndarray and data.dtype.kind in "biuf":
        if data.ndim == 1 and (columns == 1 or not data.size):
            return data.astype(np.float64).reshape(-1, columns)
        if data.ndim != 2 or data.shape[1] != columns:
            raise InvalidInput(f"points must be rows of {columns} numbers each.")
        return data.astype(np.float64)
    out = np.full((len(listed := records(data)), columns), math.nan)  # type: ignore[arg-type]
    with Silence():
        for place, record in enumerate(listed):
            if type(record) in (int, float) and columns == 1:
                out[place, 0] = safely(float, record, otherwise=math.nan)
                continue
            own = safely(tuple, record, otherwise=(record,))
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
        column = np.clip(points[:, axis], low, high)
        with np.errstate(invalid="ignore", over="ignore"):
            column -= low
            column *= cells / (high - low)
        column[np.isnan(column)] = 0.0
        out[:, axis] = np.clip(column, 0, cells - 1)
    return out


def _number(value: object) -> float:
    """Return a number as a float; a text is none, whatever it says."""
    if isinstance(value, str | bytes):
        return math.nan
    return float(value)  # type: ignore[arg-type]
