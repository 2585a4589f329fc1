"""Arrays of numbers with an interval for each, and arithmetic that keeps the interval true.

If every input lies in its interval, so does every result, by interval arithmetic. Inputs that hold with probability
``1 - beta / k`` each therefore give results that hold with ``1 - beta``, whatever the noise does jointly.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Box", "Floats"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Box:
    """Values with their lower and upper ends.

    >>> n = Box.around(np.array([100.0]), 10.0)
    >>> ratio = Box.around(np.array([500.0]), 20.0) / n
    >>> float(ratio.value[0]), round(float(ratio.low[0]), 3), round(float(ratio.high[0]), 3)
    (5.0, 4.364, 5.778)
    """

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def around(cls, value: Floats, error: float) -> "Box":
        """Return values that are off by at most an error."""
        return cls(value, value - error, value + error)

    def __add__(self, shift: "Box | float") -> "Box":
        if isinstance(shift, Box):
            return Box(self.value + shift.value, self.low + shift.low, self.high + shift.high)
        return Box(self.value + shift, self.low + shift, self.high + shift)

    def __neg__(self) -> "Box":
        return Box(-self.value, -self.high, -self.low)

    def __sub__(self, other: "Box") -> "Box":
        return self + -other

    def __mul__(self, other: "Box") -> "Box":
        with np.errstate(invalid="ignore"):
            products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        ends = [np.where(np.isnan(end), 0.0, end) for end in products]  # infinity times 0
        return Box(self.value * other.value, np.minimum.reduce(ends), np.maximum.reduce(ends))

    def __truediv__(self, count: "Box") -> "Box":
        """Divide by a number of rows, which is at least 1 where it is above 0: below, nothing is known."""
        low, high = np.maximum(count.low, 1.0), np.maximum(count.high, 1.0)
        ends = [a / b for a in (self.low, self.high) for b in (low, high)]
        known = count.low > 0
        return Box(
            self.value / np.maximum(count.value, 1.0),
            np.where(known, np.minimum.reduce(ends), -np.inf),
            np.where(known, np.maximum.reduce(ends), np.inf),
        )

    def squared(self) -> "Box":
        """Return the squares."""
        a, b = self.low**2, self.high**2
        least = np.where((self.low <= 0) & (self.high >= 0), 0.0, np.minimum(a, b))
        return Box(self.value**2, least, np.maximum(a, b))

    def root(self) -> "Box":
        """Return the roots, of 0 where a number is negative."""
        return Box(*(np.sqrt(np.maximum(end, 0.0)) for end in (self.value, self.low, self.high)))

    def over(self, other: "Box") -> "Box":
        """Divide by numbers that are not negative; nothing is known where they may be 0."""
        known = other.low > 0
        low, high = np.where(known, other.low, 1.0), np.where(known, other.high, 1.0)
        ends = [a / b for a in (self.low, self.high) for b in (low, high)]
        value = np.divide(self.value, other.value, out=np.zeros_like(self.value), where=other.value > 0)
        return Box(
            value,
            np.where(known, np.minimum.reduce(ends), -np.inf),
            np.where(known, np.maximum.reduce(ends), np.inf),
        )

    def widened(self, by: float) -> "Box":
        """Return the same values with ends that are further away, as for numbers that were rounded."""
        return Box(self.value, self.low - by, self.high + by)

    def clipped(self, low: float, high: float) -> "Box":
        """Move everything to the nearer end of an interval in which the true numbers certainly lie."""
        return Box(*(np.clip(end, low, high) for end in (self.value, self.low, self.high)))

    @property
    def error(self) -> float:
        """The largest distance of an end from its value."""
        return float(np.max(np.maximum(self.high - self.value, self.value - self.low), initial=0.0))
