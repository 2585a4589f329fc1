"""A vicinity told level by level."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, show
from discreet.sensitivity.smooth.distance import check_distance
from discreet.sensitivity.smooth.function import ROUNDING

__all__ = ["Levels", "rate_of", "rounded_up"]

FASTEST = 10**6
"""Whatever decays so fast is 0 after one step."""

LEAST = 2.0**-500

FARTHEST = 1 << 70
"""A distance within which there is every data set."""
"""A smooth bound is at least so much: the maximum with a constant stays smooth, and float64 stays away from 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """A value and ``A(x, 0), A(x, 1), ...`` up to a level that is never exceeded.

    The median of five numbers between 0 and 6:

    >>> median = Levels(value=3.0, levels=np.array([2.0, 3, 4, 5, 6]))
    >>> median.local(1), median.distance(4), median.distance(6)
    (3.0, 3, None)
    >>> round(median.smooth(0.1), 6)
    4.02192
    """

    value: Real | npt.NDArray[np.float64]
    levels: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", _kept(self.levels))
        if isinstance(self.value, np.ndarray):
            object.__setattr__(self, "value", _kept(self.value))

    def local(self, distance: int = 0, /) -> float:
        """Return the level, or the last one beyond it."""
        return float(self.levels[min(check_distance(distance), self.levels.size - 1)])

    def smooth(self, beta: Real, /) -> float:
        """Return the largest level times ``e^(-beta k)``, compared by logarithms and rounded up."""
        rate = rate_of(beta)
        with np.errstate(divide="ignore"):
            logs = np.log(self.levels) - rate * np.arange(self.levels.size)
        k = int(np.argmax(logs))
        return rounded_up(float(self.levels[k]), rate * k)

    def distance(self, bound: Real, /) -> int | None:
        """Return the first level above the bound, compared exactly: no float lies between it and the nearest one."""
        limit = finite(bound, "bound")
        nearest = float(limit)
        above = self.levels >= nearest if Fraction(nearest) > limit else self.levels > nearest
        return int(np.argmax(above)) if above.any() else None


def _kept(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return a copy that nobody can change."""
    kept = np.array(values, dtype=np.float64)
    kept.setflags(write=False)
    return kept


def rate_of(beta: Real) -> float:
    """Return how fast levels may decay, from 0, which gives the largest level of all: the global sensitivity.

    A bound for a smaller rate holds for a larger one, so rates beyond what floats can tell apart are lowered.

    >>> rate_of(0), rate_of(0.5), rate_of(2**900)
    (0.0, 0.5, 1000000.0)
    """
    exact = finite(beta, "beta")
    if exact < 0:
        raise InvalidParameter(f"beta must be a number from 0 on, got {show(exact)}.")
    return float(min(exact, Fraction(FASTEST)))


def rounded_up(level: float, decay: float) -> float:
    """Return ``level * e^(-decay)`` rounded up, and not below ``LEAST``.

    Which of nearly equal levels is largest, and the rounding of logarithms below 1000 and of the exponential, cost far
    less than half of ``ROUNDING``, which is added.

    >>> rounded_up(2.0, 0.0) > 2.0, rounded_up(0.0, 1.0) == LEAST
    (True, True)
    """
    return max(math.exp(math.log(level) - decay) * (1 + ROUNDING / 2), LEAST) if level > 0 else LEAST
