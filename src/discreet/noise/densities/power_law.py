"""The two-sided power law with a Laplace limit."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, finite
from discreet.noise.fast import SLACK, Floats

__all__ = ["PowerLaw"]


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """Density proportional to ``(1 + |z|)^(-a)`` for a > 1.

    ``P[|Z| >= z] = (1 + z)^(1 - a)``, hence ``z = v^(-1/(a - 1)) - 1`` and ``dz / d log v = (1 + z) / (a - 1)``. The
    mean exists for a > 2, the variance for a > 3; scaled by a the law tends to Laplace as a grows.
    """

    exponent: Real
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if finite(self.exponent, "exponent") < Fraction(11, 10):
            raise InvalidParameter("exponent must be at least 1.1: heavier tails have no useful quantiles.")

    def inverse(self, v: Floats, /) -> Floats:
        """Return v^(-1/(a-1)) - 1."""
        return np.expm1(np.log(v) * (-1 / (float(self.exponent) - 1)))

    def slack(self, z: Floats, /) -> Floats:
        """Bound the error of the inverse: that of the logarithm, carried by the derivative, and of ``expm1``."""
        return (1 + z) * (SLACK * (1 + 2 / (float(self.exponent) - 1)))

    def survival(self, z: arb, /) -> arb:
        """Return (1 + z)^(1 - a)."""
        return ((1 + z).log() * (1 - ball(self.exponent))).exp()
