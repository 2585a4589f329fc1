"""The sum of bounded values."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.sensitivity.grid import Bounds, Grid, total
from discreet.sensitivity.norms import norm
from discreet.units import Relation, check_relation

__all__ = ["Sum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Add values that are clamped to public bounds and rounded to a public grid, exactly.

    Has sensitivity ``max(|lower|, |upper|)`` under ``add_remove`` and ``upper - lower`` under
    ``replace_one``, the bounds being those of the grid, since every value becomes a whole number of steps
    between them and integers add without rounding (Casacuberta, Shoemate, Vadhan and Wagaman, CCS 2022). A
    missing value (NaN or None) counts as the lower bound. ``grid`` is a power of two; by default at most
    2^-20 of the distance between the bounds, and at most 1.

    With ``center`` the middle of the bounds is subtracted from each value first, which gives half their
    distance under ``add_remove``; add ``origin`` times a noisy count afterwards.

    >>> Sum(bounds=(0, 10))([2.5, 99, float("nan")])
    Fraction(25, 2)
    >>> change = Sum(bounds=(-5, 10))
    >>> change.sensitivity(relation="add_remove"), change.sensitivity(relation="replace_one")
    (Fraction(10, 1), Fraction(15, 1))
    >>> Sum(bounds=(0, 10), center=True).sensitivity(relation="add_remove")
    Fraction(5, 1)
    """

    bounds: Bounds | None = None
    grid: Real | None = None
    center: bool = False
    answers: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        self._grid()
        if not isinstance(self.center, bool):
            raise InvalidParameter(f"center must be True or False, got {type(self.center).__name__}.")

    @property
    def step(self) -> Fraction:
        """The step of the grid: every answer is a whole multiple of it."""
        return self._grid().step

    @property
    def origin(self) -> Fraction:
        """What is subtracted from each value: 0, or the middle, rounded down to stay on the grid."""
        grid = self._grid()
        return (grid.lowest + grid.highest) // 2 * grid.step if self.center else Fraction(0)

    def __call__(self, data: Iterable[object], /) -> Fraction:
        """Return the exact sum of the bounded values."""
        grid = self._grid()
        indices = grid.indices(data)
        return total(indices) * grid.step - len(indices) * self.origin

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return the largest value that may come or go, or the largest difference between two values."""
        grid = self._grid()
        if check_relation(relation) == "replace_one":
            return norm([grid.upper - grid.lower], p)
        return norm([max(abs(grid.lower - self.origin), abs(grid.upper - self.origin))], p)

    def _grid(self) -> Grid:
        return Grid.over(self.bounds, self.grid, query="sum", example="Sum(bounds=(0, 500000))")
