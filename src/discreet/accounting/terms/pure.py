"""Opaque mechanisms: nothing is known but epsilon, or epsilon and delta.

Binary randomised response with parameter epsilon dominates every epsilon-DP mechanism, and with an outcome of
probability delta that gives everything away it dominates every (epsilon, delta)-DP one (Kairouz, Oh, Viswanath,
ICML 2015). So these terms are evaluated as that mechanism.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.accounting.numerical.pairs import Atoms, Pair
from discreet.accounting.terms.base import Term
from discreet.errors import InvalidParameter
from discreet.exact import ball, up

__all__ = ["Approximate", "Pure", "pure_rho"]


@dataclass(frozen=True, slots=True)
class Pure:
    """An epsilon-DP mechanism of which nothing else is known."""

    epsilon: Fraction
    kind: ClassVar[str] = "pure"
    attained: ClassVar[bool] = True

    @property
    def pure(self) -> Fraction:
        """Epsilon itself."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """``epsilon tanh(epsilon / 2)``."""
        return pure_rho(self.epsilon)

    def delta(self, epsilon: Fraction, /) -> float:
        """``(e^epsilon0 - e^epsilon) / (1 + e^epsilon0)``."""
        if epsilon >= self.epsilon:
            return 0.0
        return up(lambda: (ball(self.epsilon).exp() - ball(epsilon).exp()) / (1 + ball(self.epsilon).exp()))

    def renyi(self, alpha: Fraction, /) -> float:
        """``log(p^a q^(1-a) + q^a p^(1-a)) / (a - 1)`` with ``p = e^epsilon q`` and ``p + q = 1``."""
        if not self.epsilon:
            return 0.0

        def formula() -> arb:
            a, e = ball(alpha), ball(self.epsilon)
            return (((a * e).exp() + ((1 - a) * e).exp()) / (1 + e.exp())).log() / (a - 1)

        return up(formula)

    def pair(self) -> Pair:
        """Binary randomised response."""
        return response_pair(self.epsilon, 2)

    def group(self, size: int, /) -> "Pure":
        """Group privacy: epsilon grows in proportion."""
        return Pure(size * self.epsilon)


@dataclass(frozen=True, slots=True)
class Approximate:
    """An (epsilon, delta)-DP mechanism of which nothing else is known."""

    epsilon: Fraction
    failure: Fraction
    kind: ClassVar[str] = "approximate"
    attained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.failure <= 1:
            raise InvalidParameter("the failure of an approximate loss must be a probability.")

    @property
    def pure(self) -> Fraction | None:
        """None: with probability ``failure`` anything may happen."""
        return None if self.failure else self.epsilon

    @property
    def rho(self) -> Fraction | None:
        """None: with probability ``failure`` anything may happen."""
        return None if self.failure else pure_rho(self.epsilon)

    def delta(self, epsilon: Fraction, /) -> float:
        """``failure + (1 - failure) delta(epsilon)`` of the pure part."""
        if epsilon >= self.epsilon:
            return up(lambda: ball(self.failure))
        f, e0, e = self.failure, self.epsilon, epsilon
        return up(lambda: ball(f) + (1 - ball(f)) * (ball(e0).exp() - ball(e).exp()) / (1 + ball(e0).exp()))

    def renyi(self, alpha: Fraction, /) -> float:
        """Infinite, unless the failure probability is 0."""
        return float("inf") if self.failure else Pure(self.epsilon).renyi(alpha)

    def pair(self) -> Pair | None:
        """Binary randomised response, if nothing is given away; else the failure is to be set aside first."""
        return None if self.failure else response_pair(self.epsilon, 2)

    def group(self, size: int, /) -> Term:
        """``(k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1))``: the sum of the steps of the chain."""
        if size == 1:
            return self
        if not self.epsilon:
            return Approximate(Fraction(0), min(Fraction(1), size * self.failure))
        e, f = self.epsilon, self.failure
        steps = up(lambda: ball(f) * ((size * ball(e)).exp() - 1) / (ball(e).exp() - 1)) if f else 0.0
        return Approximate(size * e, Fraction(min(1.0, steps)))


def response_pair(epsilon: Fraction, categories: int) -> Atoms:
    """Return randomised response as atoms: the truth, the neighbour's truth and, at loss 0, all other answers.

    With ``x = e^-epsilon`` the truth has the probability ``1 / (1 + (k - 1) x)``: as what the others leave of 1, all
    digits of it would cancel where there are many.
    """

    def share(weight: Callable[[arb], arb]) -> float:
        def formula() -> arb:
            x = (-ball(epsilon)).exp()
            return weight(x) / (1 + (categories - 1) * x)

        return up(formula)

    e, least = float(epsilon), math.exp(-700)
    large, small = share(lambda _: arb(1)), max(least, share(lambda x: x))
    rest = share(lambda x: (categories - 2) * x) if categories > 2 else 0.0
    return Atoms(np.array([-e, 0.0, e]), np.array([small, rest, large]), np.array([large, rest, small]))


def pure_rho(epsilon: Fraction) -> Fraction:
    """Return ``epsilon tanh(epsilon / 2)``, the zCDP parameter of randomised response and so of every pure mechanism.

    It is below the classical ``epsilon^2 / 2`` (Bun and Steinke, TCC 2016). With ``h = epsilon / 2`` and
    ``w = (2 alpha - 1)^2``, ``(alpha - 1) D_alpha = log cosh(h sqrt w) - log cosh h``, and the right side is concave
    in w, hence below its tangent at ``w = 1``, which is ``alpha (alpha - 1) epsilon tanh(epsilon / 2)``.

    >>> float(pure_rho(Fraction(2)))
    1.52318831191...
    """
    return Fraction(up(lambda: ball(epsilon) * (ball(epsilon) / 2).tanh())) if epsilon else Fraction(0)
