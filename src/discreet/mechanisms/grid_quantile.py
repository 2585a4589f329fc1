"""Quantiles of a weighted histogram by the exponential mechanism over a public grid of whole numbers.

Smith, "Privacy-preserving Statistical Estimation with Optimal Convergence Rates", STOC 2011, on a grid, where many may
share a value. Of a histogram of weight W let L be the weight below a point v and M the weight up to it, so that v has
all ranks from L to M. Its loss is how far the wanted rank ``r = p W + shift`` is from these:
``max(0, L - r, r - M)``, which is 0 at the quantile itself, however many share it. Nothing is below the lowest point
of the bounds and nothing above the highest one, so the lowest has all ranks up to M and the highest all from L on: some
point has loss 0 wherever the rank is. All points of a gap have the same loss, so a release is drawn in two exact steps:
which cell or gap, by a race over log-lengths and losses, then a uniform whole number in it.

The sensitivity. A unit of weight u, of which a lies below v and b at v, moves ``L - r`` by ``a - p u`` and ``M - r`` by
``a + b - p u`` when it comes. Both lie between ``-p u`` and ``(1 - p) u``, so each term of the loss, and with them
their maximum, moves by at most ``max(p, 1 - p)`` times the largest u when a unit comes or goes. When it is replaced by
one of weight u', of which a' lies below, the first moves by ``(a' - p u') - (a - p u)``, which lies between
``-p u' - (1 - p) u`` and ``(1 - p) u' + p u``, and so does the second: by at most the largest u, whatever p is. A unit
is all rows of a person, and u the most weight that all of them have together, however they lie.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.exact import Real, ball, enclose, finite, positive, show, up
from discreet.exact import probability as a_probability
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaps import Gaps, Histogram, Int64, Whole
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise import uniform_below
from discreet.noise.shapes import INT64
from discreet.units import Relation, check_relation

__all__ = ["GridQuantile"]

LARGEST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GridQuantile(Faces):
    """Release a whole number with about a share ``probability`` of the weight below it.

    Satisfies ``epsilon``-DP, with a bounded range of ``epsilon``, whenever a unit adds weights of at most ``unit`` in
    all to the histogram, none of them negative. ``shift`` aims that much weight above the share, or below if it is
    negative. Cells are clamped to the ``bounds``; no weight, however large, and no empty histogram is refused.

    >>> median = GridQuantile(bounds=(0, 2**40), epsilon=2, relation="add_remove")
    >>> 900 <= median.release(np.arange(2000), np.ones(2000, dtype=np.int64)) <= 1100
    True
    >>> round(median.error(0.05), 1)                     # weight between the rank and the release
    15.4
    """

    bounds: tuple[int, int] = NOT_GIVEN
    epsilon: Real
    relation: Relation
    probability: Real = Fraction(1, 2)
    unit: int = 1
    shift: int = 0

    def __post_init__(self) -> None:
        if self.bounds is NOT_GIVEN:
            raise UnboundedSensitivity("a quantile needs bounds: without them nothing is known. Write bounds=(0, 120).")
        low, high = (_whole(end, "bounds") for end in self.bounds)
        if not (low <= high and high - low < LARGEST and low in INT64 and high in INT64):
            raise InvalidParameter("bounds must be (low, high), whole numbers of 64 bits, at most 2^62 apart.")
        a_probability(self.probability, "probability", zero=True, one=True)
        positive(self.epsilon, "epsilon")
        positive(self.unit, "unit")
        check_relation(self.relation)
        object.__setattr__(self, "bounds", (low, high))
        store(self, epsilon=self.epsilon, probability=self.probability)
        store(self, unit=_whole(self.unit, "unit"), shift=_whole(self.shift, "shift"))

    def __repr__(self) -> str:
        more = f", unit={self.unit}" if self.unit != 1 else ""
        more += f", shift={self.shift}" if self.shift else ""
        return (
            f"GridQuantile(probability={show(self.probability)}, bounds={self.bounds}, epsilon={show(self.epsilon)}, "
            f"relation={self.relation!r}{more})"
        )

    @property
    def domain(self) -> Records:
        """Units with weights in cells, which are clamped to the bounds."""
        return Records(relation=self.relation, bounds=self.bounds)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the exponential mechanism."""
        return PrivacyLoss.bounded_range(self.epsilon).under(self.relation)

    @property
    def sensitivity(self) -> Fraction:
        """How far a score moves between neighbours."""
        p = Fraction(self.probability)
        return self.unit * (Fraction(1) if self.relation == "replace_one" else max(p, 1 - p))

    @property
    def rate(self) -> Fraction:
        """How strongly weight counts: ``epsilon`` over twice the sensitivity of the score."""
        return Fraction(self.epsilon) / (2 * self.sensitivity)

    def release(self, cells: Whole | Histogram, weights: Whole | None = None, /) -> int:
        """Return a whole number within the bounds; of cells and weights, or of one pair of them."""
        gaps = Gaps(self.bounds, self.rate, self._aim, cells, weights)
        chosen = gaps.draw()
        return gaps.start(chosen) + int(uniform_below(int(gaps.lengths[chosen])))

    def releases(self, histograms: Iterable[Histogram], /) -> Int64:
        """Return a release for each of several groups; a unit in k of them pays k times."""
        return np.array([self.release(cells, weights) for cells, weights in histograms], dtype=np.int64)

    def error(self, beta: Real = 0.05) -> float:
        """Return how far the wanted rank may be from the ranks of the release, as a weight.

        McSherry and Talwar, FOCS 2007: ``log(points / beta) / rate`` with probability ``1 - beta`` at least, whatever
        the data, as some point has loss 0.
        """
        failure, (low, high) = a_probability(beta, "beta"), self.bounds
        return up(lambda: ball((high - low + 1) / failure).log() / ball(self.rate))

    def log_probability(self, histogram: Histogram, output: int, /) -> float:
        """Return the log of the probability of an output."""
        gaps = Gaps(self.bounds, self.rate, self._aim, *histogram)
        if not self.bounds[0] <= output <= self.bounds[1]:
            return -math.inf
        score, every = gaps.score(gaps.run_of(output)), range(gaps.lengths.size)
        return float(enclose(lambda: ball(self.rate * score) - gaps.log_sum(every)).mid())

    def _aim(self, weight: int) -> Fraction:
        return Fraction(self.probability) * weight + self.shift

    def worst_case(self) -> tuple[Histogram, Histogram]:
        """A unit in the middle and one at an end, which is gone, or at the other end, on the other side."""
        low, high = self.bounds
        middle = (low + high) // 2
        one: Histogram = ([low, middle], [self.unit, self.unit])
        if self.relation == "add_remove":
            return one, ([middle], [self.unit])
        return one, ([middle, high], [self.unit, self.unit])


def _whole(value: object, name: str) -> int:
    exact = finite(value, name)
    if exact.denominator != 1:
        raise InvalidParameter(f"{name} must be whole numbers, got {show(exact)}.")
    return exact.numerator
