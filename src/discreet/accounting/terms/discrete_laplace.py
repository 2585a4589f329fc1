"""Two-sided geometric noise on whole numbers."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.accounting.numerical.pairs import Atoms, Pair
from discreet.accounting.terms.pure import pure_rho
from discreet.errors import InvalidParameter
from discreet.exact import ball, up

__all__ = ["DiscreteLaplace"]

LISTED = 10**6
"""Sensitivities up to this have few enough losses to list them."""


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Geometric noise with ``a = exp(-1 / scale)`` on whole numbers of L1 sensitivity ``sensitivity``.

    As for Laplace noise the whole shift in one coordinate is the worst case, the law being log-concave.
    """

    sensitivity: int
    scale: Fraction
    kind: ClassVar[str] = "discrete_laplace"
    attained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise InvalidParameter("the scale of discrete Laplace noise must be above 0.")

    @property
    def pure(self) -> Fraction:
        """``sensitivity / scale``."""
        return self.sensitivity / self.scale

    @property
    def rho(self) -> Fraction:
        """That of any pure mechanism."""
        return pure_rho(self.pure)

    def delta(self, epsilon: Fraction, /) -> float:
        """The best event is ``Z <= z`` for the largest z whose loss ``(sensitivity - 2 z) / scale`` exceeds epsilon."""
        if epsilon >= self.pure:
            return 0.0
        z = math.ceil((self.sensitivity - epsilon * self.scale) / 2) - 1

        def formula() -> arb:
            a = (-1 / ball(self.scale)).exp()
            seen = 1 - (-ball((z + 1) / self.scale)).exp() / (1 + a)
            return seen - ball(epsilon - (self.sensitivity - z) / self.scale).exp() / (1 + a)

        return up(formula)

    def renyi(self, alpha: Fraction, /) -> float:
        """Two tails of constant loss and the geometric sum between them."""

        def formula() -> arb:
            w, s, e = 1 / ball(self.scale), self.sensitivity, ball(alpha)
            a = (-w).exp()
            tails = ((e - 1) * s * w).exp() + (-e * s * w).exp()
            ratio = (-(2 * e - 1) * w).exp()
            between = (1 - a) * (-(1 - e) * s * w).exp() * ratio * (1 - ratio ** (s - 1)) / (1 - ratio)
            return ((tails + between) / (1 + a)).log() / (e - 1)

        return up(formula) if self.sensitivity else 0.0

    def pair(self) -> Pair | None:
        """The losses ``(sensitivity - 2 z) / scale`` with the geometric masses of z, tails joined at both ends."""
        if not 0 < self.sensitivity <= LISTED:
            return None
        z = np.arange(self.sensitivity + 1, dtype=np.float64)
        s = float(self.scale)
        p = math.tanh(1 / (2 * s)) * np.exp(-z / s)
        tail = 1 / (1 + math.exp(-1 / s))
        p[0], p[-1] = tail, tail * math.exp(-self.sensitivity / s)
        losses = (self.sensitivity - 2 * z) / s
        return Atoms(losses[::-1], p[::-1], p)

    def group(self, size: int, /) -> "DiscreteLaplace":
        """Shifts add."""
        return DiscreteLaplace(size * self.sensitivity, self.scale)
