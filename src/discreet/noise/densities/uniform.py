"""The uniform law on the unit interval."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.noise.fast import SLACK, Floats

__all__ = ["Uniform"]


@dataclass(frozen=True, slots=True)
class Uniform:
    """Density 1 on [0, 1]."""

    symmetric: ClassVar[bool] = False

    def inverse(self, v: Floats, /) -> Floats:
        """Return 1 - v."""
        return np.subtract(1.0, v)

    def slack(self, z: Floats, /) -> float:
        """Bound the rounding of v and the width of its cell, with room."""
        return SLACK

    def survival(self, z: arb, /) -> arb:
        """Return 1 - z, clamped to the unit interval."""
        return (1 - z).min(arb(1)).max(arb(0))
