"""Estimates with their uncertainty."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.exact import probability

__all__ = ["Estimate", "from_share"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value, its standard error and an interval that covers the truth at the stated confidence.

    The value may fall outside [0, 1]: it is unbiased. Clip it for display, never the interval.
    """

    value: float
    standard_error: float
    low: float
    high: float
    confidence: float

    def clipped(self) -> float:
        """Return the value forced into [0, 1]."""
        return min(max(self.value, 0.0), 1.0)


def from_share(said: npt.NDArray[np.bool_], truth: float, other: float, confidence: float) -> Estimate:
    """Invert a design in which a true yes is reported with probability ``truth`` and a true no with ``other``.

    The interval is that of Clopper and Pearson for the reported share, carried over: it covers for every sample size.

    >>> round(from_share(np.arange(1000) < 400, 0.75, 0.25, 0.95).value, 6)
    0.3
    """
    from scipy.special import betaincinv

    if not said.size:
        raise InvalidInput("an estimate needs at least one answer.")
    share, spread = float(np.mean(said)), truth - other
    value = (share - other) / spread
    error = math.sqrt(share * (1 - share) / said.size) / abs(spread)
    tail = (1 - float(probability(confidence, "confidence"))) / 2
    n, k = said.size, int(np.sum(said))
    ends = (
        float(betaincinv(k, n - k + 1, tail)) if k else 0.0,
        float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0,
    )
    low, high = sorted((end - other) / spread for end in ends)
    return Estimate(value=value, standard_error=error, low=low, high=high, confidence=float(confidence))
