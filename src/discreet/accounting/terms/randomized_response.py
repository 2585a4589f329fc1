"""Randomised response over k answers: the truth with the highest probability, every other answer equally often."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from discreet.accounting.numerical.pairs import Pair
from discreet.accounting.terms.base import Term
from discreet.accounting.terms.pure import Pure, pure_rho, response_pair
from discreet.errors import InvalidParameter
from discreet.exact import ball, up

__all__ = ["RandomizedResponse"]


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """The truth is ``e^epsilon`` times as likely as each of the other ``categories - 1`` answers."""

    epsilon: Fraction
    categories: int = 2
    kind: ClassVar[str] = "randomized_response"
    attained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.categories < 2:
            raise InvalidParameter(f"randomised response needs at least 2 categories, got {self.categories}.")

    @property
    def pure(self) -> Fraction:
        """Epsilon itself."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """That of the binary case, which dominates."""
        return pure_rho(self.epsilon)

    def delta(self, epsilon: Fraction, /) -> float:
        """``(e^epsilon0 - e^epsilon) / (e^epsilon0 + k - 1)``."""
        if epsilon >= self.epsilon:
            return 0.0
        e0, others = self.epsilon, self.categories - 1
        return up(lambda: (ball(e0).exp() - ball(epsilon).exp()) / (ball(e0).exp() + others))

    def renyi(self, alpha: Fraction, /) -> float:
        """The two answers on which neighbours differ contribute unequal ratios, the k - 2 others a ratio of 1."""
        if not self.epsilon:
            return 0.0

        def formula() -> arb:
            a, e = ball(alpha), ball(self.epsilon)
            total = (a * e).exp() + ((1 - a) * e).exp() + (self.categories - 2)
            return (total / (e.exp() + self.categories - 1)).log() / (a - 1)

        return up(formula)

    def pair(self) -> Pair:
        """Itself, as atoms."""
        return response_pair(self.epsilon, self.categories)

    def group(self, size: int, /) -> Term:
        """Neighbours at distance k: pure composition of the chain."""
        return self if size == 1 else Pure(size * self.epsilon)
