"""The mean of bounded values, where the number of records is public."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.exact import Real
from discreet.sensitivity.grid import Bounds, Grid, total
from discreet.sensitivity.norms import norm
from discreet.sensitivity.size import check_size, require_public_size
from discreet.units import Relation

__all__ = ["Mean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """Average values that are clamped to public bounds and rounded to a public grid, exactly.

    Has sensitivity ``(upper - lower) / size`` under ``replace_one``, since one value moves the sum by at most
    the distance between the bounds of the grid; the number of records must be public (Dwork, McSherry, Nissim
    and Smith, TCC 2006). The exact sum is divided by the declared ``size``, even if the data hold another
    number of records: this keeps the sensitivity, and no error tells how many there are. A missing value (NaN
    or None) counts as the lower bound.

    >>> salary = Mean(bounds=(0, 500000), size=4)
    >>> salary([30000, 50000, 40000, 9000000])
    Fraction(155000, 1)
    >>> salary.sensitivity(relation="replace_one")
    Fraction(125000, 1)
    """

    bounds: Bounds | None = None
    size: int
    grid: Real | None = None
    answers: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        self._grid()
        check_size(self.size)

    def __call__(self, data: Iterable[object], /) -> Fraction:
        """Return the exact sum of the bounded values, divided by the declared size."""
        grid = self._grid()
        return total(grid.indices(data)) * grid.step / int(self.size)

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return the distance between the bounds, divided by the size."""
        require_public_size(relation, query="mean", instead="a noisy sum (Sum) and a noisy count (Count)")
        grid = self._grid()
        return norm([(grid.upper - grid.lower) / int(self.size)], p)

    def _grid(self) -> Grid:
        return Grid.over(self.bounds, self.grid, query="mean", example="Mean(bounds=(0, 500000), size=...)")
