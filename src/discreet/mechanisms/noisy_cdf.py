"""What a noisy distribution function tells: shares, quantiles, and bins of equal mass."""

import math
from dataclasses import dataclass

import numpy as np

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, probability
from discreet.noise.fast import Floats

__all__ = ["NoisyCDF"]


@dataclass(frozen=True, slots=True, eq=False)
class NoisyCDF:
    """How many people are below each edge of the cells of a grid: from 0 to ``total``, and never falling.

    Between two edges they are taken as spread evenly.

    >>> some = NoisyCDF.monotone((0.0, 4.0), np.array([0.0, 3.0, 2.0, 9.0, 8.0]), 8.0)
    >>> some.below.tolist(), some.total
    ([0.0, 2.5, 2.5, 8.0, 8.0], 8.0)
    >>> some.cdf(0.5), some.quantile(0.5), some.bins(2).tolist()
    (0.15625, 2.2727272727272725, [0.0, 2.2727272727272725, 4.0])
    """

    bounds: tuple[float, float]
    below: Floats

    @classmethod
    def monotone(cls, bounds: tuple[float, float], estimates: Floats, total: float | None = None) -> "NoisyCDF":
        """Return the mean of the running maximum and of the running minimum from the end, from 0 to the total.

        Where the total is not known, it is the last estimate after that.
        """
        rising = np.maximum.accumulate(estimates)
        falling = np.minimum.accumulate(estimates[::-1])[::-1]
        both = (rising + falling) / 2
        most = max(0.0, float(both[-1])) if total is None else total
        both = np.clip(both, 0.0, most)
        both[0], both[-1] = 0.0, most
        return cls(bounds, both)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.below) - 1

    @property
    def total(self) -> float:
        """How many people there are."""
        return float(self.below[-1])

    @property
    def edges(self) -> Floats:
        """The edges of the cells."""
        return np.linspace(*self.bounds, self.size + 1)

    def count(self, x: float, /) -> float:
        """Return how many people are below x."""
        low, high = self.bounds
        place = (float(x) - low) / (high - low) * self.size
        if math.isnan(place):
            raise InvalidInput("a point must be a number.")
        return float(np.interp(place, np.arange(self.size + 1), self.below))

    def cdf(self, x: float, /) -> float:
        """Return the share of people below x; 0 if there is nobody."""
        return self.count(x) / self.total if self.total else 0.0

    def quantile(self, q: Real, /) -> float:
        """Return the point with a share q of all people below it, the middle of all such points."""
        share = float(probability(q, "q", zero=True, one=True)) * self.total
        return self._at((self._place(share, "left") + self._place(share, "right")) / 2)

    def bins(self, k: int, /) -> Floats:
        """Return the edges of k bins that hold about as many people each, for a histogram to be made later.

        Where many have the same value, fewer bins come out: no edge is there twice.
        """
        if type(k) is not int or k < 1:
            raise InvalidParameter(f"the number of bins must be a whole number of at least 1, got {k!r}.")
        inner = [self.quantile(i / k) for i in range(1, k)]
        return np.unique(np.array([self.bounds[0], *inner, self.bounds[1]]))

    def __repr__(self) -> str:
        return f"<distribution of {self.total:.6g} people over {self.size} cells>"

    def _place(self, count: float, side: str) -> float:
        """Return the first or the last place, in cells, with so many people below it."""
        if side == "left":
            i = min(int(np.searchsorted(self.below, count, side="left")), self.size)
            lower, upper = max(i - 1, 0), i
        else:
            i = max(int(np.searchsorted(self.below, count, side="right")) - 1, 0)
            lower, upper = i, min(i + 1, self.size)
        step = self.below[upper] - self.below[lower]
        return lower + (float((count - self.below[lower]) / step) if step > 0 else 0.0)

    def _at(self, place: float) -> float:
        low, high = self.bounds
        return min(max(low + (high - low) * place / self.size, low), high)
