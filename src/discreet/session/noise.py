"""Noise for one measure over all groups: integer Laplace or discrete Gaussian, calibrated to a sensitivity.

A unit changes at most ``groups`` entries, each by at most the larger end of the measure's range, so the L1 sensitivity
is their product and the squared L2 sensitivity ``groups`` times the square. Substituting a unit is removing it and
adding another: twice as much of each, or the width of the range where there is a single group.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import DiscreteGaussian, Geometric
from discreet.noise import discrete_gaussian, discrete_laplace
from discreet.units import Relation

__all__ = ["BLOCK", "Noise", "NoiseKind", "Reach"]

NoiseKind = Literal["gaussian", "laplace", "none"]

BLOCK = 65_536
"""Noise is drawn in multiples of this many, so that the time it takes tells little about the number of groups."""

WIDE = 1e5
"""From this sigma on the discrete Gaussian's tail is read off the continuous one, with room to spare."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one unit can move a measure: in how many groups, between which ends, under which relation."""

    groups: int
    low: int
    high: int
    relation: Relation
    single: bool = False

    @property
    def first(self) -> int:
        """The L1 sensitivity.

        >>> Reach(3, 0, 5, "add_remove").first, Reach(1, 0, 5, "replace_one", single=True).first
        (15, 5)
        """
        most = max(abs(self.low), abs(self.high))
        if self.relation == "add_remove":
            return max(1, self.groups * most)
        if self.single:
            return max(1, max(self.high, 0) - min(self.low, 0))
        return max(1, 2 * self.groups * most)

    @property
    def squared(self) -> int:
        """The square of the L2 sensitivity."""
        most = max(abs(self.low), abs(self.high))
        if self.relation == "add_remove":
            return max(1, self.groups * most**2)
        width = max(self.high, 0) - min(self.low, 0)
        if self.single:
            return max(1, width**2)
        return max(1, 2 * self.groups * most**2, self.groups * width**2)


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of one measure. ``spread`` is the scale of Laplace noise, or the variance of Gaussian noise."""

    kind: NoiseKind
    reach: Reach
    spread: Fraction = Fraction(0)

    @classmethod
    def laplace(cls, reach: Reach, epsilon: Fraction) -> "Noise":
        """Return integer Laplace noise that costs epsilon."""
        return cls("laplace", reach, reach.first / epsilon)

    @classmethod
    def gaussian(cls, reach: Reach, rho: Fraction) -> "Noise":
        """Return discrete Gaussian noise that costs rho."""
        return cls("gaussian", reach, reach.squared / (2 * rho))

    @property
    def loss(self) -> PrivacyLoss:
        """What it costs."""
        if self.kind == "laplace":
            loss = PrivacyLoss.discrete_laplace(sensitivity=self.reach.first, scale=self.spread)
        elif self.kind == "gaussian":
            loss = PrivacyLoss.discrete_gaussian(squared_sensitivity=self.reach.squared, sigma_squared=self.spread)
        else:
            loss = PrivacyLoss.pure(0)
        return loss.under(self.reach.relation)

    def draw(self, size: int, *, private: bool = False) -> npt.NDArray[np.object_]:
        """Return noise for a number of groups, as Python's whole numbers: sums with it never overflow.

        If the number of groups is private, whole blocks are drawn.
        """
        padded = -(-size // BLOCK) * BLOCK if private else size
        if self.kind == "none":
            return np.zeros(size, dtype=object)
        drawn = discrete_laplace(self.spread, size=padded) if self.kind == "laplace" else self._gaussian(padded)
        return np.asarray(drawn)[:size].astype(object)

    def _gaussian(self, size: int) -> npt.NDArray[np.generic]:
        return np.asarray(discrete_gaussian(self.sigma, size=size))

    @property
    def sigma(self) -> float:
        """The standard deviation of Gaussian noise, rounded up."""
        return math.sqrt(float(self.spread)) * (1 + 2**-50)

    def error(self, beta: float) -> int:
        """Return the least t, or a little more, with ``P[|Z| > t] <= beta``."""
        if self.kind == "none":
            return 0
        if self.kind == "laplace":
            return Geometric(sensitivity=self.reach.first, scale=self.spread).error(beta)
        if self.sigma < WIDE:
            return DiscreteGaussian(sensitivity=1, sigma=self.sigma).error(beta)
        from scipy.special import ndtri

        return math.ceil(-float(ndtri(beta / 2)) * self.sigma * (1 + 1e-9)) + 2

    def told(self, step: float) -> str:
        """Say what noise it is, in units of what is measured: a step of its grid is so much."""
        if self.kind == "none":
            return "no noise: public"
        if self.kind == "laplace":
            return f"integer Laplace noise, scale {_short(float(self.spread) * step)}"
        return f"discrete Gaussian noise, sigma {_short(self.sigma * step)}"

    def __str__(self) -> str:
        return self.told(1.0)


def _short(value: float) -> str:
    return f"{round(value):,}" if value >= 1000 else f"{value:.3g}"
