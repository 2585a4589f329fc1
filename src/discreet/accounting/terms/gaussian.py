"""Gaussian noise: mu-Gaussian differential privacy (Dong, Roth and Su, JRSS B 2022)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from discreet.accounting.numerical.pairs import GaussianPair, Pair
from discreet.exact import ball, up

__all__ = ["Gaussian", "gaussian_delta"]


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Gaussian noise with ``mu = sensitivity / sigma``; the square is kept because squares add."""

    mu_squared: Fraction
    kind: ClassVar[str] = "gaussian"
    attained: ClassVar[bool] = True

    @property
    def pure(self) -> Fraction | None:
        """None: the loss is unbounded."""
        return None if self.mu_squared else Fraction(0)

    @property
    def rho(self) -> Fraction:
        """``mu^2 / 2``."""
        return self.mu_squared / 2

    def delta(self, epsilon: Fraction, /) -> float:
        """Balle and Wang, ICML 2018."""
        return gaussian_delta(self.mu_squared, epsilon)

    def renyi(self, alpha: Fraction, /) -> float:
        """``alpha mu^2 / 2``."""
        return up(lambda: ball(alpha * self.mu_squared / 2))

    def pair(self) -> Pair | None:
        """Two normal laws."""
        return GaussianPair(math.sqrt(self.mu_squared)) if self.mu_squared else None

    def group(self, size: int, /) -> "Gaussian":
        """Shifts add, so their squares grow with the square."""
        return Gaussian(size**2 * self.mu_squared)


def gaussian_delta(mu_squared: Fraction, epsilon: Fraction) -> float:
    """Return ``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``, rounded up.

    >>> gaussian_delta(Fraction(1), Fraction(1))
    0.12693673750664...
    """
    if not mu_squared:
        return 0.0

    def formula() -> arb:
        mu, e = ball(mu_squared).sqrt(), ball(epsilon)
        root = arb(2).sqrt()
        return ((e / mu - mu / 2) / root).erfc() / 2 - e.exp() * ((e / mu + mu / 2) / root).erfc() / 2

    return up(formula)
