"""Declared bounds of columns, and tables moved into them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.learn.convex.rows import LARGEST, as_numbers
from discreet.learn.estimators.private import declared
from discreet.noise.fast import Floats

__all__ = ["Box", "box_of"]


class Box:
    """The middle and half the width of each column.

    >>> Box(np.array([0.0, 10.0]), np.array([4.0, 30.0])).moved(np.array([[1.0, 40.0]])).tolist()
    [[-0.5, 1.0]]
    """

    __slots__ = ("half", "middle")

    def __init__(self, low: Floats, high: Floats) -> None:
        self.middle, self.half = (low + high) / 2, (high - low) / 2

    def moved(self, numbers: Floats) -> Floats:
        """Return a table in [-1, 1], drawn to the ends where it is outside."""
        with np.errstate(all="ignore"):
            return np.clip((numbers - self.middle) / self.half, -1.0, 1.0)

    def back(self, moved: Floats) -> Floats:
        """Return what was moved to where it came from."""
        return np.asarray(moved * self.half + self.middle)

    def read(self, table: Any) -> tuple[Floats, npt.NDArray[np.bool_]]:  # noqa: ANN401
        """Return the moved rows that count, and which these are."""
        numbers = as_numbers(table, len(self.half))
        counts: npt.NDArray[np.bool_] = np.asarray(np.isfinite(numbers).all(axis=1))
        return self.moved(numbers[counts]), counts


def box_of(bounds: Any, features: int) -> Box:  # noqa: ANN401 - a pair of numbers or of lists
    """Return the declared bounds of all columns, from a pair of numbers or of lists.

    >>> box_of((0, 1), 3).half.tolist()
    [0.5, 0.5, 0.5]
    """
    pair = declared(bounds, "bounds", "bounds=(0, 1), or a pair of lists with an entry for each column")
    refusal = (
        f"bounds must be a pair (low, high) of numbers, or of lists of {features}, of at most 2^100 in size, with low "
        "below high by at least 2^-99. Use another unit of the data."
    )
    try:
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (features,)) for end in pair)
    except (TypeError, ValueError):
        raise InvalidParameter(refusal) from None
    with np.errstate(all="ignore"):
        half = (high - low) / 2
        known = (np.abs(low) <= LARGEST) & (np.abs(high) <= LARGEST) & (half * LARGEST >= 1)
    if not known.all():
        raise InvalidParameter(refusal)
    return Box(low, high)
