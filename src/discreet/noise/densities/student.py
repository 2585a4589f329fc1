"""Student's t law."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, finite
from discreet.noise.fast import Floats, within_slack

__all__ = ["StudentT"]


@dataclass(frozen=True, slots=True)
class StudentT:
    """Density proportional to ``(1 + z^2 / d)^(-(d + 1) / 2)`` with d >= 1 degrees of freedom.

    ``P[|Z| >= z]`` is the regularised incomplete beta function ``I(d/2, 1/2)`` at ``d / (d + z^2)``. The slack allows
    scipy's inverse of it an error of ``(1 + z) 2^-34``, thousands of times what is seen.
    """

    degrees: Real
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not Fraction(1) <= finite(self.degrees, "degrees") <= 1000:
            raise InvalidParameter("degrees must lie between 1 and 1000; below 1 use Cauchy noise, above a Gaussian.")

    def inverse(self, v: Floats, /) -> Floats:
        """Return the inverse survival function, through the smaller of the two beta variables."""
        from scipy.special import betainccinv, betaincinv

        d = float(self.degrees)
        rest, share = betaincinv(d / 2, 0.5, v), betainccinv(0.5, d / 2, v)
        return np.sqrt(d * np.where(rest < 0.5, (1 - rest) / rest, share / (1 - share)))

    def slack(self, z: Floats, /) -> Floats:
        """Bound the error of the inverse, generously; infinite if scipy's inverse fails its self-test."""
        return _slack(z) if _trusted(self) else np.full_like(z, np.inf)

    def survival(self, z: arb, /) -> arb:
        """Return the regularised incomplete beta function, or one minus its complement where that converges faster."""
        if not z > 0:
            return arb(1)
        d, square = ball(self.degrees), z * z
        if square < d:
            return 1 - (square / (d + square)).beta_lower(arb(0.5), d / 2, regularized=True)
        return (d / (d + square)).beta_lower(d / 2, arb(0.5), regularized=True)


def _slack(z: Floats) -> Floats:
    return (1 + z) * 2.0**-34


@lru_cache(maxsize=256)
def _trusted(density: StudentT) -> bool:
    return within_slack(density.inverse, _slack, density.survival)
