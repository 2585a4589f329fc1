"""Lattices to be summed: their tilted masses and moments, and where the sum of their losses lies."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.accounting.numerical.lattice import Lattice, Places
from discreet.accounting.numerical.pairs import Floats

__all__ = ["OUTSIDE", "UNIT", "Moments", "Parts", "Window", "saddle_point", "window"]

UNIT = 2.0**-53
OUTSIDE = 1e-10
"""Tilted mass that may lie outside the window, on each side."""

Moments = tuple[float, float, float]
"""The log-moment function of a sum at some tilt, and its first two derivatives: mean and variance."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Lattices of one step, laid end to end, with the number of times each is used."""

    step: float
    shift: float
    places: Places
    mass: Floats
    starts: Places
    sizes: Places
    counts: Floats

    @classmethod
    def of(cls, lattices: Sequence[tuple[Lattice, int]]) -> "Parts":
        """Lay lattices end to end, those that weigh most first."""
        ordered = sorted(lattices, key=lambda item: -item[1] * item[0].places.size)
        sizes = np.array([lattice.places.size for lattice, _ in ordered], dtype=np.int64)
        return cls(
            step=ordered[0][0].step,
            shift=math.fsum(lattice.anchor * count for lattice, count in ordered),
            places=np.concatenate([lattice.places for lattice, _ in ordered]),
            mass=np.concatenate([lattice.mass for lattice, _ in ordered]),
            starts=np.cumsum(sizes) - sizes,
            sizes=sizes,
            counts=np.array([count for _, count in ordered], dtype=np.float64),
        )

    def tilted(self, theta: float) -> tuple[Floats, float]:
        """Return the masses times ``e^(theta l)``, each lattice scaled to 1, and the log of the product of totals."""
        weights, logs = self._scaled(theta)
        return weights, float(np.dot(self.counts, logs[0] + logs[1]))

    def rounding(self, theta: float) -> float:
        """Return a bound on the error of that logarithm."""
        _, logs = self._scaled(theta)
        return 8 * UNIT * float(np.dot(self.counts, np.abs(logs[0]) + np.abs(logs[1]) + 1))

    def _scaled(self, theta: float) -> tuple[Floats, tuple[Floats, Floats]]:
        tops = self.places[self.starts + (self.sizes - 1 if theta >= 0 else 0)]
        weights = self.mass * np.exp(theta * self.step * (self.places - self._spread(tops)))
        totals = np.add.reduceat(weights, self.starts)
        weights /= self._spread(totals)
        return weights, (np.log(totals), theta * self.step * tops)

    def moments(self, theta: float) -> Moments:
        """Return the log-moment function of the summed loss, less its anchors, and its first two derivatives."""
        weights, value = self.tilted(theta)
        losses = self.places * self.step
        means = np.add.reduceat(weights * losses, self.starts)
        variances = np.add.reduceat(weights * (losses - self._spread(means)) ** 2, self.starts)
        return value, float(np.dot(self.counts, means)), float(np.dot(self.counts, variances))

    def usual(self) -> float:
        """Return the mean size of the loss of one release."""
        sizes = np.add.reduceat(self.mass * np.abs(self.places), self.starts) * self.step
        return float(np.dot(self.counts, sizes) / self.counts.sum())

    def _spread(self, values: Any) -> Any:  # noqa: ANN401 - an array of any type, and of the same type
        """Return one value of each lattice at each of its points."""
        return values if self.sizes.size == 1 else np.repeat(values, self.sizes)


def saddle_point(parts: Parts, *, log_delta: float | None = None, epsilon: float | None = None) -> float:
    """Return a tilt whose saddle point lies near the epsilon of a given delta, or near a given epsilon.

    By Chernoff's bound for the hockey stick, ``delta <= e^(K(theta) - theta epsilon) / (1 + theta)``; at the saddle
    point epsilon is the tilted mean. Every tilt gives a valid bound; this one a good one.
    """
    narrow = 1e-6 * parts.moments(0.0)[2]

    def beyond(theta: float) -> tuple[bool, bool]:
        value, mean, variance = parts.moments(theta)
        if log_delta is not None:
            return value - theta * mean - math.log1p(theta) < log_delta, variance < narrow
        return mean + parts.shift > (epsilon or 0.0), variance < narrow

    low, high = 0.0, 1.0
    while high < 2.0**60:
        enough, shrunk = beyond(high)
        if enough:
            break
        if shrunk:  # the law has shrunk to the largest loss: no tilt reaches further
            return low
        low, high = high, 2 * high
    for _ in range(40):
        if high - low < 0.04 * high:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle)[0] else (middle, high)
    return (low + high) / 2


@dataclass(frozen=True, slots=True)
class Window:
    """Losses beyond which the tilted mass is below ``OUTSIDE``, by Chernoff's bound with these changes of the tilt."""

    low: float
    high: float
    changes: tuple[float, float]

    @property
    def width(self) -> float:
        """How far it is from one end to the other."""
        return self.high - self.low


def window(parts: Parts, theta: float, around: Moments, changes: tuple[float, float] | None = None) -> Window:
    """Return a window for the law that is tilted by theta; where no changes of the tilt are given, try some."""
    value, mean, variance = around
    reach = -math.log(OUTSIDE)
    if not variance > 0:
        return Window(mean, mean, (-1.0, 1.0))
    unit = math.sqrt(2 * reach / variance)
    ends: list[tuple[float, float]] = []
    for side in (0, 1):
        best = (math.inf, 0.0)
        for change in [changes[side]] if changes else [(2 * side - 1) * unit * 0.7**i for i in range(16)]:
            bound = (parts.tilted(theta + change)[1] - value + reach) / abs(change)
            if bound > best[0]:
                break
            if math.isfinite(bound):
                best = bound, change
        ends.append(best)
    (low, down), (high, up) = ends
    return Window(min(-low, mean), max(high, mean), (down, up))
