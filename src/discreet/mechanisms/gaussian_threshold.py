"""Groups whose count plus discrete Gaussian noise exceeds a threshold; see ``discreet.mechanisms.thresholds``."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from flint import arb, ctx

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, probability, show
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.partition import check_groups, settings
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.mechanisms.thresholds import Threshold, least_threshold
from discreet.noise import discrete_gaussian
from discreet.noise.shapes import Integers, Size
from discreet.units import Relation

__all__ = ["GaussianThreshold"]

SUMMED = 256
"""Sigmas up to this are summed term by term; above it tails are bounded by an integral, to four digits."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GaussianThreshold(Threshold):
    """Keep a group if its count plus discrete Gaussian noise exceeds a threshold.

    Satisfies (``epsilon``, ``delta``)-DP, the noisy counts of the groups that are shown included, whenever a unit
    counts at most once in each of at most ``groups`` groups; half of delta goes to the noise. Given by ``sigma``, it
    satisfies what that noise does at an L2 sensitivity of ``sqrt(groups)``, and ``delta`` is what the threshold may add
    to it.

    >>> cities = GaussianThreshold(sigma=4, delta=1e-6)
    >>> cities.threshold, float(cities.failure) <= 1e-6
    (20, True)
    >>> GaussianThreshold(epsilon=1, delta=1e-6, groups=4).loss.delta(1) <= 1e-6
    True
    """

    delta: Real
    sigma: Real = NOT_GIVEN
    epsilon: Real | None = None
    groups: int = 1
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        probability(self.delta, "delta")
        store(self, delta=self.delta, groups=check_groups(self.groups, self.relation))
        if self.sigma is NOT_GIVEN:
            if self.epsilon is None:
                raise InvalidParameter("GaussianThreshold needs sigma= or epsilon=: how much noise shall there be?")
            store(self, sigma=_sigma(self.touched, positive(self.epsilon, "epsilon"), Fraction(self.delta)))
        elif self.epsilon is not None:
            raise InvalidParameter("GaussianThreshold takes either sigma= or epsilon=, not both.")
        positive(self.sigma, "sigma")
        store(self, sigma=self.sigma, epsilon=self.epsilon)
        _threshold(self._variance, self.touched, self._for_threshold)

    def __repr__(self) -> str:
        noise = f"sigma={show(self.sigma)}" if self.epsilon is None else f"epsilon={show(self.epsilon)}"
        return f"GaussianThreshold({noise}, delta={show(self.delta)}{settings(self.groups, self.relation)})"

    @property
    def threshold(self) -> int:
        """A group is shown if its noisy count is above this."""
        return _threshold(self._variance, self.touched, self._for_threshold)

    @property
    def noise(self) -> PrivacyLoss:
        """Discrete Gaussian noise on ``touched`` counts that change by one each."""
        return PrivacyLoss.discrete_gaussian(squared_sensitivity=self.touched, sigma_squared=self._variance)

    def draw(self, size: Size) -> int | Integers:
        """Return noise."""
        return discrete_gaussian(self.sigma, size)

    def survival(self, t: int, /) -> arb:
        """Return ``P[Z >= t]`` for t of at least 1: a sum, or for large sigma a bound from above."""
        return gaussian_survival(self._variance, t)

    @property
    def _variance(self) -> Fraction:
        return Fraction(self.sigma) ** 2

    @property
    def _for_threshold(self) -> Fraction:
        """What of delta the noise leaves: failures f and g of both together are ``1 - (1 - f) (1 - g)``."""
        delta = Fraction(self.delta)
        if self.epsilon is None:
            return delta
        return 1 - (1 - delta) / (1 - Fraction(self.noise.delta(self.epsilon)))


def gaussian_survival(variance: Fraction, t: int) -> arb:
    """Return the probability that discrete Gaussian noise is at least t, for t of at least 1.

    Above ``SUMMED`` it is a bound from above: where the density is convex, beyond sigma, each term is at most its
    integral over the unit interval around it, and elsewhere all but the first are at most theirs over the one before;
    the sum of all is at least ``sigma sqrt(2 pi)``.
    """
    if variance <= SUMMED**2:
        return _sum(variance, t) / _normalizer(variance, ctx.prec)
    sigma = ball(variance).sqrt()
    if (t - Fraction(1, 2)) ** 2 >= variance:
        return (ball(t - Fraction(1, 2)) / (sigma * arb(2).sqrt())).erfc() / 2
    first = (-ball(t * t / (2 * variance))).exp() / (sigma * (2 * arb.pi()).sqrt())
    return first + (t / (sigma * arb(2).sqrt())).erfc() / 2


@lru_cache(maxsize=64)
def _normalizer(variance: Fraction, precision: int) -> arb:  # noqa: ARG001 - it is what the cache tells apart
    return 1 + 2 * _sum(variance, 1)


def _sum(variance: Fraction, t: int) -> arb:
    """Return the sum of ``exp(-z^2 / (2 variance))`` over z >= t; ratios of neighbours fall, so the rest is small."""
    term, ratio = (-ball(t * t / (2 * variance))).exp(), (-ball((2 * t + 1) / (2 * variance))).exp()
    step, total = (-ball(1 / variance)).exp(), arb(0)
    while True:
        total += term
        rest = term * ratio / (1 - ratio)
        if rest < total.mid() * arb(2) ** -(ctx.prec + 4) or not term > 0:
            return total + arb(0).union(rest)
        term *= ratio
        ratio *= step


@lru_cache(maxsize=64)
def _sigma(touched: int, epsilon: Fraction, delta: Fraction) -> Real:
    return DiscreteGaussian.for_budget(epsilon, delta / 2, sensitivity=math.sqrt(touched)).sigma


@lru_cache(maxsize=256)
def _threshold(variance: Fraction, touched: int, delta: Fraction) -> int:
    return least_threshold(partial(gaussian_survival, variance), touched, delta)
