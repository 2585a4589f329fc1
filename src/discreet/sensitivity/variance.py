"""The variance of bounded values, where the number of records is public."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.exact import Real
from discreet.sensitivity.grid import Bounds, Grid, total
from discreet.sensitivity.norms import norm
from discreet.sensitivity.size import check_size, require_public_size
from discreet.units import Relation

__all__ = ["Variance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance:
    """Return the population variance of values clamped to public bounds and rounded to a grid, exactly.

    Has sensitivity ``(upper - lower)^2 (n - 1) / n^2`` under ``replace_one`` with n = ``size`` public: the
    variance is the sum of ``(x_i - x_j)^2 / n^2`` over all pairs, and one record takes part in n - 1 of them,
    each between 0 and ``(upper - lower)^2``. D'Orazio, Honaker and King, Differential Privacy for Social
    Science Inference, 2015.

    If the data hold another number of records, the squared deviations are divided by the larger of the two
    numbers, which keeps the sensitivity. A missing value (NaN or None) counts as the lower bound.

    >>> spread = Variance(bounds=(0, 10), size=4)
    >>> spread([0, 0, 0, 10])
    Fraction(75, 4)
    >>> spread.sensitivity(relation="replace_one")
    Fraction(75, 4)
    """

    bounds: Bounds | None = None
    size: int
    grid: Real | None = None
    answers: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        self._grid()
        check_size(self.size, least=2)

    def __call__(self, data: Iterable[object], /) -> Fraction:
        """Return the exact variance of the bounded values."""
        grid = self._grid()
        indices = grid.indices(data)
        n = len(indices)
        if n == 0:
            return Fraction(0)
        squares = sum(int(index) ** 2 for index in indices)
        deviations = squares - Fraction(total(indices) ** 2, n)
        return deviations * grid.step**2 / max(n, int(self.size))

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return what one record contributes when it lies at one bound and all others lie at the other."""
        require_public_size(
            relation, query="variance", instead="noisy sums of the values and squares, and a noisy count"
        )
        grid, n = self._grid(), int(self.size)
        return norm([(grid.upper - grid.lower) ** 2 * Fraction(n - 1, n**2)], p)

    def _grid(self) -> Grid:
        return Grid.over(self.bounds, self.grid, query="variance", example="Variance(bounds=(0, 500000), size=...)")
