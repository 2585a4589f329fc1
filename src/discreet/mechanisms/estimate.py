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

    >>> round(from_share(np.arange(1000) < 400, 0.75, 0.25, 0.95).value, 6)
    0.3
    """
    from scipy.special import ndtri

    if not said.size:
        raise InvalidInput("an estimate needs at least one answer.")
    share, spread = float(np.mean(said)), truth - other
    value = (share - other) / spread
    error = math.sqrt(share * (1 - share) / said.size) / abs(spread)
    reach = float(ndtri((1 + float(probability(confidence, "confidence"))) / 2)) * error
    return Estimate(
        value=value, standard_error=error, low=value - reach, high=value + reach, confidence=float(confidence)
    )
