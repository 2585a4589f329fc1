"""Windows of ranks: the local sensitivity of an order statistic, near and far, without trying every window.

With ``x_0`` the lower and ``x_(n+1)`` the upper bound, and x constant beyond them, the widest window of ``k + 1`` ranks
around the rank r is how far the order statistic of rank r can move within k records:
``A(x, k) = max over t of x_(r+t) - x_(r+t-k-1), 0 <= t <= k + 1`` (Nissim, Raskhodnikova and Smith, STOC 2007).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.exact import Real, upward
from discreet.sensitivity.smooth.candidates import candidates, peak
from discreet.sensitivity.smooth.distance import check_distance, first_above
from discreet.sensitivity.smooth.levels import FARTHEST, rate_of, rounded_up
from discreet.sensitivity.smooth.pairs import Pair, best_pair
from discreet.sensitivity.smooth.sample import Floats

__all__ = ["Windows"]


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """A sorted sample, seen through windows that begin at rank ``left`` or below and end at ``right`` or above.

    ``local(k)`` is ``weight`` times the widest window that reaches ``(k + 1) * rows`` ranks beyond those two, on both
    sides together, and for k = 0 on one side alone. It satisfies ``local(k)`` at x ``<= local(k + 1)`` at y whenever y
    differs from x in up to ``rows`` rows: replacing, adding or removing a row moves a rank by at most one, so that a
    window of x lies in a window of y with one rank more. ``smooth`` is found in the time of a sort, for every beta.

    >>> median = Windows(value=3.0, points=np.array([0.0, 1, 2, 3, 5, 6, 6]), left=3, right=3)
    >>> [median.local(k) for k in range(6)], median.distance(3)
    ([2.0, 3.0, 4.0, 5.0, 6.0, 6.0], 2)
    >>> round(median.smooth(0.1), 6)
    4.02192
    """

    value: Real
    points: Floats = field(repr=False)
    left: int
    right: int
    rows: int = 1
    weight: Fraction = Fraction(1)

    def local(self, distance: int = 0, /) -> float:
        """Return the widest window, in one pass over the windows of this length, rounded up."""
        distance = check_distance(distance)
        last = self.points.size - 1
        if distance == 0 and self.rows > 1:
            low, high = max(self.left - self.rows, 0), min(self.right + self.rows, last)
            return self._widest(self.points[[low, self.left]], self.points[[self.right, high]])
        extra = min((distance + 1) * self.rows, self.left + last - self.right)
        length = self.right - self.left + extra
        first = max(self.left - extra, 0)
        end = min(self.left, last - length) + 1
        return self._widest(self.points[first:end], self.points[first + length : end + length])

    def _widest(self, lower: Floats, upper: Floats) -> float:
        """Return the weight times the largest difference; where differences round alike, the largest exact one."""
        widths = upper - lower
        alike = np.flatnonzero(widths == widths.max())
        a, b, width = lower[alike], upper[alike], widths[alike]
        moved = width - b
        rest = (b - (width - moved)) - (a + moved)  # what the rounding took (Knuth)
        exact = Fraction(float(width[0])) + Fraction(float(rest.max()))
        return upward(exact * self.weight)

    def smooth(self, beta: Real, /) -> float:
        """Return the largest ``e^(-beta k) local(k)``: a window is the better the wider and the shorter it is."""
        rate = rate_of(beta)
        if not rate:
            return rounded_up(self.local(FARTHEST), 0.0)
        best, nearest = Pair(0.0, 0, -math.inf), 0
        for below, above, distance in self._starts():
            pair = self._best(below, above, rate)
            if pair.log - rate * distance > best.log - rate * nearest:
                best, nearest = pair, distance
        return rounded_up(best.width * float(self.weight), rate * (best.ranks + nearest))

    def distance(self, bound: Real, /) -> int | None:
        """Return the least distance at which a window is wider than the bound allows."""
        return first_above(self.local, bound)

    def levels(self, distances: range) -> Iterator[float]:
        """Yield the levels at some distances, for a picture."""
        return (self.local(k) for k in distances)

    def _starts(self) -> Iterator[tuple[int, int, int]]:
        """Yield from how many ranks below and above windows grow by whole units, and at which distance that begins.

        Two families hold every window whose part below ``left`` is ``first`` rows and some units: those with no unit
        there and those with one or more. At distance 0 all rows of a window lie on one side.
        """
        for first in range(self.rows):
            distance = min(first, 1)
            yield first, (1 + distance) * self.rows - first, distance
            yield first + self.rows, distance * self.rows - first, distance

    def _best(self, below: int, above: int, rate: float) -> Pair:
        """Return the best window that grows outwards; only upwards, where ``below`` is less than one unit."""
        lower = self._outward(self.left - below, -self.rows)
        upper = self._outward(self.right + above, self.rows)
        if below < self.rows:
            near, far = np.zeros(1, dtype=np.int64), peak(upper, float(lower[0]), rate)
        else:
            near, far = candidates(lower, float(upper[0]), rate), candidates(upper, float(lower[0]), rate)
        return best_pair(lower[near], near, upper[far], far, rate)

    def _outward(self, start: int, step: int) -> Floats:
        """Return every ``rows``-th point from a rank outwards, to the bound and including it."""
        last = self.points.size - 1
        bound = 0 if step < 0 else last
        if not 0 <= start <= last:
            return self.points[bound : bound + 1]
        points = self.points[start::step]
        return points if (bound - start) % step == 0 else np.append(points, self.points[bound])
