"""Student's t noise, fitted by moving place and scale together."""

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
from discreet.noise.densities import StudentT as Density
from discreet.noise.fast import Floats

__all__ = ["StudentT"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentT(Drawn):
    """Noise with density proportional to ``(1 + z^2 / d)^(-(d + 1) / 2)``, d ``degrees``, scaled by ``bound / kappa``.

    Satisfies ``epsilon``-DP whenever neighbours move the value by at most the smaller of their bounds, in L1 norm for a
    vector, and the bounds are beta-smooth. Moving place and log-scale together, the log-density changes at a rate of at
    most ``(kappa (d + 1) |z| + beta d |1 - z^2|) / (d + z^2)``. That is at most epsilon for all z if ``kappa (d + 1)``
    is at most ``(epsilon + beta d) z + (epsilon - beta) d / z`` for z up to 1, and at most
    ``(epsilon - beta d) z + (epsilon + beta) d / z`` from there, whose least values are known. Each further number of a
    vector adds at most ``beta d``.

    Bun and Steinke, "Average-Case Averages", NeurIPS 2019, use this noise with slide and stretch apart; together they
    need less of it. The variance ``d / (d - 2)`` of Z exists for d > 2.

    >>> round(1 / float(StudentT(epsilon=1, beta=0.1, degrees=3).factor), 6)
    0.759934
    """

    epsilon: Real
    beta: Real
    degrees: Real = 3
    dimension: int = 1
    factor: Fraction = field(init=False, repr=False, compare=False)
    norm: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        e, b, n = positive(self.epsilon, "epsilon"), fitted(self.beta), whole(self.dimension)
        degrees = Fraction(Density(self.degrees).degrees)
        below(b, e / (n * degrees), "epsilon / (dimension * degrees)")
        kappa = down(lambda: _joint(e - (n - 1) * b * degrees, b, degrees))
        store(self, epsilon=self.epsilon, beta=self.beta, degrees=self.degrees)
        object.__setattr__(self, "factor", 1 / Fraction(kappa))

    @property
    def loss(self) -> PrivacyLoss:
        """Pure."""
        return PrivacyLoss.pure(self.epsilon)

    @property
    def density(self) -> Density:
        """The law of Z."""
        return Density(self.degrees)

    def log_density(self, z: Floats, /) -> Floats:
        """Return the logarithm of the density, the constant by log-gamma functions."""
        d = float(self.degrees)
        constant = math.lgamma((d + 1) / 2) - math.lgamma(d / 2) - math.log(d * math.pi) / 2
        far = np.maximum(np.abs(z), 1)
        inside: Floats = np.log((1 / far) ** 2 + (z / far) ** 2 / d) + 2 * np.log(far)
        return constant - (d + 1) / 2 * inside


def _joint(e: Fraction, b: Fraction, degrees: Fraction) -> arb:
    """Return the largest kappa: a sum ``A z + B / z`` is least at ``sqrt(B / A)``, or at 1 if that lies outside."""
    inner = _least(e + b * degrees, (e - b) * degrees, inside=(e - b) * degrees <= e + b * degrees)
    outer = _least(e - b * degrees, (e + b) * degrees, inside=(e + b) * degrees >= e - b * degrees)
    return inner.min(outer) / ball(degrees + 1)


def _least(a: Fraction, b: Fraction, *, inside: bool) -> arb:
    return 2 * ball(a * b).sqrt() if inside else ball(a + b)
