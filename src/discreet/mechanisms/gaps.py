"""The runs of points of a public grid that have the same rank in a histogram: its cells, and the gaps between them.

Cells are sorted, merged and clamped, negative weights are taken as 0, and weights are added up in two parts, of 31 low
bits and the rest, so that no sum of them overflows: no histogram is refused for what it holds.
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
"""Many of them race in two rounds: rows of this many, each as one, then those of the row that won."""


class Gaps:
    """Gap, cell, gap, ..., cell, gap, each with its length and its loss.

    With L the weight below a point and M that up to it, the loss is ``max(0, L - aim, aim - M)``: the distance of the
    aim from the ranks that the point has. The lowest point has all ranks down, and the highest all ranks up, so that
    some point has loss 0 wherever the aim is. Both ends of the bounds are cells, perhaps of no weight.
    """

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
        parts = [counts >> LIMB, counts & ((1 << LIMB) - 1)]
        if (places[1:] <= places[:-1]).any():
            order = np.argsort(places, kind="stable")
            places = places[order]
            first = np.flatnonzero(np.concatenate([[True], places[1:] > places[:-1]]))
            places, parts = places[first], [np.add.reduceat(part[order], first) for part in parts]
        before = not places.size or bool(places[0] > low)
        after = high > low and (not places.size or bool(places[-1] < high))
        self.bounds, self.rate = bounds, rate
        self.cells = np.empty(places.size + before + after, dtype=np.int64)
        self.cells[before : before + places.size] = places
        self.cells[0], self.cells[-1] = low, high
        self.lengths = np.ones(2 * self.cells.size + 1, dtype=np.int64)
        self.lengths[0] = self.lengths[-1] = 0
        self.lengths[2:-1:2] = np.diff(self.cells) - 1
        self._high, self._low = (_below(part, before, after) for part in parts)
        self.aim = aim(self.weight(self.cells.size))

    def weight(self, i: int) -> int:
        """Return the weight of the first so many cells."""
        return (int(self._high[i]) << LIMB) + int(self._low[i])

    def score(self, i: int) -> Fraction:
        """Return the score of the points of a run: minus their loss."""
        below, upto = self.weight(i // 2) - self.aim, self.aim - self.weight((i + 1) // 2)
        if i == 1:
            below = Fraction(0)
        if i == self.lengths.size - 2:
            upto = Fraction(0)
        return -max(Fraction(0), below, upto)

    def start(self, i: int) -> int:
        """Return the first point of a run."""
        return int(self.cells[i // 2]) if i % 2 else int(self.cells[i // 2 - 1]) + 1

    def run_of(self, point: int) -> int:
        """Return the run that a point within the bounds is in."""
        where = int(np.searchsorted(self.cells, point, side="left"))
        return 2 * where + int(self.cells[where] == point)

    def draw(self) -> int:
        """Return a run with probability proportional to ``length * exp(rate * score)``.

        The largest of several Gumbel variables with starts is one whose start is the log of the sum of their
        exponentials, so a race of rows and then one within the winner has the same law as a race of all.
        """
        if self.cells.size == 1:
            return 1
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
        """Return the log-weights of the runs in float64, and how far they may be off.

        A weight and the aim are rounded once or twice each, so their difference is off by less than their sum times
        ``2^-51``; the rest are a product, a logarithm below 64 and a sum.
        """
        rate, aim, runs = float(self.rate), float(self.aim), self.lengths.size
        below: Floats = np.multiply(self._high, 2.0**LIMB, dtype=np.float64)
        below += self._low
        slack, scores = np.empty(runs), np.empty(runs)
        slack[::2] = (below + abs(aim)) * (rate * 2.0**-49) + 2.0**-40
        slack[1::2] = slack[2::2]
        below -= aim
        np.abs(below, out=scores[::2])
        np.maximum(below[:-1], -below[1:], out=scores[1::2])
        scores[1], scores[-2] = -below[1], below[-2]
        np.maximum(scores, 0.0, out=scores)
        scores *= -rate
        gaps = self.lengths[::2]
        with np.errstate(divide="ignore"):
            scores[::2] += np.log(gaps)
        slack[::2][gaps == 0] = 0.0
        return scores, slack

    def log_weight(self, i: int) -> arb:
        """Return the exact log-weight of a run."""
        return arb(int(self.lengths[i])).log() + ball(self.rate * self.score(i))

    def log_sum(self, where: Sequence[int]) -> arb:
        """Return the exact log of the sum of the weights of several runs, not all of length 0."""
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


def _below(parts: Int64, before: bool, after: bool) -> Int64:
    """Return running sums from 0, perhaps with a cell of no weight before and after."""
    sums = np.zeros(parts.size + 1 + before + after, dtype=np.int64)
    np.cumsum(parts, out=sums[before + 1 : sums.size - after])
    if after:
        sums[-1] = sums[-2]
    return sums


def _pair(histogram: object) -> Histogram:
    if not isinstance(histogram, tuple) or len(histogram) != 2:
        raise InvalidInput("give cells and weights, or one pair (cells, weights).")
    return histogram
