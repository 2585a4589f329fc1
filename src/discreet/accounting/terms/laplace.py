"""Laplace noise: the ideal real mechanism, known by epsilon = sensitivity / scale alone."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from discreet.accounting.numerical.pairs import LaplacePair, Pair
from discreet.accounting.terms.pure import pure_rho
from discreet.exact import ball, up

__all__ = ["Laplace"]


@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise on a vector of L1 sensitivity ``epsilon * scale``.

    The whole shift in one coordinate is the worst case: moving coordinate after coordinate composes the trade-off
    functions of the single moves, and for a log-concave density these compose to that of the summed shift (Dong, Roth
    and Su, 2022, on group privacy).
    """

    epsilon: Fraction
    kind: ClassVar[str] = "laplace"
    attained: ClassVar[bool] = True

    @property
    def pure(self) -> Fraction:
        """Epsilon itself."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """That of any pure mechanism."""
        return pure_rho(self.epsilon)

    def delta(self, epsilon: Fraction, /) -> float:
        """``1 - exp((epsilon - epsilon0) / 2)``."""
        return 0.0 if epsilon >= self.epsilon else up(lambda: -(ball((epsilon - self.epsilon) / 2).expm1()))

    def renyi(self, alpha: Fraction, /) -> float:
        """Mironov, CSF 2017: ``log(a/(2a-1) e^((a-1) eps) + (a-1)/(2a-1) e^(-a eps)) / (a - 1)``."""

        def formula() -> arb:
            a, e = ball(alpha), ball(self.epsilon)
            weights = 2 * a - 1
            return (a / weights * ((a - 1) * e).exp() + (a - 1) / weights * (-a * e).exp()).log() / (a - 1)

        return up(formula) if self.epsilon else 0.0

    def pair(self) -> Pair | None:
        """Two Laplace laws."""
        return LaplacePair(float(self.epsilon)) if self.epsilon else None

    def group(self, size: int, /) -> "Laplace":
        """Shifts add."""
        return Laplace(size * self.epsilon)
