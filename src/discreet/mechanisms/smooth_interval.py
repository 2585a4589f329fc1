"""A quantile with fitted noise, and an interval that says privately how large the noise was.

The noise of ``SmoothQuantile`` has a secret scale: it would tell how far apart the data lie. But the logarithm of a
beta-smooth bound moves by at most beta between neighbours, whatever the data (Nissim, Raskhodnikova and Smith, STOC
2007), so Laplace noise of scale ``beta / epsilon`` hides it, and with a margin it is an upper bound nearly always.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting import PrivacyLoss
from discreet.exact import Real, positive, show
from discreet.exact import probability as a_probability
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaps import Histogram, Whole
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.mechanisms.smooth_quantile import SmoothQuantile, looked_at
from discreet.noise import on_grid
from discreet.noise.densities import Laplace as Density

__all__ = ["SmoothInterval"]

GRID = Fraction(1, 2**20)
LEAST = 2.0**-10
"""Smooth bounds are told down to this part of a cell: the larger of a smooth bound and a constant is smooth."""

ROUNDED = Fraction(1, 2**28)
"""What float64 may add to the move of a logarithm: that of the bound, twice, and of the logarithm itself."""

MARGIN = Fraction(2, 5)
"""The part of the failures of an interval that is left to the bound on the noise, the rest being that of the noise."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SmoothInterval(Faces):
    """Release a quantile by its smooth sensitivity, between two ends that hold with probability ``level``.

    Satisfies the guarantee of ``quantile`` composed with ``epsilon``-DP for the ends.

    >>> median = SmoothQuantile(bounds=(0, 10**6), epsilon=1, relation="add_remove", beta=0.1)
    >>> low, value, high = SmoothInterval(quantile=median, epsilon=0.5).release([70, 90], [5000, 6000])
    >>> low <= value <= high, high - low
    (True, 0)
    """

    quantile: SmoothQuantile
    epsilon: Real
    level: Real = 0.95

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        a_probability(self.level, "level")
        store(self, epsilon=self.epsilon, level=self.level)
        positive(self.scale, "the scale of the noise on the logarithm, about beta / epsilon,")

    def __repr__(self) -> str:
        return f"SmoothInterval(quantile={self.quantile!r}, epsilon={show(self.epsilon)}, level={show(self.level)})"

    @property
    def domain(self) -> Records:
        """That of the quantile."""
        return self.quantile.domain

    @property
    def loss(self) -> PrivacyLoss:
        """That of the quantile, and of Laplace noise on a logarithm."""
        return self.quantile.loss + PrivacyLoss.laplace(self.epsilon).under(self.quantile.relation)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on the logarithm of the smooth bound."""
        return (Fraction(self.quantile.beta) + ROUNDED) / Fraction(self.epsilon)

    def release(self, cells: Whole | Histogram, weights: Whole | None = None, /) -> tuple[int, int, int]:
        """Return the lower end, the quantile and the upper end."""
        vicinity = looked_at(self.quantile.function, cells, weights)
        bound = vicinity.smooth(self.quantile.beta)
        value = self.quantile.near(vicinity.value, bound)
        told = on_grid(Density(), math.log(max(bound, LEAST)), self.scale, grid=GRID)
        off, (low, high) = self._off(told), self.quantile.bounds
        return max(low, value - off), value, min(high, value + off)

    def releases(self, histograms: Iterable[Histogram], /) -> list[tuple[int, int, int]]:
        """Return a release for each of several groups; a unit in k of them pays k times."""
        return [self.release(cells, weights) for cells, weights in histograms]

    def _off(self, told: float) -> int:
        """Return how far the quantile can be off, from the noisy logarithm alone.

        By the noise, and by the bound itself where it is taken elsewhere between two rows: a unit more or less moves it
        from one to the other.
        """
        failure = 1 - Fraction(self.level)
        margin = float(self.scale) * max(0.0, -math.log(2 * float(failure * MARGIN)))
        low, high = self.quantile.bounds
        bound = math.exp(min(told + margin + float(GRID), math.log(high - low + 1)))
        off = bound * (1 + self.quantile.noise.reach(failure * (1 - MARGIN))) + 0.5
        return high - low if off >= high - low else math.floor(off)
