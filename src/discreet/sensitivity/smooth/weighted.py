"""How far a unit can move a quantile of a weighted histogram, here and nearby.

A histogram has weights in whole cells between public bounds; F(c) is the weight up to c and W all of it. The quantile
at p is ``f = Q(p W)`` with ``Q(w)`` the least cell c with ``F(c) >= w``, and the highest one where there is none. A
unit has weights of at most u in all, none of them negative.

The proof. Let y be reached from x by units that come, with weight A(c) up to c and A in all, and units that go, with
B(c) and B. Then ``f(y)`` is the least c with ``F(c) >= p W + s(c)``, where ``s(c) = p A - A(c) - p B + B(c)``. So if
``f(y) = c1`` lies below ``f(z) = c2`` for a neighbour z of y, the move is at most
``Q(p W + s_z(c2 - 1)) - Q(p W + s_y(c1))``: the cells of a *window* of weight near the rank; and likewise if f(z) lies
below. Count weight in units u. The pairs ``(s(c1), s(c2 - 1))`` that one unit can cause are dominated (a lower first, a
higher second number, hence a wider window) by

* ``(-p, 1 - p)`` for one that goes, and (t, t) with ``p - 1 <= t <= p`` for one that comes;
* ``(t - 1, t)`` with ``0 <= t <= 1`` for one that is replaced, whatever p and both of its weights are;

those of k units by k times their convex hull, and the last step, from y to z, moves one end outwards by at most
``m = max(p, 1 - p)``, or by ``m = 1`` where units are replaced. Let ``local(k)`` be the most cells in any such window.
It bounds the local sensitivity of all y within k units, it rises with k, and as a window of x is one of a neighbour
after one more unit, ``local(k)`` at x is at most ``local(k + 1)`` at the neighbour: what Nissim, Raskhodnikova and
Smith ("Smooth Sensitivity and Sampling in Private Data Analysis", STOC 2007) need for a smooth bound. With equal
weights and units that are replaced it is their formula for the median, for every rank.

The least k with a window from c1 to c2 follows by eliminating the place of the window. With
``l = (F(c1) - p W) / u`` and ``h = (F(c2 - 1) - p W) / u - m``, units that come and go need ``k >= -l / m``,
``k > h / m`` and ``k > 2 h - g l`` for ``p >= 1/2``, ``k > g h - 2 l`` otherwise, with ``g = 2 - 1 / m``; units that
are replaced need ``k >= -l``, ``k > h`` and ``k > h - l``. The step may be on the other end: ``l + m`` and ``h + m``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, finite, positive
from discreet.exact import probability as a_probability
from discreet.quietly import Silence
from discreet.sensitivity.smooth.column import column, number, once
from discreet.sensitivity.smooth.distance import check_distance
from discreet.sensitivity.smooth.function import ROUNDING
from discreet.sensitivity.smooth.levels import FARTHEST, rate_of, rounded_up
from discreet.units import Relation, check_relation

__all__ = ["WeightedQuantile", "WeightedVicinity"]

FINEST = 1 << 16
"""Probabilities are fractions with denominators up to this."""

FEW = 1 << 12
"""So many windows are looked at one by one."""

SAFE = 1 << 62
INT64 = (-(1 << 63), (1 << 63) - 1)

Cells = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedQuantile:
    """A quantile of histograms: whole cells with weights, of which a unit has at most ``unit`` in all.

    The probability is the nearest fraction with a denominator of at most 65536. Cells are clamped to the bounds and
    negative weights count as 0. Fractions are cut off, numbers beyond 64 bits stop there, and what is missing or no
    number counts as the lowest cell, or as no weight. An empty histogram has the lowest cell as its quantile.

    >>> median = WeightedQuantile(bounds=(0, 6), relation="replace_one").at(([1, 2, 3, 5, 6], [1, 1, 1, 1, 1]))
    >>> median.value, [median.local(k) for k in range(5)]
    (3, [2.0, 3.0, 4.0, 5.0, 6.0])
    >>> round(median.smooth(0.1), 6)
    4.02192
    """

    bounds: tuple[int, int]
    relation: Relation
    probability: Real = Fraction(1, 2)
    unit: int = 1

    def __post_init__(self) -> None:
        low, high = (finite(end, "bounds") for end in self.bounds)
        inside = INT64[0] <= low <= high <= INT64[1] and high - low <= SAFE
        if low.denominator != 1 or high.denominator != 1 or not inside:
            raise InvalidParameter("bounds must be (low, high), whole numbers of 64 bits at most 2^62 apart.")
        unit = positive(self.unit, "unit")
        if unit.denominator != 1:
            raise InvalidParameter("unit must be a whole number: the most weight that a unit has.")
        exact = a_probability(self.probability, "probability", zero=True, one=True)
        check_relation(self.relation)
        object.__setattr__(self, "bounds", (int(low), int(high)))
        object.__setattr__(self, "probability", exact.limit_denominator(FINEST))
        object.__setattr__(self, "unit", int(unit))

    @property
    def size(self) -> None:
        """The number of units is not asked for."""
        return None

    @property
    def range(self) -> tuple[int, int]:
        """The bounds."""
        return self.bounds

    @property
    def dimension(self) -> int:
        """One number."""
        return 1

    @property
    def norm(self) -> float:
        """Any: it is one number."""
        return 1.0

    def at(self, records: Any, /) -> "WeightedVicinity":  # noqa: ANN401 - a pair of vectors
        """Look at a histogram, a pair of cells and weights."""
        if len(parts := tuple(records)) != 2:
            raise InvalidInput("a histogram is a pair of cells and weights.")
        cells, weights = _whole(parts[0], self.bounds[0]), _whole(parts[1], 0)
        if cells.shape != weights.shape or cells.ndim != 1:
            raise InvalidInput("a histogram has as many weights as cells.")
        places, counts = np.clip(cells, *self.bounds), np.maximum(weights, 0)
        if (places[1:] <= places[:-1]).any():
            places, counts = _merged(places, counts)
        return WeightedVicinity(self, places[counts > 0], counts[counts > 0])


class WeightedVicinity:
    """A histogram as the quantile sees it; as secret as data.

    Windows are named by their ends: ``left`` cells, each with the weight up to it, and ``right`` cells, each with the
    weight below it, both relative to the rank; cells are counted from the lower bound. All of that is in whole numbers,
    so no comparison is rounded.
    """

    __slots__ = ("_function", "_left", "_right", "_step", "_third", "value")

    def __init__(self, function: WeightedQuantile, cells: Cells, weights: Cells) -> None:
        self._function = function
        p = Fraction(function.probability)
        above, whole, unit = p.numerator, p.denominator, function.unit
        most = max(above, whole - above) if function.relation == "add_remove" else whole
        rest = 2 * most - whole
        total = sum(weights.tolist())
        if 8 * whole * whole * (total + unit) >= SAFE:
            weights = weights.astype(object)
        sums = np.cumsum(weights) if weights.size else weights
        aim = above * total
        low, high = 0, function.bounds[1] - function.bounds[0]
        cells = cells - function.bounds[0]
        below = np.concatenate([[0], sums]).astype(sums.dtype)
        at_low = bool(cells.size) and int(cells[0]) == low
        at_high = bool(cells.size) and int(cells[-1]) == high
        left = cells if at_low else np.concatenate([[low], cells])
        self._left = left, whole * (sums if at_low else below) - aim
        right = cells if at_high else np.concatenate([cells, [high]])
        self._right = right, whole * (below[:-1] if at_high else below) - aim
        self._step = most * unit
        if function.relation == "replace_one":
            self._third = 1, 1, whole * unit
        elif 2 * above >= whole:
            self._third = 2 * most, rest, most * whole * unit
        else:
            self._third = rest, 2 * most, most * whole * unit
        self.value = function.bounds[0] + int(left[int(np.searchsorted(self._left[1], 0))])

    def local(self, distance: int = 0, /) -> float:
        """Return the most cells in a window that so many units can cause.

        So many that the widest window of all is in reach are no different from more.
        """
        distance = check_distance(distance)
        (left, level), (right, below), step = self._left, self._right, self._step
        if distance >= int(self._least(np.array([0]), np.array([right.size - 1]))[0]):
            return float(right[-1])
        high, low, scale = self._third
        most = 0
        for first, second in ((0, step), (step, 0)):
            start = level + first
            limit = np.minimum((distance * scale + low * start - 1) // high, distance * step - 1)
            ends = np.searchsorted(below, limit + second, side="right") - 1
            fits = (start >= -distance * step) & (ends >= 0)
            if fits.any():
                most = max(most, int((right[ends] - left)[fits].max()))
        return float(most)

    def smooth(self, beta: Real, /) -> float:
        """Return the largest of all windows, each times ``e^(-beta k)``, rounded up.

        Windows are sought block by block: no window of a block has more cells than lie between its outer ends, nor a
        smaller k than that of its inner ends, and a block that cannot beat the best window so far is left.
        """
        rate = rate_of(beta)
        if not rate:
            return rounded_up(self.local(FARTHEST), 0.0)
        n, m = self._left[0].size, self._right[0].size
        if n * m <= FEW:
            every = np.arange(n * m)
            return rounded_up(*self._best(every // m, every % m, rate)[1:])
        best, cells, decay = self._best(*self._around(rate), rate)
        blocks = np.array([[0], [n - 1], [0], [m - 1]])
        while blocks.size:
            i0, i1, j0, j1 = blocks
            blocks = blocks[:, self._logs(i0, j1, self._least(i1, j0), rate) > best + ROUNDING / 8]
            i0, i1, j0, j1 = blocks
            if blocks.size:
                i = np.concatenate([i0, (i0 + i1) // 2, i1])
                j = np.concatenate([j1, (j0 + j1) // 2, j0])
                best, cells, decay = max((best, cells, decay), self._best(i, j, rate))
            blocks = _halves(blocks)
        return rounded_up(cells, decay)

    def distance(self, bound: Real, /) -> int | None:
        """Return the least number of units that can cause a window of more cells than the bound."""
        (left, _), (right, _) = self._left, self._right
        limit = math.floor(finite(bound, "bound"))
        if limit < 0 or limit >= int(right[-1]):
            return 0 if limit < 0 else None
        ends = np.searchsorted(right, left + limit, side="right")
        fits = ends < right.size
        if not fits.any():
            return None
        return int(self._least(np.flatnonzero(fits), ends[fits]).min())

    def _least(self, i: Cells, j: Cells) -> Cells:
        """Return the least number of units that can cause the window from each left to each right end."""
        return np.maximum(np.minimum(self._needed(i, j, 0), self._needed(i, j, self._step)), 0)

    def _needed(self, i: Cells, j: Cells, first: int) -> Cells:
        """Return that number where the last step moves the left end by ``first``, and the right one by the rest."""
        high, low, scale = self._third
        start, end = self._left[1][i] + first, self._right[1][j] - (self._step - first)
        most = np.maximum(-(start // self._step), end // self._step + 1)
        return np.asarray(np.maximum(most, (high * end - low * start) // scale + 1))

    def _logs(self, i: Cells, j: Cells, levels: Cells, rate: float) -> npt.NDArray[np.float64]:
        cells = np.maximum((self._right[0][j] - self._left[0][i]).astype(np.float64), 0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(cells) - rate * levels.astype(np.float64))

    def _best(self, i: Cells, j: Cells, rate: float) -> tuple[float, float, float]:
        """Return the largest of some windows, in logarithms, its cells, and what they are to be multiplied by."""
        levels = self._least(i, j)
        logs = self._logs(i, j, levels, rate)
        place = int(np.argmax(logs))
        cells = max(int(self._right[0][j[place]]) - int(self._left[0][i[place]]), 0)
        return float(logs[place]), float(cells), rate * int(levels[place])

    def _around(self, rate: float) -> tuple[Cells, Cells]:
        """Return a few windows that are often good: those of units that go on both sides of the rank."""
        p, unit, step = Fraction(self._function.probability), self._function.unit, self._step
        numbers = [0, *(int(2 ** (e / 4) / rate) for e in range(-16, 17))]
        starts = np.array([-p.numerator * unit * k for k in numbers], dtype=object)
        ends = np.array([(p.denominator - p.numerator) * unit * k + step for k in numbers], dtype=object)
        first, last = self._left[1][0], self._right[1][-1]
        starts, ends = np.maximum(starts, first), np.minimum(ends, last)
        i = np.searchsorted(self._left[1], starts.astype(self._left[1].dtype))
        j = np.searchsorted(self._right[1], ends.astype(self._right[1].dtype))
        return np.minimum(i, self._left[0].size - 1), np.maximum(j - 1, 0)


def _halves(blocks: Cells) -> Cells:
    """Cut every block of more than one pair in two, across its longer side; single pairs are done with."""
    i0, i1, j0, j1 = blocks
    tall, wide = i1 - i0, j1 - j0
    across = (tall >= wide) & (tall > 0)
    along = ~across & (wide > 0)
    a, b = blocks[:, across], blocks[:, along]
    middle, centre = (a[0] + a[1]) // 2, (b[2] + b[3]) // 2
    return np.concatenate(
        [
            np.array([a[0], middle, a[2], a[3]]),
            np.array([middle + 1, a[1], a[2], a[3]]),
            np.array([b[0], b[1], b[2], centre]),
            np.array([b[0], b[1], centre + 1, b[3]]),
        ],
        axis=1,
    )


def _whole(values: Any, missing: int) -> Cells:  # noqa: ANN401 - a vector of numbers
    """Return whole numbers of 64 bits; a list that is not all integers is read one by one, as floats would round."""
    with Silence():
        return _read(once(values), missing)


def _read(rows: Any, missing: int) -> Cells:  # noqa: ANN401
    given = column(rows)
    kind = given.dtype.kind if isinstance(given, np.ndarray) else ""
    if isinstance(given, np.ndarray) and kind in "biu":
        return (np.minimum(given, INT64[1]) if kind == "u" else given).astype(np.int64)
    if isinstance(given, np.ndarray) and hasattr(rows, "__array__"):
        floats = given.astype(np.float64)
        known, high = ~np.isnan(floats), floats >= -float(INT64[0])
        found = np.where(known & ~high, np.maximum(floats, INT64[0]), 0.0).astype(np.int64)
        return np.where(known, np.where(high, INT64[1], found), missing)
    return np.array([_cut(value, missing) for value in (rows if kind else given)], dtype=np.int64)


def _cut(value: object, missing: int) -> int:
    read = number(value)
    if read != read:
        return missing
    return int(min(max(read, INT64[0]), INT64[1]))


def _merged(places: Cells, counts: Cells) -> tuple[Cells, Cells]:
    """Return sorted cells, each once, with all of its weight; sums of weights stop at 64 bits."""
    order = np.argsort(places, kind="stable")
    cells, starts = np.unique(places[order], return_index=True)
    if float(counts.max()) * counts.size < SAFE:
        return cells, np.add.reduceat(counts[order], starts)
    exact = np.add.reduceat(counts[order].astype(object), starts)
    return cells, exact
