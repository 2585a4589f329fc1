"""Quantiles of a weighted histogram with noise that fits the data: much where one unit could move them far.

Nissim, Raskhodnikova and Smith, "Smooth Sensitivity and Sampling in Private Data Analysis", STOC 2007, for units with
weights; the bound is that of ``discreet.sensitivity.smooth.weighted``. Everything is counted in whole cells, and the
release is the cell nearest to an ideal real one, clamped to the bounds, hence post-processing of it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter, UnboundedSensitivity
from discreet.exact import Real, positive, show
from discreet.exact import probability as a_probability
from discreet.mechanisms.admissible import Laplace, PowerLaw
from discreet.mechanisms.admissible.drawn import LARGEST, scale_of
from discreet.mechanisms.admissible.nearest import least_at_least, most_at_most
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaps import Histogram, Int64, Whole, whole_vector
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.sensitivity.smooth.weighted import WeightedQuantile, WeightedVicinity
from discreet.units import Relation

__all__ = ["SmoothQuantile", "looked_at"]

SMOOTHNESS = 4
"""Power-law noise is fitted to ``beta = epsilon / 4``: where data lie evenly this is about the best in 19 of 20
releases, and nearly so from a sixth to a third."""

TRIES = 48


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SmoothQuantile(Faces):
    """Release a whole number near the quantile at ``probability``, with noise as large as its smooth sensitivity.

    Satisfies ``epsilon``-DP by power-law noise, or (``epsilon``, ``delta``)-DP by Laplace noise where a delta is given,
    whenever a unit adds weights of at most ``unit`` in all to the histogram, none of them negative. Cells are clamped
    to the ``bounds``; no histogram is refused. ``beta`` is how fast the noise may change between neighbours; it is
    chosen for data that lie evenly, unless said, and must come from public information. How large the noise is depends
    on the data and is not told; ``SmoothInterval`` tells it privately.

    The cell is counted from the lower bound in float64: beyond ``2^53`` cells from there several become one, after the
    noise, and ``log_probability`` is that of the rounded output.

    >>> median = SmoothQuantile(bounds=(0, 2**40), epsilon=2, relation="add_remove")
    >>> 900 <= median.release(np.arange(2000), np.ones(2000, dtype=np.int64)) <= 1100
    True
    >>> median.release([7], [10**6])
    7
    """

    bounds: tuple[int, int] = NOT_GIVEN
    epsilon: Real
    relation: Relation
    probability: Real = Fraction(1, 2)
    unit: int = 1
    delta: Real = 0
    beta: Real = NOT_GIVEN

    def __post_init__(self) -> None:
        if self.bounds is NOT_GIVEN:
            raise UnboundedSensitivity("a quantile needs bounds: without them nothing is known. Write bounds=(0, 120).")
        epsilon, delta = positive(self.epsilon, "epsilon"), a_probability(self.delta, "delta", zero=True)
        function = self.function
        beta = self.beta
        if beta is NOT_GIVEN:
            beta = _fitting(epsilon, delta) if delta else epsilon / SMOOTHNESS
        store(self, epsilon=self.epsilon, delta=self.delta, beta=beta, unit=function.unit, probability=self.probability)
        object.__setattr__(self, "bounds", function.bounds)
        low, high = function.bounds
        if 2 * (high - low + 1) * self.noise.factor > LARGEST:
            raise InvalidParameter(
                "the noise for these bounds is too large to be drawn: its scale must stay below 2^990 for all data. "
                "Take a larger epsilon or narrower bounds."
            )

    def __repr__(self) -> str:
        more = f", unit={self.unit}" if self.unit != 1 else ""
        more += f", delta={show(self.delta)}" if self.delta else ""
        return (
            f"SmoothQuantile(probability={show(self.probability)}, bounds={self.bounds}, epsilon={show(self.epsilon)}, "
            f"beta={show(self.beta)}, relation={self.relation!r}{more})"
        )

    @property
    def function(self) -> WeightedQuantile:
        """The quantile, and how far units can move it."""
        return WeightedQuantile(
            bounds=self.bounds, relation=self.relation, probability=self.probability, unit=self.unit
        )

    @property
    def noise(self) -> PowerLaw | Laplace:
        """The noise for each cell of the smooth bound."""
        return _noise(self.epsilon, self.delta, self.beta)

    @property
    def domain(self) -> Records:
        """Units with weights in cells, which are clamped to the bounds."""
        return Records(relation=self.relation, bounds=self.bounds)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise."""
        return self.noise.loss.under(self.relation)

    def release(self, cells: Whole | Histogram, weights: Whole | None = None, /) -> int:
        """Return a whole number within the bounds; of cells and weights, or of one pair of them."""
        vicinity = looked_at(self.function, cells, weights)
        return self.near(vicinity.value, vicinity.smooth(self.beta))

    def releases(self, histograms: Iterable[Histogram], /) -> Int64:
        """Return a release for each of several groups; a unit in k of them pays k times."""
        return np.array([self.release(cells, weights) for cells, weights in histograms], dtype=np.int64)

    def near(self, value: int, bound: float) -> int:
        """Return a release for a quantile and its smooth bound."""
        low, high = self.bounds
        drawn = self.noise.draw(value - low, bound, grid=1)
        return min(max(int(drawn), 0), high - low) + low

    def log_probability(self, histogram: Histogram, output: int, /) -> float:
        """Return the log of the probability of an output."""
        low, high = self.bounds
        if not low <= output <= high:
            return -math.inf
        vicinity, noise = looked_at(self.function, histogram), self.noise
        place, scale = output - low, scale_of(vicinity.smooth(self.beta), noise.factor)
        if output < high and int(float(place)) != place:
            return -math.inf
        first, last = least_at_least(place) - Fraction(1, 2), most_at_most(place) + Fraction(1, 2)
        left, right = ((end + low - vicinity.value) / scale for end in (first, last))
        return noise.log_cell(None if output == low else left, None if output == high else right)

    def worst_case(self) -> tuple[Histogram, Histogram]:
        """A unit at each end of the bounds; the lower one is gone, or at the upper end."""
        low, high = self.bounds
        one: Histogram = ([low, high], [self.unit, self.unit])
        return one, ([high], [self.unit * (1 if self.relation == "add_remove" else 2)])


def looked_at(function: WeightedQuantile, cells: Whole | Histogram, weights: Whole | None = None) -> WeightedVicinity:
    """Return a histogram as the quantile sees it, given as cells and weights or as one pair of them."""
    given: object = cells if weights is None else (cells, weights)
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidInput("give cells and weights, or one pair (cells, weights).")
    return function.at((whole_vector(given[0]), whole_vector(given[1])))


@lru_cache(maxsize=256)
def _noise(epsilon: Real, delta: Real, beta: Real) -> PowerLaw | Laplace:
    if delta:
        return Laplace(epsilon=epsilon, delta=delta, beta=beta)
    return PowerLaw(epsilon=epsilon, beta=beta)


@lru_cache(maxsize=256)
def _fitting(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the smoothness of least Laplace noise where data lie evenly: the bound is about ``1 / beta`` there."""
    best, chosen = math.inf, epsilon / 1024
    for i in range(TRIES):
        beta = epsilon * Fraction(2.0 ** (-1 - i / 6))
        try:
            size = float(Laplace(epsilon=epsilon, delta=delta, beta=beta).factor / beta)
        except InvalidParameter:
            continue
        if size < best:
            best, chosen = size, beta
    return chosen
