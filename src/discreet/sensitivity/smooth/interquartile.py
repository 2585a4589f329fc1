"""The interquartile range: how far the middle half of bounded numbers spreads."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidParameter
from discreet.exact import Real, plain, probability
from discreet.sensitivity.size import check_size
from discreet.sensitivity.smooth.combined import Combined
from discreet.sensitivity.smooth.order import rank_of
from discreet.sensitivity.smooth.sample import Bounds, check_bounds, sample
from discreet.sensitivity.smooth.scalar import Scalar
from discreet.sensitivity.smooth.windows import Windows
from discreet.units import Relation, check_relation

__all__ = ["InterquartileRange"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InterquartileRange(Scalar):
    """The distance between two sample quantiles, by default of ranks ``ceil(n / 4)`` and ``ceil(3 n / 4)``.

    Under ``replace_one`` ``A(x, k)`` is the larger of those of the two order statistics, exactly if the ranks differ:
    all order statistics move the same way when a record is replaced, so the difference moves by no more than the larger
    move; and a record taken from or put between the two ranks moves one of them alone, by its whole gap.
    Under ``add_remove`` the ranks may move apart, and the sum of both bounds from above.

    >>> spread = InterquartileRange(bounds=(0, 10)).at([1, 2, 4, 9])
    >>> spread.value, spread.local(), spread.local(1)
    (Fraction(3, 1), 5.0, 7.0)
    """

    bounds: Bounds | None = None
    probabilities: tuple[Real, Real] = (Fraction(1, 4), Fraction(3, 4))
    relation: Relation = "replace_one"
    size: int | None = None

    def __post_init__(self) -> None:
        self._bounds()
        low, high = (probability(share, "probabilities", one=True) for share in self.probabilities)
        if not low < high:
            raise InvalidParameter("probabilities must be two rising shares such as (0.25, 0.75).")
        object.__setattr__(self, "probabilities", tuple(plain(share) for share in self.probabilities))
        check_relation(self.relation)
        if self.size is not None:
            object.__setattr__(self, "size", check_size(self.size))
            if self.relation == "add_remove":
                raise InvalidParameter("size must be left out under add_remove, where the number is private.")

    @property
    def range(self) -> tuple[Real, Real]:
        """From 0 to the distance between the bounds."""
        low, high = self._bounds()
        return 0, Fraction(high) - Fraction(low)

    def at(self, records: Any, /) -> Combined:  # noqa: ANN401 - any numbers
        """Look at a data set."""
        points = sample(records, self._bounds(), size=self.size)
        low, high = (rank_of(share, points.size - 2) for share in self.probabilities)
        parts = tuple(Windows(float(points[rank]), points, rank, rank) for rank in (low, high))
        spread = Fraction(points[high]) - Fraction(points[low])
        return Combined(spread, parts, max if self.relation == "replace_one" else sum)

    def _bounds(self) -> tuple[float, float]:
        return check_bounds(self.bounds, query="interquartile range", example="InterquartileRange(bounds=(0, 120))")
