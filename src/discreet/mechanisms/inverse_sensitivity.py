"""The inverse sensitivity mechanism for order statistics: a point is the less likely, the more records it would take.

Asi and Duchi, "Near Instance-Optimality in Differential Privacy", NeurIPS 2020. A point t scores minus the number of
records that must be replaced so that the statistic becomes t, and one is drawn by the exponential mechanism. A
replaced record moves that number by at most 1, whatever the statistic is.

For the r-th smallest of n records, with L of them below t and E equal to it, the number is ``max(0, L - r + 1,
r - L - E)``: it is 0 at the statistic itself and rises on both sides, by 1 at each record. Between records of a data
set of odd size it is ``|L - n / 2| + 1 / 2`` for the median, which is the score of ``Quantile`` less a constant: on a
fine grid the two are nearly the same law, since the one point of score 0 hardly counts. The paper's smoothing gives it
weight: within ``smoothing`` of a point the best score counts, so that the statistic and all that is that close to it
score 0, and the records below and above it move outward by as much. Where records are further apart than that, it makes
the neighbourhood of the statistic more likely by a factor of up to ``e^(epsilon / 2)``; where many are that close, it
only blurs.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, finite, plain, positive, show, up
from discreet.exact import probability as a_probability
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.quietly import Silence, quietly
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise import race, uniform_below
from discreet.noise.densities import Gumbel
from discreet.noise.fast import Floats
from discreet.sensitivity.grid import Grid, Indices
from discreet.sensitivity.reals import real
from discreet.sensitivity.total import safely
from discreet.units import records

__all__ = ["InverseSensitivity"]

LARGEST = 1 << 61
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InverseSensitivity(Faces):
    """Release a point of a public grid near the median, or near another order statistic.

    Satisfies ``epsilon``-DP under replace_one, with a bounded range of ``epsilon``. The statistic is the r-th smallest
    record with ``r = ceil(probability * n)``, at least the first. Data are clamped to ``bounds`` and rounded to the
    grid; NaN and whatever is no number count as the lower bound. ``smoothing`` must be public and should be less than
    the spacing of records.

    >>> median = InverseSensitivity(bounds=(0, 100), epsilon=1, smoothing=0.5)
    >>> 40 < median.release(np.full(999, 42.0) + np.arange(999) / 1000) < 45
    True
    >>> round(median.error(0.05), 1)                     # records, of which so many would have to change
    16.6
    """

    bounds: tuple[Real, Real] = NOT_GIVEN
    epsilon: Real
    probability: Real = Fraction(1, 2)
    smoothing: Real = 0
    grid: Real = NOT_GIVEN

    def __post_init__(self) -> None:
        points = self._points
        if points.highest - points.lowest > LARGEST or max(abs(points.highest), abs(points.lowest)) > LARGEST:
            raise InvalidParameter("the grid must have at most 2^61 points between 0 and each bound: take a wider one.")
        positive(self.epsilon, "epsilon")
        a_probability(self.probability, "probability")
        if finite(self.smoothing, "smoothing") < 0:
            raise InvalidParameter(f"smoothing must not be negative, got {show(self.smoothing)}.")
        object.__setattr__(self, "bounds", (plain(self.bounds[0]), plain(self.bounds[1])))
        store(self, epsilon=self.epsilon, probability=self.probability, smoothing=self.smoothing)
        store(self, grid=points.step)

    def __repr__(self) -> str:
        low, high = (show(end) for end in self.bounds)
        more = "" if Fraction(self.probability) == Fraction(1, 2) else f", probability={show(self.probability)}"
        more += f", smoothing={show(self.smoothing)}" if self.smoothing else ""
        return f"InverseSensitivity(bounds=({low}, {high}), epsilon={show(self.epsilon)}{more}, grid={show(self.grid)})"

    @property
    def domain(self) -> Records:
        """Numbers, clamped to the bounds."""
        return Records(relation="replace_one", bounds=self.bounds)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the exponential mechanism."""
        return PrivacyLoss.bounded_range(self.epsilon).under("replace_one")

    @property
    def rate(self) -> Fraction:
        """How strongly a record counts: half of epsilon, as the score has sensitivity 1."""
        return Fraction(self.epsilon) / 2

    @property
    def reach(self) -> int:
        """The smoothing in steps of the grid, rounded down and not beyond the grid."""
        return min(int(Fraction(self.smoothing) / Fraction(self.grid)), self._points.highest - self._points.lowest)

    def release(self, data: Iterable[object], /) -> float:
        """Return a point of the grid within the bounds."""
        starts, lengths, changes = self._runs(data)
        with np.errstate(divide="ignore"):
            scores = np.log(lengths) - changes * float(self.rate)
        slack = np.where(lengths > 0, changes * (float(self.rate) * 2.0**-50) + 2.0**-40, 0.0)
        run = race(Gumbel(), scores, slack, lambda i: self._log_weight(int(lengths[i]), int(changes[i])))
        point = int(starts[run]) + int(uniform_below(int(lengths[run])))
        return float(point * Fraction(self.grid))

    def changes(self, data: Iterable[object], point: Real, /) -> int:
        """Return how many records must be replaced so that the statistic is within ``smoothing`` of a point.

        >>> InverseSensitivity(bounds=(0, 9), epsilon=1, grid=1).changes([1, 2, 3, 5, 6], 6)
        2
        """
        starts, lengths, changes = self._runs(data)
        (where,) = self._points.indices([point])
        holds = np.flatnonzero((starts <= where) & (where < starts + lengths))
        return int(changes[holds[0]])

    def error(self, beta: Real = 0.05) -> float:
        """Return how many records must be replaced, at most, so that the release is the statistic, smoothed.

        McSherry and Talwar, FOCS 2007: ``log(N / (G beta)) / rate`` with probability ``1 - beta``, where N is the
        number of points and G that of points of score 0, of which there are ``reach + 1`` at least.
        """
        failure, points = a_probability(beta, "beta"), self._points
        share = Fraction(points.highest - points.lowest + 1, self.reach + 1)
        return max(0.0, up(lambda: ball(share / failure).log() / ball(self.rate)))

    def log_probability(self, data: Iterable[object], output: float, /) -> float:
        """Return the log of the probability of an output."""
        where, points = Fraction(output) / Fraction(self.grid), self._points
        if where.denominator != 1 or not points.lowest <= where <= points.highest:
            return -math.inf
        starts, lengths, changes = self._runs(data)
        holds = np.flatnonzero((starts <= int(where)) & (int(where) < starts + lengths))
        weights = -float(self.rate) * changes[lengths > 0]
        top = float(weights.max())
        total = top + math.log(float(np.dot(np.exp(weights - top), lengths[lengths > 0].astype(np.float64))))
        return -float(self.rate) * float(changes[holds[0]]) - total

    def worst_case(self) -> tuple[list[Real], list[Real]]:
        """A median at one end of the bounds, and one at the other."""
        low, high = self.bounds
        return [low, low, high], [low, high, high]

    @property
    def _points(self) -> Grid:
        example = "InverseSensitivity(bounds=(0, 120), ...)"
        return Grid.over(self.bounds, self.grid, query="median", example=example)

    def _log_weight(self, length: int, changes: int) -> arb:
        return arb(length).log() - ball(self.rate * changes)

    def _runs(self, data: Iterable[object]) -> tuple[Int64, Int64, Floats]:
        """Return where runs of points of equal score start, how long they are, and their number of changes.

        Below the statistic a run ends before a record moved down by the reach, above it with one moved up.
        """
        points, reach = self._points, self.reach
        low, high = points.lowest, points.highest
        values = np.sort(np.asarray(_indices(points, data), dtype=np.int64))
        n = values.size
        if not n:
            return np.array([low]), np.array([high - low + 1]), np.zeros(1)
        r = min(max(math.ceil(Fraction(self.probability) * n), 1), n)
        down, up_ = np.maximum(values[:r] - reach, low), np.minimum(values[r - 1 :] + reach, high)
        edges = np.concatenate([[low], down, up_ + 1, [high + 1]])
        below, above = np.arange(r, 0, -1.0), np.arange(1.0, n - r + 2)
        return edges[:-1], np.diff(edges), np.concatenate([below, [0.0], above])


def _indices(points: Grid, data: Iterable[object]) -> Indices:
    """Return records as points of the grid; where one is no number, no error tells so, and it is the lower bound."""
    rows = data if type(data) is np.ndarray else records(data)
    if isinstance(rows, np.ndarray) and rows.ndim != 1:
        raise InvalidInput(f"data must be a vector of numbers, got {rows.ndim} dimensions. Pass one column.")
    found = quietly(lambda: points.indices(rows), otherwise=None)
    if found is not None:
        return found
    with Silence():
        return points.indices([safely(real, row, otherwise=None) for row in records(rows)])
