"""The public grid: bounded values as whole numbers, so that a sum has no rounding, no order and no overflow.

Adding floats breaks the textbook sensitivity of a sum, because each addition rounds and the order of rows
decides how (Casacuberta, Shoemate, Vadhan and Wagaman, CCS 2022). Here every value is moved to the nearest
multiple of a power of two that depends on public bounds alone, and only integers are ever added.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter, UnboundedSensitivity
from discreet.exact import Real, finite, log2_floor, positive, show
from discreet.sensitivity.reals import array_of, real
from discreet.units import records

__all__ = ["Bounds", "Grid", "total"]

Bounds = tuple[Real, Real]

Indices = npt.NDArray[np.int64] | list[int]

FINENESS = 20
"""The default step is at most 2^-20 of the width, and at most 1 so that integers stay what they are."""

EXACT_FLOAT = 1 << 53
"""Up to here every integer is a float64, so numpy's floats index the grid without rounding."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of ``2**exponent`` from ``lowest`` to ``highest``, both counted in steps.

    >>> grid = Grid.over((0, 100), query="sum", example="Sum(bounds=(0, 100))")
    >>> grid.step, grid.lower, grid.upper
    (Fraction(1, 16384), Fraction(0, 1), Fraction(100, 1))
    """

    exponent: int
    lowest: int
    highest: int

    @classmethod
    def over(cls, bounds: object, step: Real | None = None, *, query: str, example: str) -> "Grid":
        """Return the grid over public bounds, refusing what would leave one person's influence unlimited."""
        if bounds is None:
            raise UnboundedSensitivity(
                f"the {query} has no bounds, so one person could move it without limit. Write {example}."
            )
        if not isinstance(bounds, tuple) or len(bounds) != 2:
            raise InvalidParameter(
                f"bounds must be a pair (lower, upper), got {type(bounds).__name__}. Write {example}."
            )
        lower, upper = finite(bounds[0], "the lower bound"), finite(bounds[1], "the upper bound")
        if lower >= upper:
            raise InvalidParameter(
                f"the lower bound must be below the upper bound, got ({show(lower)}, {show(upper)})."
            )
        exponent = min(0, log2_floor(upper - lower) - FINENESS) if step is None else _power_of_two(step)
        grid = cls(exponent, *(round(bound / Fraction(2) ** exponent) for bound in (lower, upper)))
        if grid.lowest == grid.highest:
            raise InvalidParameter(
                "the grid must tell the bounds apart, and both round to one point. Write a finer grid."
            )
        return grid

    @property
    def step(self) -> Fraction:
        """The distance between two points of the grid."""
        return Fraction(2) ** self.exponent

    @property
    def lower(self) -> Fraction:
        """The lower bound, moved to its nearest point."""
        return self.lowest * self.step

    @property
    def upper(self) -> Fraction:
        """The upper bound, moved to its nearest point."""
        return self.highest * self.step

    def indices(self, values: Iterable[object]) -> Indices:
        """Return for every value the nearest point between the bounds, counted in steps; ties go to even.

        Infinities go to the bound on their side and a missing value (NaN or None) to the lower bound.
        Rounding is monotone, so clamping to the rounded bounds afterwards is the same as clamping to the
        bounds before.
        """
        rows = values if type(values) is np.ndarray else records(values)
        array = _one_dimensional(rows)
        if array.dtype.kind not in "buif" or array.dtype.itemsize > 8 or not self._fits_floats():
            return [self._index(value) for value in records(rows)]
        with np.errstate(all="ignore"):
            points = np.rint(np.ldexp(array.astype(np.float64), -self.exponent))
        points[np.isnan(points)] = self.lowest
        return np.clip(points, self.lowest, self.highest).astype(np.int64)

    def _fits_floats(self) -> bool:
        """Tell whether floats suffice: an integer that no float64 holds is beyond the bounds anyway."""
        furthest = max(abs(self.lowest), abs(self.highest))
        return furthest <= EXACT_FLOAT and furthest * self.step <= EXACT_FLOAT

    def _index(self, value: object) -> int:
        number = real(value)
        if isinstance(number, float):
            return self.highest if number > 0 else self.lowest  # NaN is not above 0
        return min(max(round(number / self.step), self.lowest), self.highest)


def total(indices: Indices) -> int:
    """Add indices exactly, whatever their number and size.

    >>> total(np.full(4, 2**62)) == 2**64
    True
    """
    if isinstance(indices, list):
        return sum(indices)
    largest = max(abs(int(indices.min())), abs(int(indices.max()))) if indices.size else 0
    return int(indices.sum()) if indices.size * largest < 1 << 62 else sum(indices.tolist())


def _power_of_two(step: Real) -> int:
    exact = positive(step, "grid")
    exponent = log2_floor(exact)
    if exact != Fraction(2) ** exponent:
        raise InvalidParameter(f"grid must be a power of two such as 1, 0.25 or 2**-20, got {show(exact)}.")
    return exponent


def _one_dimensional(rows: Iterable[object]) -> npt.NDArray[np.generic]:
    try:
        array = array_of(rows)
    except ValueError:  # rows of unequal length
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise InvalidInput("every record must be one number, and some hold several. Pass one column.")
    return array
