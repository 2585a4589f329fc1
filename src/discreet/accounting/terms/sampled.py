"""Poisson sampling: each record takes part with a fixed probability, independently, anew for each release.

Zhu, Dong and Wang, AISTATS 2022, Theorem 11, under add_remove: if (P, Q) dominates the mechanism with a record against
without it, ``((1 - q) Q + q P, Q)`` and its reverse dominate the sampled one. With ``D`` the profile of the pair,

    first direction:   q D(1 + (x - 1) / q)
    second direction:  (1 - x (1 - q)) D(x q / (1 - x (1 - q))),  0 once x >= 1 / (1 - q).

For (epsilon, delta) alone this is Balle, Barthe and Gaboardi, NeurIPS 2018.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from discreet.accounting import numerical
from discreet.accounting.numerical.pairs import Pair
from discreet.accounting.terms.base import Term, within
from discreet.accounting.terms.gaussian import Gaussian
from discreet.accounting.terms.gaussian_mixture import seen_at_least
from discreet.accounting.terms.one_of import OneOf
from discreet.accounting.terms.one_of_each import OneOfEach
from discreet.accounting.terms.pure import Pure, pure_rho
from discreet.accounting.terms.symmetric import (
    SampledSymmetric,
    amplified,
    between_whole_orders,
    check_sample,
    sampled_roughly,
    told_alike,
)
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import ball, down, up

__all__ = ["Sampled"]


@dataclass(frozen=True, slots=True)
class Sampled:
    """A release of a Poisson sample of the data."""

    base: Term
    rate: Fraction
    kind: ClassVar[str] = "sampled"
    attained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sample(self.base, self.rate)
        if any(part.kind == "shuffled" for part in within(self.base)):
            raise InvalidParameter("shuffled reports are about replace_one, and Poisson samples about add_remove.")

    @property
    def pure(self) -> Fraction | None:
        """``log(1 + q (e^epsilon - 1))``, rounded up."""
        return amplified(self.base.pure, self.rate)

    @property
    def rho(self) -> Fraction | None:
        """That of a pure mechanism; otherwise none is claimed."""
        return None if self.pure is None else pure_rho(self.pure)

    def delta(self, epsilon: Fraction, /) -> float:
        """The larger of the two directions."""
        q = self.rate
        inner = Fraction(down(lambda: (ball(epsilon).expm1() / ball(q)).log1p()))
        whole = self.base.delta(inner)
        removed = up(lambda: ball(q) * ball(Fraction(whole)))
        left = up(lambda: ball(q) - ball(epsilon).expm1() * (1 - ball(q)))
        if left <= 0:
            return removed
        shifted = down(lambda: (ball(epsilon).expm1() / (ball(q) - ball(epsilon).expm1() * (1 - ball(q)))).log1p())
        other = self.base.delta(Fraction(max(shifted, 0.0)))
        return max(removed, up(lambda: ball(Fraction(left)) * ball(Fraction(other))))

    def renyi(self, alpha: Fraction, /) -> float:
        """The exact divergence for Gaussian noise, that of a pure mechanism, else Zhu and Wang, ICML 2019, Thm 5."""
        if isinstance(self.base, Gaussian) and self.base.mu_squared:
            from discreet.accounting.theorems import sampled_gaussian_renyi

            multiplier = math.nextafter(1 / math.sqrt(self.base.mu_squared), 0) * (1 - 1e-15)
            return sampled_gaussian_renyi(alpha, rate=self.rate, noise_multiplier=multiplier, relation="add_remove")
        if self.pure is not None:
            return Pure(self.pure).renyi(alpha)
        from discreet.accounting.theorems.sampled_renyi import poisson_renyi

        return between_whole_orders(
            lambda order: poisson_renyi(order, self.base.renyi, rate=self.rate, relation="add_remove"),
            alpha,
            self.base.renyi(alpha),
        )

    def renyi_roughly(self, alpha: Fraction, /) -> float:
        """The same to some digits, by sums without certainty: to look for an order."""
        if isinstance(self.base, Gaussian) and self.base.mu_squared:
            from discreet.accounting.theorems.sampled_gaussian import roughly

            return roughly(float(alpha), float(self.rate), math.sqrt(self.base.mu_squared))
        if self.pure is not None:
            return self.renyi(alpha)
        return min(self.base.renyi(alpha), sampled_roughly(self.base, self.rate, "add_remove", alpha))

    def pair(self) -> Pair | None:
        """The base's pair, mixed."""
        base = self.base.pair() if told_alike(self.base) else None
        return None if base is None else numerical.Sampled(base, float(self.rate))

    def group(self, size: int, /) -> Term:
        """Pure losses add up along the chain; others as one sample that may hold any of the group.

        By the coins of the group j of its members are seen, and then the two releases are at most j steps apart: with
        the probabilities of j this averages the base's profiles for groups of j (see ``terms.symmetric``).
        """
        if size == 1:
            return self
        if self.pure is not None:
            return Pure(size * self.pure)
        if isinstance(self.base, OneOf | OneOfEach):
            raise NoTheorem(
                "no group bound is at hand for a choice of releases on a sample. State each of them on a sample of its "
                "own, or give one release that covers all of them."
            )
        seen = seen_at_least(size, self.rate)
        law = [(j, a - b) for j, (a, b) in enumerate(pairwise([*seen[1:], Fraction(0)]), 1) if a > b]
        base = OneOf(tuple(w / seen[1] for _, w in law), tuple(self.base.group(j) for j, _ in law))
        return base if seen[1] >= 1 else SampledSymmetric(base, seen[1])
