"""Quantiles of a weighted histogram by propose-test-release.

Dwork and Lei, "Differential Privacy and Robust Statistics", STOC 2009. A bound on how far a unit moves the quantile is
proposed; whether it holds, and how many units would have to change before it fails, is tested with noise; only then is
the quantile released, with noise for that bound.

The proof. The distance d, the least number of units after which ``local`` exceeds the bound (see
``discreet.sensitivity.smooth.weighted``), moves by at most one between neighbours, so the test with noise of scale
``2 / epsilon`` costs half of epsilon. If either of two neighbours has ``d > 0``, their quantiles are at most the bound
apart, and noise of twice the bound over epsilon costs the other half. If both have ``d = 0``, either is released with
probability delta at most.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.exact import Real, finite, positive, show
from discreet.exact import probability as a_probability
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaps import Histogram, Whole
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace_threshold import laplace_survival
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.mechanisms.smooth_quantile import looked_at
from discreet.mechanisms.thresholds import least_threshold
from discreet.noise import discrete_laplace
from discreet.sensitivity.smooth.weighted import WeightedQuantile
from discreet.units import Relation

__all__ = ["TestedQuantile"]

PART = 256
"""Without a proposal the bound is this part of the range."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TestedQuantile(Faces):
    """Release a whole number near the quantile at ``probability``, or None where the data do not bear the ``bound``.

    Satisfies (``epsilon``, ``delta``)-DP whenever a unit adds weights of at most ``unit`` in all to the histogram, none
    of them negative. The bound is in cells; it is a part of the range unless said, and must come from public
    information. A refusal costs as much as a release.

    >>> median = TestedQuantile(bounds=(0, 10**6), epsilon=2, delta=1e-6, relation="add_remove", bound=99)
    >>> median.threshold, median.error(0.05)
    (13, 297)
    >>> 7_000 <= median.release(range(20_000), [1] * 20_000) <= 13_000
    True
    >>> median.release([0, 10**6], [50, 50]) is None
    True
    """

    __test__ = False  # a name for pytest to leave alone

    bounds: tuple[int, int] = NOT_GIVEN
    epsilon: Real
    delta: Real
    relation: Relation
    probability: Real = Fraction(1, 2)
    unit: int = 1
    bound: int = NOT_GIVEN

    def __post_init__(self) -> None:
        if self.bounds is NOT_GIVEN:
            raise UnboundedSensitivity("a quantile needs bounds: without them nothing is known. Write bounds=(0, 120).")
        positive(self.epsilon, "epsilon")
        if a_probability(self.delta, "delta") >= Fraction(1, 2):
            raise InvalidParameter("delta must be below 1/2: it is the chance to release what should be refused.")
        function = self.function
        low, high = function.bounds
        bound = max(1, -(-(high - low) // PART)) if self.bound is NOT_GIVEN else finite(self.bound, "bound")
        if bound < 1 or bound.denominator != 1:
            raise InvalidParameter(f"bound must be a whole number of cells, at least 1, got {show(bound)}.")
        store(self, epsilon=self.epsilon, delta=self.delta, unit=function.unit, bound=int(bound))
        store(self, probability=self.probability)
        object.__setattr__(self, "bounds", function.bounds)

    def __repr__(self) -> str:
        more = f", unit={self.unit}" if self.unit != 1 else ""
        return (
            f"TestedQuantile(probability={show(self.probability)}, bounds={self.bounds}, epsilon={show(self.epsilon)}, "
            f"delta={show(self.delta)}, bound={self.bound}, relation={self.relation!r}{more})"
        )

    @property
    def function(self) -> WeightedQuantile:
        """The quantile, and how far units can move it."""
        return WeightedQuantile(
            bounds=self.bounds, relation=self.relation, probability=self.probability, unit=self.unit
        )

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of the test, in units that change."""
        return 2 / Fraction(self.epsilon)

    @property
    def threshold(self) -> int:
        """The quantile is released if the noisy distance is above this: the least T with ``P[Z > T] <= delta``."""
        return _threshold(self.scale, Fraction(self.delta))

    @property
    def noise(self) -> Geometric:
        """The noise of what is released."""
        return Geometric(sensitivity=self.bound, scale=2 * self.bound / Fraction(self.epsilon))

    @property
    def domain(self) -> Records:
        """Units with weights in cells, which are clamped to the bounds."""
        return Records(relation=self.relation, bounds=self.bounds)

    @property
    def loss(self) -> PrivacyLoss:
        """Epsilon with delta."""
        return PrivacyLoss.approximate(self.epsilon, self.delta).under(self.relation)

    def release(self, cells: Whole | Histogram, weights: Whole | None = None, /) -> int | None:
        """Return a whole number within the bounds or None; of cells and weights, or of one pair of them."""
        vicinity = looked_at(self.function, cells, weights)
        distance = vicinity.distance(self.bound)
        fails = distance is not None and distance + int(discrete_laplace(self.scale)) <= self.threshold
        low, high = self.bounds
        value = min(max(vicinity.value + int(discrete_laplace(self.noise.scale)), low), high)
        return None if fails else value

    def releases(self, histograms: Iterable[Histogram], /) -> list[int | None]:
        """Return a release for each of several groups; a unit in k of them pays k times."""
        return [self.release(cells, weights) for cells, weights in histograms]

    def error(self, beta: Real = 0.05) -> int:
        """Return how many cells a release is off, at most, with probability ``1 - beta``, if there is one."""
        return self.noise.error(beta)

    def log_probability(self, histogram: Histogram, output: int | None, /) -> float:
        """Return the log of the probability of an output."""
        vicinity = looked_at(self.function, histogram)
        distance = vicinity.distance(self.bound)
        passes = 1.0 if distance is None else _at_least(self.threshold + 1 - distance, float(self.scale))
        if output is None:
            fails = 0.0 if distance is None else _at_least(distance - self.threshold, float(self.scale))
            return _log(fails)
        low, high = self.bounds
        if not low <= output <= high:
            return -math.inf
        scale, off = float(self.noise.scale), output - vicinity.value
        if low == high:
            return _log(passes)
        if output in (low, high):
            return _log(passes) + _log(_at_least(off if output == high else -off, scale))
        return _log(passes) + math.log(math.tanh(1 / (2 * scale))) - abs(off) / scale

    def worst_case(self) -> tuple[Histogram, Histogram]:
        """Units in the middle of the bounds, so many that the test is in doubt, and one fewer, or one at the end."""
        low, high = self.bounds
        middle, count = (low + high) // 2, 2 * self.threshold + 4
        one: Histogram = ([middle], [count * self.unit])
        if self.relation == "add_remove":
            return one, ([middle], [(count - 1) * self.unit])
        return one, ([middle, high], [(count - 1) * self.unit, self.unit])


@lru_cache(maxsize=256)
def _threshold(scale: Fraction, delta: Fraction) -> int:
    return max(least_threshold(partial(laplace_survival, scale), 1, delta) - 1, 0)


def _at_least(t: int, scale: float) -> float:
    """Return ``P[Z >= t]`` for integer Laplace noise."""
    ratio = math.exp(-1 / scale)
    if t > 0:
        return math.exp(-t / scale) / (1 + ratio)
    return 1 - math.exp((t - 1) / scale) / (1 + ratio)


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0 else -math.inf
