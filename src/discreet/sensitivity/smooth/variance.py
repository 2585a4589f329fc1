"""The variance of bounded numbers: far less than its global sensitivity where they lie close together."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import Real, show
from discreet.sensitivity.grid import Bounds, Grid, total
from discreet.sensitivity.size import check_size
from discreet.sensitivity.smooth.distance import check_distance, first_above
from discreet.sensitivity.smooth.levels import rate_of, rounded_up
from discreet.sensitivity.smooth.sample import Floats, sample
from discreet.sensitivity.smooth.scalar import Scalar
from discreet.units import Relation

__all__ = ["PopulationVariance", "Squares"]

Integers = npt.NDArray[np.int64]

BLOCK = 1 << 15
HALF = 1 << 20
"""Numbers are squared in two halves of 20 bits, and 2^15 of such products add up within 63 bits."""

MOST_BITS = 400
COARSER = "Write a coarser grid."


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationVariance(Scalar):
    """The variance of n numbers clamped to public bounds and rounded to a public grid, divided by n, exactly.

    With mu the mean of the other n - 1 numbers, moving a number from s to t changes the variance by
    ``((t - mu)^2 - (s - mu)^2) (n - 1) / n^2``. That is largest for t at a bound and s at mu, or the reverse, and
    rises as mu moves away, so the k numbers nearest to that bound are first moved to the other one: ``A(x, k)`` follows
    from sums of the greatest and least numbers, under ``replace_one``. It is exact for real numbers between the bounds,
    and bounds from above on a grid, where the mean may lie between two points. Numbers are read as float64, so integers
    beyond 2^53 are first rounded to such. Levels are rounded to float64 too, ``smooth`` is rounded up.

    >>> steps = PopulationVariance(bounds=(0, 10)).at([4, 5, 6])
    >>> steps.value, round(steps.local(), 4), round(steps.local(3), 4)      # 10^2 * 2 / 9 in the end
    (Fraction(2, 3), 6.2222, 22.2222)
    """

    bounds: Bounds | None = None
    grid: Real | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        grid = self._grid()
        width = grid.highest - grid.lowest
        if width >= HALF**2:
            raise InvalidParameter(f"the bounds are {show(width)} steps of the grid apart, too many. {COARSER}")
        if not (grid.step >= Fraction(2) ** -MOST_BITS and width * grid.step <= Fraction(2) ** MOST_BITS):
            raise InvalidParameter(
                f"the steps of the grid must be at least 2^-{MOST_BITS} and the bounds at most 2^{MOST_BITS} apart, so "
                "that squares are floats. Measure in another unit."
            )
        if self.size is not None:
            object.__setattr__(self, "size", check_size(self.size))

    @property
    def relation(self) -> Relation:
        """The number of records is public: the variance divides by it."""
        return "replace_one"

    @property
    def range(self) -> tuple[Real, Real]:
        """From 0 to a quarter of the squared distance between the bounds (Popoviciu)."""
        grid = self._grid()
        return 0, (grid.upper - grid.lower) ** 2 / 4

    def at(self, records: Any, /) -> "Squares":  # noqa: ANN401 - any numbers
        """Look at a data set."""
        grid = self._grid()
        points = sample(records, (float(grid.lower), float(grid.upper)), size=self.size)[1:-1]
        width = grid.highest - grid.lowest
        if 4 * width * (points.size + 1) >= 1 << 62:
            raise InvalidParameter(
                f"the bounds are {width} steps of the grid apart, too many for so many records. {COARSER}"
            )
        indices = np.asarray(grid.indices(points), dtype=np.int64) - grid.lowest
        n = max(indices.size, 1)
        deviations = _squares(indices) - Fraction(total(indices) ** 2, n)
        return Squares(deviations * grid.step**2 / n, _sides(indices, width), width, float(grid.step))

    def _grid(self) -> Grid:
        return Grid.over(self.bounds, self.grid, query="variance", example="PopulationVariance(bounds=(0, 120))")


class Side(NamedTuple):
    """Sorted numbers as steps from one bound, and at k the sum of all but the k greatest."""

    steps: Integers
    rest: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Sorted numbers seen from the lower and from the upper bound, and how far their variance can move."""

    value: Fraction
    sides: tuple[Side, Side] = field(repr=False)
    width: int
    step: float

    @property
    def size(self) -> int:
        """The number of numbers."""
        return self.sides[0].steps.size

    def local(self, distance: int = 0, /) -> float:
        """Return one level."""
        return float(self._levels(np.array([min(check_distance(distance), self.size)]))[0])

    def smooth(self, beta: Real, /) -> float:
        """Return the largest level times ``e^(-beta k)``, block by block until even the last level would be less."""
        rate = rate_of(beta)
        n = self.size
        last = self.local(n)
        level, decay, best, start, length = 0.0, 0.0, -np.inf, 0, 256
        while start <= n and last > 0 and np.log(last) - rate * start > best:
            distances = np.arange(start, min(start + length, n + 1))
            levels = self._levels(distances)
            with np.errstate(divide="ignore"):
                logs = np.log(levels) - rate * distances
            here = int(np.argmax(logs))
            if logs[here] > best:
                level, decay, best = float(levels[here]), rate * int(distances[here]), float(logs[here])
            start, length = start + length, min(2 * length, 1 << 16)
        return rounded_up(level, decay)

    def distance(self, bound: Real, /) -> int | None:
        """Search the levels."""
        return first_above(self.local, bound)

    def _levels(self, distances: Integers) -> Floats:
        n = self.size
        if n < 2:
            return np.zeros(distances.size)
        upwards, downwards = (_moves(side, self.width, distances) for side in self.sides)
        return np.maximum(upwards, downwards) * (self.step**2 / (n - 1) / n**2)


def _sides(steps: Integers, width: int) -> tuple[Side, Side]:
    """Look from both bounds at numbers in rising order."""
    sums = np.append(0, np.cumsum(steps))
    others = np.arange(steps.size, -1, -1)
    return Side(steps, sums[::-1]), Side(width - steps[::-1], width * others - (sums[-1] - sums))


def _moves(side: Side, width: int, distances: Integers) -> Floats:
    """Return ``(n - 1)^2`` times the largest ``(t - mu)^2 - (s - mu)^2`` for s or t above mu.

    The k greatest of the other numbers are moved to 0. The number that then moves is one of the k itself, free to go
    from anywhere to anywhere; or the greatest left, moving to mu; or one that moves to the upper bound, best from
    ``(width + rest) / (n + 1)`` where ``rest`` is the sum left, or from next to it.
    """
    x, rest = side
    n = x.size
    others = n - 1
    moved = np.minimum(distances, others)
    after = rest[moved + 1]
    free = np.where(distances > 0, width * others - rest[distances], 0).astype(np.float64)
    best: Floats = np.maximum(free**2, (x[-1] * others - after).astype(np.float64) ** 2)
    left = n - moved  # numbers that are not among the k greatest
    sum_left = rest[moved]
    near = np.searchsorted(x, (width + sum_left) // (n + 1), side="right")
    for position in (near - 1, near, near + 1):
        start = x[np.clip(position, 0, left - 1)]
        rise = (width + start) * others - 2 * (sum_left - start)
        best = np.maximum(best, (width - start).astype(np.float64) * others * rise)
    return best


def _squares(steps: Integers) -> int:
    """Add squares without rounding or overflow."""
    found = 0
    for start in range(0, steps.size, BLOCK):
        block = steps[start : start + BLOCK]
        high, low = block >> 20, block & (HALF - 1)
        found += int(high @ high) * HALF**2 + 2 * int(high @ low) * HALF + int(low @ low)
    return found
