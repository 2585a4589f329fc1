"""Cauchy noise with its exact constant."""

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
from discreet.noise.densities import Cauchy as Density
from discreet.noise.fast import Floats

__all__ = ["Cauchy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cauchy(Drawn):
    """Noise with density ``1 / (pi (1 + z^2))``, scaled by ``bound / kappa``.

    Satisfies ``epsilon``-DP whenever neighbours move the value by at most the smaller of their bounds, in L1 norm for a
    vector, and the bounds are beta-smooth. The largest log-ratio of two Cauchy laws is the distance of the points
    (place, scale) in the hyperbolic half-plane: ``cosh`` of it is ``cosh l + D^2 e^-l / 2`` for a law at D with
    log-scale l. Under ``D <= kappa min(1, e^l)`` this is largest at l = 0 or ``|l| = beta``, hence for one number
    ``kappa = min(2 sinh(epsilon / 2), sqrt(2 e^beta (cosh epsilon - cosh beta)))``, and no larger one will do.

    Of a vector each further number adds at most beta, and the first moves along a path of rate at most
    ``sup (2 kappa z + beta |1 - z^2|) / (1 + z^2) = sqrt(kappa^2 + beta^2)``.

    The noise has no mean: it is the choice where beta must be near epsilon.

    >>> noise = Cauchy(epsilon=1, beta=0.5)
    >>> round(1 / float(noise.factor), 6)
    1.042191
    """

    epsilon: Real
    beta: Real
    dimension: int = 1
    factor: Fraction = field(init=False, repr=False, compare=False)
    norm: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        e, b, d = positive(self.epsilon, "epsilon"), fitted(self.beta), whole(self.dimension)
        below(b, e / d, "epsilon / dimension")
        rest = e - (d - 1) * b
        kappa = down(lambda: _exact(ball(e), ball(b)) if d == 1 else (ball((rest - b) * (rest + b))).sqrt())
        store(self, epsilon=self.epsilon, beta=self.beta)
        object.__setattr__(self, "factor", 1 / Fraction(kappa))

    @property
    def loss(self) -> PrivacyLoss:
        """Pure, and of nothing better: the log-ratio reaches epsilon."""
        return PrivacyLoss.pure(self.epsilon)

    @property
    def density(self) -> Density:
        """The law of Z."""
        return Density()

    def log_density(self, z: Floats, /) -> Floats:
        """Return ``-log(pi (1 + z^2))``."""
        far = np.maximum(np.abs(z), 1)  # the square of a number beyond 10^154 is beyond all floats
        inside: Floats = np.log((1 / far) ** 2 + (z / far) ** 2) + 2 * np.log(far)
        return -math.log(math.pi) - inside


def _exact(e: arb, b: arb) -> arb:
    """Return the smaller of the two bounds; a difference of hyperbolic cosines is a product of sines."""
    stretched = 4 * b.exp() * ((e + b) / 2).sinh() * ((e - b) / 2).sinh()
    return (2 * (e / 2).sinh()).min(stretched.sqrt())
