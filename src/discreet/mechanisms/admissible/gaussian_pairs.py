"""Divergences of two Gaussian laws with different places and scales, as masses of balls."""

import math
from itertools import pairwise

import numpy as np

__all__ = ["narrow_delta", "wide_delta"]

CERTAIN = 1e-11
"""Relative error granted to scipy's normal and gamma tails; a mass is raised or lowered by it, whichever is safe."""

PIECES = 48
FAR = 400.0
"""A vector's ball lies at most so far from the places: beyond, sums over its shape would be long and say no more."""


def wide_delta(epsilon: float, beta: float, kappa: float, dimension: int) -> float:
    """Return the divergence of ``N(0, s^2 I)`` from ``N(kappa, I)`` for ``s = e^beta``, rounded up.

    The first law exceeds ``e^epsilon`` times the second outside a ball about ``kappa / A`` with ``A = 1 - 1/s^2``. The
    divergence rises with beta for ``kappa^2 <= 2 epsilon``, so a tiny beta may be raised.

    >>> wide_delta(1.0, 0.05, 0.0, 1) < 1e-6 < wide_delta(1.0, 0.05, 0.2, 1)
    True
    """
    if dimension > 1:
        beta = max(beta, kappa / (2 * FAR))
    s, narrowing = math.exp(beta), -math.expm1(-2 * beta)
    centre = kappa / narrowing
    power = (2 * (epsilon + dimension * beta) - kappa**2) / narrowing  # of the ball: its radius^2 less centre^2
    mine = _outside(power / s**2, centre / s, dimension)
    theirs = _outside(power + kappa * (2 * centre - kappa), centre - kappa, dimension)
    return _stick(mine, theirs, epsilon)


def narrow_delta(epsilon: float, beta: float, kappa: float, dimension: int) -> float:
    """Bound the divergence of ``N(0, I)`` from ``N(kappa, s^2 I)`` for all s from 1 to ``e^beta``, piece by piece.

    >>> narrow_delta(1.0, 1e-9, 0.25, 1) < 1e-4
    True
    """
    piece = beta / (PIECES + math.ceil(20 * dimension * beta / epsilon))
    first = max(piece, kappa / (2 * FAR)) if dimension > 1 else piece
    rest = max(0, math.ceil((beta - first) / piece - 1e-9))
    starts = [0.0, *(first + (beta - first) * i / max(rest, 1) for i in range(rest)), beta]
    return max(
        _narrow_at(epsilon - dimension * (end - start), start, kappa, dimension)
        for start, end in pairwise(starts)
        if end > start
    )


def _narrow_at(epsilon: float, beta: float, kappa: float, dimension: int) -> float:
    """Return the divergence at one scale: the first law exceeds inside a ball about ``-kappa / (s^2 A)``."""
    from scipy.special import ndtr

    if beta == 0:
        share = epsilon / kappa if kappa > 0 else math.copysign(math.inf, epsilon)
        return _stick(float(ndtr(kappa / 2 - share)), float(ndtr(-kappa / 2 - share)), epsilon)
    s, narrowing = math.exp(beta), -math.expm1(-2 * beta)
    centre = kappa / narrowing
    power = (2 * (dimension * beta - epsilon) + (kappa / s) ** 2) / narrowing
    if power + (centre / s**2) ** 2 <= 0:
        return 0.0
    mine = _inside(power, centre / s**2, dimension)
    theirs = _inside((power + (centre / s**2) ** 2 - centre**2) / s**2, centre / s, dimension)
    return _stick(mine, theirs, epsilon)


def _stick(mine: float, theirs: float, epsilon: float) -> float:
    return max(mine * (1 + CERTAIN) - math.exp(epsilon) * theirs * (1 - CERTAIN), 0.0)


def _outside(power: float, centre: float, dimension: int) -> float:
    """Return the mass of ``N(0, I)`` outside a ball about ``centre`` with ``radius^2 = centre^2 + power``."""
    from scipy.special import gammaincc, ndtr

    radius = math.sqrt(max(power + centre**2, 0.0))
    if dimension == 1:
        return float(ndtr(-radius - centre) + ndtr(-power / (radius + centre)))
    return _mixture(gammaincc, radius, centre, dimension)


def _inside(power: float, centre: float, dimension: int) -> float:
    """Return the mass of ``N(0, I)`` inside a ball about ``centre`` with ``radius^2 = centre^2 + power``."""
    from scipy.special import gammainc, ndtr

    radius = math.sqrt(max(power + centre**2, 0.0))
    if dimension == 1:
        near, far = -power / (radius + centre), radius + centre
        return float(ndtr(-near) - ndtr(-far))
    return _mixture(gammainc, radius, centre, dimension)


def _mixture(gamma: np.ufunc, radius: float, centre: float, dimension: int) -> float:
    """Return the noncentral chi-square mass as a Poisson mixture of chi-square masses, all terms positive."""
    from scipy.special import gammaln

    mean = centre**2 / 2
    wide = 16 * math.sqrt(mean) + 128
    j = np.arange(max(0.0, math.floor(mean - wide)), mean + wide)
    logs = j * math.log(mean) - mean - gammaln(j + 1) if mean > 0 else np.where(j == 0, 0.0, -np.inf)
    return float(np.sum(np.exp(logs) * gamma(dimension / 2 + j, radius**2 / 2)))
