"""Power-law noise whose exponent follows the smoothness: pure privacy at nearly the size of Laplace noise."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.exact import Real, ball, down, positive
from discreet.mechanisms.admissible.drawn import Drawn, below, fitted, whole
from discreet.mechanisms.scale import store
from discreet.noise.densities import PowerLaw as Density
from discreet.noise.fast import Floats

__all__ = ["PowerLaw"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLaw(Drawn):
    """Noise with density proportional to ``(1 + |z|)^(-a)``, scaled by ``bound / kappa``.

    Satisfies ``epsilon``-DP whenever neighbours move the value by at most the smaller of their bounds, in L1 norm for a
    vector, and the bounds are beta-smooth. Let the law at y lie at D >= 0 with scale ``s = e^l``. The log-ratio of the
    law at x to it is ``l + a log r`` with ``r = (1 + |z - D| / s) / (1 + |z|)``. Left of 0 and right of D, r is
    monotone, between them it falls, so its supremum is the larger of ``1 + D / s``, at 0, and ``1 / s``, far out: the
    loss is ``max(a log(1 + D / s) + l, -(a - 1) l)``. Now ``D / s`` is at most ``kappa min(1, 1 / s)``, and
    ``a log(1 + kappa e^-l) + l`` is convex in l, hence largest at an end. So for one number epsilon is the largest of

        ``a log(1 + kappa)``, ``a log(1 + kappa e^-beta) + beta`` and ``(a - 1) beta``,

    and no less will do. ``a = 1 + epsilon / beta`` gives the lightest tails, and kappa is the largest that fits.

    *A vector of d numbers*: the losses of its entries add up. For ``l >= 0`` the sum is largest if the move is shared
    evenly, as the logarithm is concave; for l < 0 it is so among the m entries that are looked at near 0, the others
    being looked at far out; the sum is then linear in l. So epsilon is the largest of ``d a log(1 + kappa / d)``,
    ``d a log(1 + kappa e^-beta / d) + d beta`` and ``m (a log(1 + kappa / m) - beta) + (d - m) (a - 1) beta`` for m
    from 0 to d. The exponent is that of least reach.

    As beta falls, this is Laplace noise of scale ``bound / epsilon``. The tails are heavy: the mean exists for a > 2,
    the variance for a > 3. The family is that of Hladik and Tetek, "Smooth Sensitivity Revisited", FORC 2025, with
    constants of our own.

    >>> noise = PowerLaw(epsilon=1, beta=0.1)
    >>> round(1 / float(noise.factor), 6), round(noise.reach(0.05), 3), round(1 * math.log(1 / 0.05), 3)
    (0.094225, 3.707, 2.996)
    """

    epsilon: Real
    beta: Real
    dimension: int = 1
    exponent: Fraction = field(init=False, repr=False, compare=False)
    factor: Fraction = field(init=False, repr=False, compare=False)
    norm: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        e, b, d = positive(self.epsilon, "epsilon"), fitted(self.beta), whole(self.dimension)
        below(b, e / d, "epsilon / dimension")
        exponent = 1 + e / b if d == 1 else _least_reach(e, b, d)
        kappa = Fraction(down(lambda: _largest(e, b, d, exponent)))
        store(self, epsilon=self.epsilon, beta=self.beta)
        object.__setattr__(self, "exponent", exponent)
        object.__setattr__(self, "factor", 1 / kappa)

    @property
    def loss(self) -> PrivacyLoss:
        """Pure, and of nothing better: the log-ratio reaches epsilon."""
        return PrivacyLoss.pure(self.epsilon)

    @property
    def density(self) -> Density:
        """The law of Z."""
        return Density(self.exponent)

    def log_density(self, z: Floats, /) -> Floats:
        """Return ``log((a - 1) / 2) - a log(1 + |z|)``."""
        a = float(self.exponent)
        return math.log((a - 1) / 2) - a * np.log1p(np.abs(z))


def _rooms(e: Fraction, b: Fraction, dimension: int, exponent: Fraction) -> list[tuple[int, Fraction]]:
    """Return ``m`` and ``log(1 + kappa / m)`` at most, for each number m of entries near 0 of a law that is wider."""
    near = ((m, e - (dimension - m) * (exponent - 1) * b + m * b) for m in range(1, dimension + 1))
    return [(dimension, e / (dimension * exponent)), *((m, room / (m * exponent)) for m, room in near)]


def _largest(e: Fraction, b: Fraction, dimension: int, exponent: Fraction) -> arb:
    """Return the largest kappa that keeps epsilon."""
    most = dimension * ball(b).exp() * ball((e - dimension * b) / (dimension * exponent)).expm1()
    for m, room in _rooms(e, b, dimension, exponent):
        most = most.min(m * ball(room).expm1())
    return most


def _least_reach(epsilon: Fraction, beta: Fraction, dimension: int) -> Fraction:
    """Return the exponent of least reach, of those with ``(a - 1) beta dimension <= epsilon``, for a vector's noise."""
    from scipy.optimize import minimize_scalar

    e, b, d = float(epsilon), float(beta), dimension
    span = e / (b * d) * (1 - 1e-12)
    m = np.arange(1, d + 1)

    def log_reach(log_share: float) -> float:
        a = 1 + span * math.exp(log_share)
        near = np.min(m * np.expm1((e - (d - m) * (a - 1) * b + m * b) / (m * a)))
        kappa = min(near, d * math.expm1(e / (d * a)), d * math.exp(b) * math.expm1((e - d * b) / (d * a)))
        return math.log(math.expm1(-math.log(0.05 / d) / (a - 1))) - math.log(kappa)

    low = max(math.log(0.2 / span), -30.0)
    places = np.linspace(min(low, -1e-9), 0.0, 60)
    best = int(np.argmin([log_reach(u) for u in places]))
    ends = float(places[max(best - 1, 0)]), float(places[min(best + 1, 59)])
    found = minimize_scalar(log_reach, bounds=ends, method="bounded")
    return 1 + Fraction(span * math.exp(float(found.x)))
