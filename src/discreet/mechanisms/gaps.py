"""The runs of points of a public grid that have the same weight of a histogram below them.

Cells are sorted and clamped, negative weights are taken as 0, and weights are added up in two parts, of 31 low bits and
the rest, so that no sum of them overflows: no histogram is refused for what it holds.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.errors import InvalidInput
from discreet.exact import ball
from discreet.noise import race
from discreet.noise.densities import Gumbel
from discreet.noise.fast import Floats
from discreet.noise.shapes import INT64

__all__ = ["Gaps", "Histogram", "Int64", "Whole", "whole_vector"]

Whole = Sequence[int] | npt.NDArray[np.generic]
Histogram = tuple[Whole, Whole]
Int64 = npt.NDArray[np.int64]

LIMB = 31
RUN = 256
"""Many gaps race in two rounds: runs of this many, each as one, then those of the run that won."""


class Gaps:
    """The gaps between cells, each with its length and its score ``-|weight below - aim|``."""

    __slots__ = ("_high", "_low", "aim", "bounds", "cells", "lengths", "rate")

    def __init__(
        self,
        bounds: tuple[int, int],
        rate: Fraction,
        aim: Callable[[int], Fraction],
        cells: Whole | Histogram,
        weights: Whole | None = None,
    ) -> None:
        if weights is None:
            cells, weights = _pair(cells)
        low, high = bounds
        places, counts = np.clip(whole_vector(cells), low, high), np.maximum(whole_vector(weights), 0)
        if places.size != counts.size:
            raise InvalidInput("a histogram has as many weights as cells.")
        if (places[1:] < places[:-1]).any():
            order = np.argsort(places, kind="stable")
            places, counts = places[order], counts[order]
        self.bounds, self.rate, self.cells = bounds, rate, places
        self.lengths = np.empty(places.size + 1, dtype=np.int64)
        self.lengths[:-1], self.lengths[-1] = places, high
        self.lengths[1:] -= places
        self.lengths[0] -= low - 1  # the lower bound itself is a point; each gap ends with its cell
        self._high, self._low = _below(counts >> LIMB), _below(counts & ((1 << LIMB) - 1))
        self.aim = aim(self.weight(places.size))

    def weight(self, i: int) -> int:
        """Return the weight below the points of a gap."""
        return (int(self._high[i]) << LIMB) + int(self._low[i])

    def score(self, i: int) -> Fraction:
        """Return the score of the points of a gap."""
        return -abs(self.weight(i) - self.aim)

    def start(self, i: int) -> int:
        """Return the first point of a gap."""
        return int(self.cells[i - 1]) + 1 if i else self.bounds[0]

    def draw(self) -> int:
        """Return a gap with probability proportional to ``length * exp(rate * score)``.

        The largest of several Gumbel variables with starts is one whose start is the log of the sum of their
        exponentials, so a race of runs and then one within the winner has the same law as a race of all.
        """
        if self.lengths.size == 1:
            return 0
        scores, slack = self.log_weights()
        if scores.size <= 2 * RUN:
            return race(Gumbel(), scores, slack, self.log_weight)
        rows: Floats = np.full((-(-scores.size // RUN), RUN), -np.inf)
        rows.reshape(-1)[: scores.size] = scores
        best = rows.max(axis=1)
        empty = np.isneginf(best)
        rows -= np.where(empty, 0.0, best)[:, None]
        with np.errstate(divide="ignore"):
            sums = np.log(np.exp(rows, out=rows).sum(axis=1)) + best
        off = np.where(empty, 0.0, np.maximum.reduceat(slack, np.arange(0, slack.size, RUN)) + 2.0**-40)
        start = RUN * race(Gumbel(), sums, off + np.where(empty, 0.0, np.abs(sums) * 2.0**-50), self._log_run)
        run = slice(start, start + RUN)
        return start + race(Gumbel(), scores[run], slack[run], lambda i: self.log_weight(start + i))

    def log_weights(self) -> tuple[Floats, Floats]:
        """Return the log-weights of the gaps in float64, and how far they may be off.

        A weight and the aim are rounded once or twice each, so their difference is off by less than their sum times
        ``2^-51``; the rest are a product, a logarithm below 64 and a sum.
        """
        rate, aim = float(self.rate), float(self.aim)
        below: Floats = np.multiply(self._high, 2.0**LIMB, dtype=np.float64)
        below += self._low
        slack: Floats = (below + abs(aim)) * (rate * 2.0**-49) + 2.0**-40
        below -= aim
        np.abs(below, out=below)
        below *= -rate
        with np.errstate(divide="ignore"):
            below += np.log(self.lengths)
        slack[self.lengths == 0] = 0.0
        return below, slack

    def log_weight(self, i: int) -> arb:
        """Return the exact log-weight of a gap."""
        return arb(int(self.lengths[i])).log() + ball(self.rate * self.score(i))

    def log_sum(self, where: Sequence[int]) -> arb:
        """Return the exact log of the sum of the weights of several gaps, not all of length 0."""
        kept = [i for i in where if self.lengths[i]]
        best = max(self.score(i) for i in kept)
        total = arb(0)
        for i in kept:
            total += int(self.lengths[i]) * ball(self.rate * (self.score(i) - best)).exp()
        return total.log() + ball(self.rate * best)

    def _log_run(self, run: int) -> arb:
        return self.log_sum(range(run * RUN, min((run + 1) * RUN, self.lengths.size)))


def whole_vector(values: object) -> Int64:
    """Return a vector of whole numbers, clamped to 64 bits.

    >>> whole_vector([1, 2**70]).tolist(), whole_vector([]).size
    ([1, 9223372036854775807], 0)
    """
    if isinstance(values, np.ndarray):
        given: npt.NDArray[np.generic] = values
    elif isinstance(values, list | tuple | range):
        given = np.array([*values, None], dtype=object)[:-1]
    else:
        raise InvalidInput("a histogram is made of two vectors of whole numbers, cells and weights.")
    if given.ndim != 1:
        raise InvalidInput(f"cells and weights are vectors, got {given.ndim} dimensions.")
    if given.dtype.kind == "u" and given.dtype.itemsize == 8:
        given = np.minimum(given, np.uint64(INT64[-1]))
    if given.dtype.kind in "iu" or not given.size:
        return np.asarray(given, dtype=np.int64)
    listed = given.tolist()
    if given.dtype == object and all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in listed):
        return np.array([max(INT64[0], min(int(x), INT64[-1])) for x in listed], dtype=np.int64)
    raise InvalidInput(f"cells and weights are whole numbers, got an array of {given.dtype}.")


def _below(parts: Int64) -> Int64:
    sums = np.empty(parts.size + 1, dtype=np.int64)
    sums[0] = 0
    np.cumsum(parts, out=sums[1:])
    return sums


def _pair(histogram: object) -> Histogram:
    if not isinstance(histogram, tuple) or len(histogram) != 2:
        raise InvalidInput("give cells and weights, or one pair (cells, weights).")
    return histogram
