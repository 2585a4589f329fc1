"""Median and quantiles of bounded numbers by the exponential mechanism.

Smith, "Privacy-preserving Statistical Estimation with Optimal Convergence Rates", STOC 2011. The ideal mechanism has a
density on the whole interval that is constant between neighbouring data points, so it is drawn in two exact steps:
which gap, by a race over log-lengths, then where in the gap, rounded to a public grid.

On an interval no point has a length, so a value that many records share is chosen no more often than any other point,
and where the wanted rank is among these records, the release falls into a gap beside them. Numbers that have a public
step are better chosen from their lattice, where each point has all the ranks of the records that share it: see
``GridQuantile``, which has the proof.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter, UnboundedSensitivity
from discreet.exact import Real, ball, finite, plain, positive, show
from discreet.exact import probability as a_probability
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.grid_quantile import GridQuantile
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise import grid_for, on_grid, race
from discreet.noise.densities import Gumbel, Uniform
from discreet.noise.fast import Floats
from discreet.noise.grid import power_of_two
from discreet.sensitivity.reals import array_of, real
from discreet.units import Relation, check_relation

__all__ = ["Quantile"]

MOST_STEPS = 1 << 32


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Quantile(Faces):
    """Release a number with about a share ``probability`` of the data below it.

    A point y scores ``-|#{x < y} - probability * n|``. Satisfies ``epsilon``-DP under ``relation``: replacing a record
    moves a score by at most 1, adding one by at most ``max(probability, 1 - probability)``. Data is clamped to
    ``bounds``; NaN counts as the lower bound. Ties, all-equal and empty data are ordinary data.

    With a ``step`` the release is one of ``low``, ``low + step``, ... up to ``high``, records count at the nearest of
    these, and a point scores minus the distance of the rank from those of the records that are equal to it. Say it
    where numbers have a step, as whole numbers and prices do: then many may share a value.

    >>> median = Quantile(bounds=(0, 100), epsilon=2, relation="replace_one")
    >>> 20 < median.release(np.full(1000, 42.0) + np.arange(1000) / 1000) < 60
    True
    >>> round(median.error(0.05, share=1 / 100), 1)      # ranks, if good answers fill a hundredth of the interval
    7.6
    >>> hours = Quantile(bounds=(0, 100), epsilon=2, relation="replace_one", step=5)
    >>> hours.release([40] * 500 + [20] * 300 + [60] * 300), round(hours.error(0.05), 1)
    (40.0, 6.0)
    """

    bounds: tuple[Real, Real] = NOT_GIVEN
    epsilon: Real
    relation: Relation
    probability: Real = Fraction(1, 2)
    grid: Real = NOT_GIVEN
    step: Real | None = None

    def __post_init__(self) -> None:
        if self.bounds is NOT_GIVEN:
            raise UnboundedSensitivity("a quantile needs bounds: without them nothing is known. Write bounds=(0, 120).")
        low, high = (finite(end, "bounds") for end in self.bounds)
        if not low < high:
            raise InvalidParameter(f"bounds must be (low, high) with low below high, got {self.bounds}.")
        a_probability(self.probability, "probability")
        positive(self.epsilon, "epsilon")
        check_relation(self.relation)
        if not float(low) < float(high):
            raise InvalidParameter("bounds must be two different floats; these are too close together.")
        grid = grid_for(high - low) if self.grid is NOT_GIVEN else power_of_two(self.grid)
        object.__setattr__(self, "bounds", (plain(self.bounds[0]), plain(self.bounds[1])))
        store(self, epsilon=self.epsilon, probability=self.probability, grid=grid)
        if self.step is not None:
            step, width = positive(self.step, "step"), high - low
            if abs(round(width / step) * step - width) > step / 10**6 or width / step > MOST_STEPS:
                raise InvalidParameter(
                    "the upper bound must be a whole number of steps above the lower one, and at most 2^32 of them."
                )
            store(self, step=self.step)

    def __repr__(self) -> str:
        low, high = (show(end) for end in self.bounds)
        grid = (
            ""
            if self.grid == grid_for(Fraction(self.bounds[1]) - Fraction(self.bounds[0]))
            else f", grid={show(self.grid)}"
        )
        return (
            f"Quantile(probability={show(self.probability)}, bounds=({low}, {high}), epsilon={show(self.epsilon)}, "
            f"relation={self.relation!r}{grid}{'' if self.step is None else f', step={show(self.step)}'})"
        )

    @property
    def domain(self) -> Records:
        """Numbers, clamped to the bounds."""
        return Records(relation=self.relation, bounds=self.bounds)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the exponential mechanism; rounding the outcome to a grid only narrows the range."""
        return PrivacyLoss.bounded_range(self.epsilon).under(self.relation)

    @property
    def rate(self) -> Fraction:
        """How strongly ranks count: ``epsilon`` over twice the sensitivity of the score."""
        p = Fraction(self.probability)
        return Fraction(self.epsilon) / (2 * (1 if self.relation == "replace_one" else max(p, 1 - p)))

    def release(self, records: Sequence[Real] | npt.NDArray[np.generic], /) -> float:
        """Return a point of the grid, or of the lattice, within the bounds."""
        points = self._points(records)
        if self.step is not None:
            return self._value(self._lattice.release(*self._cells(points)))
        gaps = np.diff(points)
        with np.errstate(divide="ignore"):
            scores = np.log(gaps) + self._ranks(gaps.size - 1) * float(self.rate)
        rounding = gaps.size * float(self.rate) * 2.0**-50  # of a rank: it is a difference of numbers up to the size
        slack = np.where(gaps > 0, np.abs(scores) * 2.0**-48 + 2.0**-40 + rounding, 0.0)
        gap = race(Gumbel(), scores, slack, lambda i: self._log_weight(points, i))
        step = Fraction(self.grid)
        start, end = Fraction(points[gap]) / step, Fraction(points[gap + 1]) / step
        steps = round(start) if round(start) == round(end) else on_grid(Uniform(), start, end - start, grid=1)
        drawn = float(steps) * float(step)
        return min(max(drawn, float(self.bounds[0])), float(self.bounds[1]))

    def error(self, beta: Real = 0.05, *, share: Real = NOT_GIVEN) -> float:
        """Return how many ranks the release may lie from the best point, with probability ``1 - beta``.

        The bound of the exponential mechanism, ``log(1 / (share * beta)) / rate``, where ``share`` is the part of the
        interval filled by points that are as good as the best. That part is a property of the data, so it has to be
        said. With a ``step`` the best point has the wanted rank itself, ties or not, and ``share`` is left out. Without
        one the best point may be a gap beside a value that many records share, as far from the rank as half of these.
        """
        if self.step is not None and share is NOT_GIVEN:
            return self._lattice.error(beta)
        if share is NOT_GIVEN:
            raise InvalidParameter("without a step the error depends on the share of good points: say share=1 / 100.")
        good = a_probability(share, "share", one=True) * a_probability(beta, "beta")
        return -math.log(good) / float(self.rate)

    def log_probability(self, records: Sequence[Real] | npt.NDArray[np.generic], output: float, /) -> float:
        """Return the log of the probability of an output: the ideal density, integrated over what rounds to it."""
        if self.step is not None:
            place = round((Fraction(output) - Fraction(self.bounds[0])) / self._width)
            if not 0 <= place <= self._lattice.bounds[1] or self._value(place) != output:
                return -math.inf
            return self._lattice.log_probability(self._cells(self._points(records)), place)
        points, step = self._points(records), Fraction(self.grid)
        low, high = (Fraction(float(end)) for end in self.bounds)
        left, right = Fraction(output) - step / 2, Fraction(output) + step / 2
        if output == low:
            left, right = low, max(low, (low // step) * step + step / 2)
        elif output == high:
            left, right = min(high, -(-high // step) * step - step / 2), high
        elif Fraction(output) % step or not low < output < high:
            return -math.inf
        ranks = self._ranks(points.size - 2) * float(self.rate)
        inside = np.diff(np.clip(points, float(left), float(right)))
        return _log_sum(ranks, inside) - _log_sum(ranks, np.diff(points))

    def worst_case(self) -> tuple[list[Real], list[Real]]:
        """All records at one end, and one of them moved to the other end or left out."""
        low, high = self.bounds
        return [low, low, low], ([low, low, high] if self.relation == "replace_one" else [low, low])

    @property
    def _width(self) -> Fraction:
        """The distance between neighbouring points of the lattice."""
        low, high = (Fraction(end) for end in self.bounds)
        return (high - low) / round((high - low) / Fraction(self.step or 1))

    @property
    def _lattice(self) -> GridQuantile:
        """What chooses among the places of the lattice."""
        low, high = (Fraction(end) for end in self.bounds)
        return GridQuantile(
            bounds=(0, round((high - low) / self._width)),
            epsilon=self.epsilon,
            relation=self.relation,
            probability=self.probability,
        )

    def _cells(self, points: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the places of records, each by itself, and a weight of one for each."""
        places = np.floor((points[1:-1] - float(self.bounds[0])) / float(self._width) + 0.5).astype(np.int64)
        return places, np.ones_like(places)

    def _value(self, place: int) -> float:
        return float(Fraction(self.bounds[0]) + place * self._width)

    def _points(self, records: Sequence[Real] | npt.NDArray[np.generic]) -> Floats:
        low, high = (float(end) for end in self.bounds)
        try:
            given = array_of(records)
        except (ValueError, OverflowError):
            raise InvalidInput("a quantile takes a vector of numbers.") from None
        fits = given.dtype.kind in "biuf" and given.itemsize <= 8  # a long double may overflow, with a warning
        values = given.astype(np.float64) if fits else _one_by_one(records, low, high)
        if values.ndim != 1:
            raise InvalidInput(f"a quantile takes a vector of numbers, got {values.ndim} dimensions.")
        values[np.isnan(values)] = low
        points: Floats = np.concatenate([[low], np.sort(np.clip(values, low, high)), [high]])
        return points

    def _ranks(self, size: int) -> Floats:
        """Return the scores of the gaps, as doubles."""
        return np.negative(np.abs(np.arange(size + 1, dtype=np.float64) - size * float(self.probability)))

    def _log_weight(self, points: Floats, i: int) -> arb:
        rank = -abs(i - (points.size - 2) * Fraction(self.probability))
        return ball(Fraction(points[i + 1]) - Fraction(points[i])).log() + ball(self.rate * rank)


def _one_by_one(records: Sequence[Real] | npt.NDArray[np.generic], low: float, high: float) -> Floats:
    """Read values that do not fit an array of floats: each by itself, clamped while it is exact."""
    try:
        numbers = [real(value) for value in records]
    except TypeError:
        raise InvalidInput("a quantile takes a sequence of numbers.") from None
    return np.array([low if x != x else float(min(max(x, low), high)) for x in numbers], dtype=np.float64)


def _log_sum(exponents: Floats, weights: Floats) -> float:
    """Return ``log(sum of weights * exp(exponents))`` without overflow."""
    if not (kept := weights > 0).any():
        return -math.inf
    top = float(exponents[kept].max())
    return top + math.log(float(np.dot(np.exp(exponents[kept] - top), weights[kept])))
