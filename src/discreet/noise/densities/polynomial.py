"""The law with density proportional to 1 / (1 + |z|^gamma): the admissible noise of smooth sensitivity."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, finite
from discreet.noise.fast import Floats, within_slack

__all__ = ["Polynomial"]


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Density proportional to ``1 / (1 + |z|^gamma)`` for ``gamma >= 1.1`` (Nissim, Raskhodnikova, Smith, STOC 2007).

    With B of law Beta(1/gamma, 1 - 1/gamma), ``|Z| = (B / (1 - B))^(1/gamma)``, so ``P[|Z| >= z]`` is the regularised
    incomplete beta function ``I(1 - 1/gamma, 1/gamma)`` at ``1 / (1 + z^gamma)``. The mean exists for gamma > 2 and
    the variance for gamma > 3.

    The slack allows scipy's inverse of it an error of ``(1 + z) 2^-34``, thousands of times what is seen.
    """

    gamma: Real
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not Fraction(11, 10) <= finite(self.gamma, "gamma") <= 64:
            raise InvalidParameter("gamma must lie between 1.1 and 64: heavier tails have no useful quantiles.")

    def inverse(self, v: Floats, /) -> Floats:
        """Return the inverse survival function, through the smaller of B and 1 - B."""
        from scipy.special import betainccinv, betaincinv

        g = float(self.gamma)
        rest, share = betaincinv(1 - 1 / g, 1 / g, v), betainccinv(1 / g, 1 - 1 / g, v)
        odds = np.where(rest < 0.5, (1 - rest) / rest, share / (1 - share))
        # Near 0 the density is flat: there z is linear in v, where z^gamma would underflow.
        near = (1 - v) * (np.pi / g / np.sin(np.pi / g))
        return np.where(near**g < 2.0**-60, near, np.power(odds, 1 / g))

    def slack(self, z: Floats, /) -> Floats:
        """Bound the error of the inverse, generously; infinite if scipy's inverse fails its self-test."""
        return _slack(z) if _trusted(self) else np.full_like(z, np.inf)

    def survival(self, z: arb, /) -> arb:
        """Return the regularised incomplete beta function, or one minus its complement where that converges faster."""
        if not z > 0:
            return arb(1)
        g = ball(self.gamma)
        power = (z.log() * g).exp()
        if power < 1:
            return 1 - (power / (1 + power)).beta_lower(1 / g, 1 - 1 / g, regularized=True)
        return (1 / (1 + power)).beta_lower(1 - 1 / g, 1 / g, regularized=True)


def _slack(z: Floats) -> Floats:
    return (1 + z) * 2.0**-34


@lru_cache(maxsize=256)
def _trusted(density: Polynomial) -> bool:
    return within_slack(density.inverse, _slack, density.survival)
