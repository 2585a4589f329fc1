"""What is known of an error before any data."""

from dataclasses import dataclass

from discreet.noise.fast import Floats

__all__ = ["Expected"]


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """The expected sum of the squared errors of all answers, and the standard deviation of each.

    >>> import numpy as np
    >>> Expected(5.0, np.array([1.0, 2.0])).largest
    2.0
    """

    total: float
    deviations: Floats

    @property
    def largest(self) -> float:
        """The standard deviation of the least accurate answer."""
        return float(self.deviations.max())

    def __repr__(self) -> str:
        return f"Expected(total={self.total:.6g}, largest={self.largest:.6g})"
