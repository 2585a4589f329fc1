"""Laplace noise with a log-normal scale, for concentrated privacy."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.mechanisms.admissible.log_normal import LogNormal
from discreet.noise.fast import Floats
from discreet.noise.log_normal import Factor

__all__ = ["LaplaceLogNormal"]

CHUNK = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceLogNormal(LogNormal):
    """Noise ``Y e^(sigma Z)``, Y of density ``e^-|y| / 2`` and Z normal, scaled by ``bound / kappa``.

    Satisfies ``rho``-zCDP whenever neighbours move the value by at most the smaller of their bounds, in L1 norm for a
    vector, and the bounds are beta-smooth (Bun and Steinke, "Average-Case Averages", NeurIPS 2019). A stretch of the
    scale is a move of Z by at most ``beta / sigma``. A slide is pure: the log-density of the product has a slope of at
    most ``E[e^(-2 sigma Z)] / E[e^(-sigma Z)] = e^(3 sigma^2 / 2)``, at 0, so it costs ``kappa e^(3 sigma^2 / 2)``.

    ``sigma`` is that of least variance unless it is given. All moments exist. A copy that ``dataclasses.replace`` makes
    for another rho or beta keeps sigma, as every field that is not named, and fits kappa to it: that is private but not
    the least noise. Name ``sigma=None`` as well to have it chosen anew.

    >>> noise = LaplaceLogNormal(rho=0.5, beta=0.1)
    >>> round(noise.sigma, 4), round(1 / float(noise.factor), 4)
    (0.3127, 0.599)
    """

    kind: ClassVar[Factor] = "laplace"

    @staticmethod
    def log_slope(sigma: float, /) -> float:
        """At 0, where it is ``e^(3 sigma^2 / 2)``."""
        return 1.5 * sigma**2

    def log_density(self, z: Floats, /) -> Floats:
        """Return the log of ``E[e^(-sigma Z - |z| e^(-sigma Z))] / 2``."""
        flat = np.abs(np.asarray(z, dtype=np.float64)).reshape(-1)
        parts = [self._log_mean(flat[i : i + CHUNK], 1) for i in range(0, flat.size, CHUNK)]
        return (np.concatenate([*parts, np.empty(0)]) - math.log(2)).reshape(np.shape(z))

    def survival(self, z: float, /) -> float:
        """Return ``P[|Y e^(sigma Z)| >= z] = E[e^(-z e^(-sigma Z))]``."""
        return math.exp(float(self._log_mean(np.array([z]), 0)[0]))

    def _log_mean(self, sizes: Floats, power: int) -> Floats:
        """Return the log of ``E[e^(-power sigma Z - size e^(-sigma Z))]``, by the trapezoid rule about the peak.

        The integrand is log-concave and falls at least as fast as a normal density; its peak is a value of Lambert's
        function, and the step follows the curvature there.
        """
        sigma = float(self.sigma)
        bend = _lambert(sigma**2 * math.exp(power * sigma**2) * sizes)
        tops = bend / sigma - power * sigma
        step = 0.35 / math.sqrt(1 + float(bend.max()))
        nodes = tops[:, None] + np.arange(-9, 9, step)
        logs = -power * sigma * nodes - sizes[:, None] * np.exp(-sigma * nodes) - nodes**2 / 2
        peak = logs.max(axis=1)
        total: Floats = peak + np.log(np.exp(logs - peak[:, None]).sum(axis=1) * (step / math.sqrt(2 * math.pi)))
        return total


def _lambert(y: Floats) -> Floats:
    """Return w with ``w e^w = y`` for y >= 0, nearly: it only says where to look for a peak.

    >>> w = _lambert(np.array([0.0, 1.0, 1e30]))
    >>> np.allclose(w * np.exp(w), [0, 1, 1e30])
    True
    """
    y = np.maximum(y, 1e-300)
    w: Floats = np.log1p(y)
    for _ in range(6):
        w = w * (1 + np.log(y / w)) / (1 + w)
    return w
