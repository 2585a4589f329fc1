"""The Laplace and exponential laws with scale 1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.noise.fast import SLACK, Floats

__all__ = ["Exponential", "Laplace"]


@dataclass(frozen=True, slots=True)
class Exponential:
    """Density ``exp(-z)`` on z >= 0; ``dz / d log v = 1``, so the slack is that of the logarithm."""

    symmetric: ClassVar[bool] = False

    def inverse(self, v: Floats, /) -> Floats:
        """Return -log v."""
        return -np.log(v)

    def slack(self, z: Floats, /) -> float:
        """Bound the error of the logarithm."""
        return SLACK

    def survival(self, z: arb, /) -> arb:
        """Return exp(-z), or 1 below 0."""
        return (-z).exp().min(arb(1))

    def quantile(self, v: arb, /) -> arb:
        """Return -log v."""
        return -v.log()


@dataclass(frozen=True, slots=True)
class Laplace(Exponential):
    """Density ``exp(-|z|) / 2``."""

    symmetric: ClassVar[bool] = True
