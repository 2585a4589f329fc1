"""Bounded numbers in rising order, between two sentinels: what every order statistic looks at.

Records are read so that nothing but their values can matter: whatever is missing or no number counts as the lower
bound, whatever lies outside the bounds as the nearer one, and no error tells which records there were. Numbers are read
as float64, so integers beyond 2^53 are rounded. Work goes block by block, so that ten million records cost one array
and stay in the cache.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter, UnboundedSensitivity
from discreet.exact import Real, finite, log2_floor
from discreet.quietly import Silence
from discreet.sensitivity.smooth.column import column, number

__all__ = ["Bounds", "Fixed", "Floats", "check_bounds", "numbers", "sample"]

Bounds = tuple[Real, Real]
Floats = npt.NDArray[np.float64]

BLOCK = 1 << 16
ADDENDS = 1 << 11
"""So many indices of a ``Fixed`` grid, each below 2^52, add up within 63 bits."""


def check_bounds(bounds: object, *, query: str, example: str) -> tuple[float, float]:
    """Return public bounds as two floats, or say what is wrong with them.

    >>> check_bounds((0, 120), query="median", example="Median(bounds=(0, 120))")
    (0.0, 120.0)
    >>> check_bounds(None, query="median", example="Median(bounds=(0, 120))")
    Traceback (most recent call last):
    discreet.errors.UnboundedSensitivity: the median has no bounds, so one person could move it without limit.
    Write Median(bounds=(0, 120)).
    """
    if bounds is None:
        raise UnboundedSensitivity(
            f"the {query} has no bounds, so one person could move it without limit. Write {example}."
        )
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        raise InvalidParameter(f"bounds must be a pair (lower, upper), got {type(bounds).__name__}. Write {example}.")
    low, high = float(finite(bounds[0], "the lower bound")), float(finite(bounds[1], "the upper bound"))
    if not low < high:
        raise InvalidParameter(f"the lower bound must be below the upper bound, as floats too, got ({low}, {high}).")
    return low, high


class Fixed:
    """The multiples of a power of two, 2^-51 of what covers both bounds: floats whose sums are exact.

    A number plus ``shift`` has exactly the bits that count, so rounding is an addition and the bits are the index.

    >>> grid = Fixed((0.0, 100.0))
    >>> total = grid.total(grid.rounded(np.array([0.1, 0.2, 99.0])))
    >>> abs(total - Fraction("99.3")) < 3 * grid.step
    True
    """

    __slots__ = ("shift", "step")

    def __init__(self, bounds: tuple[float, float]) -> None:
        largest = Fraction(max(map(abs, bounds)))
        exponent = log2_floor(largest) + (largest > Fraction(2) ** log2_floor(largest))
        self.step = Fraction(2) ** (exponent - 51)
        self.shift = math.ldexp(3.0, exponent)

    def rounded(self, values: Floats) -> Floats:
        """Move numbers between the bounds to the nearest multiple, in place."""
        values += self.shift
        values -= self.shift
        return values

    def total(self, values: Floats) -> Fraction:
        """Add multiples without any rounding."""
        zero = int(np.float64(self.shift).view(np.int64))
        steps = 0
        for part in _blocks(values.size):
            indices = (values[part] + self.shift).view(np.int64) - zero
            steps += sum(np.add.reduceat(indices, np.arange(0, indices.size, ADDENDS)).tolist())
        return steps * self.step


def sample(
    records: Any,  # noqa: ANN401 - any numbers
    bounds: tuple[float, float],
    *,
    size: int | None = None,
    least: int = 0,
    grid: Fixed | None = None,
) -> Floats:
    """Return the lower bound, the numbers in rising order, and the upper bound.

    Where a ``size`` is public, the least ``size`` numbers are kept if there are more; missing ones, also below
    ``least``, count as the lower bound. Either way neighbours stay neighbours, in whatever order records come:
    replacing a number replaces at most one among the least.

    >>> sample([5, None, 70, -3], (0, 10))
    array([ 0.,  0.,  0.,  5., 10., 10.])
    >>> sample([7, 6, 5], (0, 10), size=2), sample([5], (0, 10), least=3)
    (array([ 0.,  5.,  6., 10.]), array([ 0.,  0.,  0.,  5., 10.]))
    """
    low, high = bounds
    given = numbers(records, low, high)
    n = max(given.size, size or 0, least)
    points = np.empty(n + 2)
    with np.errstate(all="ignore"):
        for part in _blocks(given.size):
            inside = points[1 + part.start : 1 + part.stop]
            np.fmax(given[part], np.float64(low), out=inside)  # fmax and fmin pass over what is not a number
            np.fmin(inside, high, out=inside)
    points[1 + given.size : -1] = low
    points[0], points[-1] = low, high
    if grid is not None:
        for part in _blocks(points.size):
            grid.rounded(points[part])
    points[1:-1].sort()
    kept = max(size, least) if size is not None else n
    return points if kept == n else np.append(points[: 1 + kept], points[-1])


def numbers(records: Any, low: float, high: float) -> npt.NDArray[Any]:  # noqa: ANN401 - any numbers
    """Return a vector that can be clamped: as it is, or read one by one where floats would not hold its numbers."""
    with Silence():
        given = column(records)
        if not isinstance(given, np.ndarray):
            return np.array([_clamped(row, low, high) for row in given], dtype=np.float64)
    if given.ndim != 1:
        raise InvalidInput(f"a sample is a vector of numbers, got {given.ndim} dimensions. Pass one column.")
    return given


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK))


def _clamped(value: object, low: float, high: float) -> float:
    """Return a number between the bounds, clamped while it is exact."""
    read = number(value)
    return low if read != read else float(min(max(read, low), high))
