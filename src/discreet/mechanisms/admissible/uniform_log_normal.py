"""Uniform noise with a log-normal scale, for concentrated privacy."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.mechanisms.admissible.log_normal import LogNormal
from discreet.noise.fast import Floats
from discreet.noise.log_normal import Factor

__all__ = ["UniformLogNormal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformLogNormal(LogNormal):
    """Noise ``U e^(sigma Z)``, U uniform between -1 and 1 and Z normal, scaled by ``bound / kappa``.

    Satisfies ``rho``-zCDP whenever neighbours move the value by at most the smaller of their bounds, in L1 norm for a
    vector, and the bounds are beta-smooth (Bun and Steinke, "Average-Case Averages", NeurIPS 2019). A stretch of the
    scale is a move of Z by at most ``beta / sigma``. A slide is pure: the density at x is ``e^(sigma^2 / 2) Q(w) / 2``
    with ``w = log|x| / sigma + sigma`` and Q the upper tail of the normal law, so the slope of its logarithm is
    ``e^(3 sigma^2 / 2) phi(w + sigma) / (sigma Q(w))``. That is largest where the hazard ``phi(w) / Q(w)`` exceeds w by
    sigma: once, as the excess falls from infinity to 0. The paper has a bound for sigma above ``sqrt(2)``, about twice.

    ``sigma`` is that of least variance unless it is given. All moments exist. A copy that ``dataclasses.replace`` makes
    for another rho or beta keeps sigma, as every field that is not named, and fits kappa to it: that is private but not
    the least noise. Name ``sigma=None`` as well to have it chosen anew.

    >>> noise = UniformLogNormal(rho=0.5, beta=0.1)
    >>> round(noise.sigma, 4), round(1 / float(noise.factor), 4)
    (0.6236, 0.4375)
    """

    kind: ClassVar[Factor] = "uniform"

    @staticmethod
    def log_slope(sigma: float, /) -> float:
        """Return the log of the steepest slope of the log-density."""
        from scipy.optimize import brentq
        from scipy.special import log_ndtr

        def log_hazard(w: float) -> float:
            return -w * w / 2 - math.log(2 * math.pi) / 2 - float(log_ndtr(-w))

        w = brentq(lambda w: math.exp(log_hazard(w)) - w - sigma, -sigma - 1, 1 / sigma + 10, xtol=1e-13)
        return 1.5 * sigma**2 - math.log(sigma) + log_hazard(w) - sigma * w - sigma**2 / 2

    def log_density(self, z: Floats, /) -> Floats:
        """Return ``sigma^2 / 2 + log Q(log|z| / sigma + sigma) - log 2``."""
        from scipy.special import log_ndtr

        sigma = float(self.sigma)
        with np.errstate(divide="ignore"):
            w = np.log(np.abs(z)) / sigma + sigma
        tail: Floats = log_ndtr(-w)
        return sigma**2 / 2 - math.log(2) + tail

    def survival(self, z: float, /) -> float:
        """Return ``P[|U e^(sigma Z)| >= z] = Q(v) - z e^(sigma^2 / 2) Q(v + sigma)`` with ``v = log(z) / sigma``."""
        from scipy.special import log_ndtr

        sigma = float(self.sigma)
        v = math.log(z) / sigma
        here, further = float(log_ndtr(-v)), float(log_ndtr(-v - sigma))
        return math.exp(here) * -math.expm1(further - here + math.log(z) + sigma**2 / 2)
