"""One of several releases, chosen at random by public odds, with the choice told."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.accounting.numerical.pairs import Floats, Pair
from discreet.accounting.terms.base import Term
from discreet.accounting.terms.pure import pure_rho
from discreet.errors import InvalidParameter
from discreet.exact import ball, up

__all__ = ["NOT_CHOSEN", "OneOf"]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The j-th of some releases with probability ``weights[j]``; which one is part of what is released.

    The profiles of laws that tell which of them was drawn are averaged: ``D = sum w_j D_j``.
    """

    weights: tuple[Fraction, ...]
    terms: tuple[Term, ...]
    kind: ClassVar[str] = "one_of"
    attained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.terms) or not self.terms:
            raise InvalidParameter("a choice has as many weights as releases, and at least one.")
        if any(not weight > 0 for weight in self.weights) or sum(self.weights) != 1:
            raise InvalidParameter("the weights of a choice are above 0 and add up to 1.")
        if any(term.kind in NOT_CHOSEN for term in self.terms):
            raise InvalidParameter("a choice is among single releases of the whole data.")

    @property
    def pure(self) -> Fraction | None:
        """The largest."""
        parts = [term.pure for term in self.terms]
        return None if any(part is None for part in parts) else max(part for part in parts if part is not None)

    @property
    def rho(self) -> Fraction | None:
        """That of a pure mechanism, or the largest; None if one has none."""
        if self.pure is not None:
            return pure_rho(self.pure)
        parts = [term.rho for term in self.terms]
        return None if any(part is None for part in parts) else max(part for part in parts if part is not None)

    def delta(self, epsilon: Fraction, /) -> float:
        """The average."""
        parts = [(w, Fraction(term.delta(epsilon))) for w, term in zip(self.weights, self.terms, strict=True)]
        total = sum((w * part for w, part in parts), Fraction(0))
        return min(1.0, up(lambda: ball(total))) if total else 0.0

    def renyi(self, alpha: Fraction, /) -> float:
        """``log(sum w_j e^((a - 1) D_j)) / (a - 1)``."""
        parts = [(w, term.renyi(alpha)) for w, term in zip(self.weights, self.terms, strict=True)]
        if any(math.isinf(part) for _, part in parts):
            return math.inf
        if not any(part for _, part in parts):
            return 0.0

        def formula() -> arb:
            excess = sum((ball(w) * (ball(alpha - 1) * ball(Fraction(part))).expm1() for w, part in parts), arb(0))
            return excess.log1p() / ball(alpha - 1)

        return up(formula)

    def pair(self) -> Pair | None:
        """Those of the releases, side by side; None if one has none."""
        pairs = [(float(w), term.pair()) for w, term in zip(self.weights, self.terms, strict=True)]
        known = tuple((w, pair) for w, pair in pairs if pair is not None)
        return SideBySide(known) if len(known) == len(pairs) else None

    def group(self, size: int, /) -> "OneOf":
        """One of the releases for groups, which meet one draw: that of the whole data (else see ``OneOfEach``)."""
        return OneOf(self.weights, tuple(term.group(size) for term in self.terms))


NOT_CHOSEN = (
    "one_of",
    "one_of_each",
    "sampled",
    "sampled_symmetric",
    "overflow",
    "approximate",
    "gaussian_mixture",
    "pair",
)


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Pairs on disjoint sets of outcomes, each with its share of the mass of both laws."""

    parts: tuple[tuple[float, Pair], ...]

    @property
    def support(self) -> tuple[float, float]:
        """From the least to the largest."""
        ends = [pair.support for _, pair in self.parts]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Weighted sums."""
        return self._sum([pair.cells(edges) for _, pair in self.parts])

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Weighted sums."""
        return self._sum([pair.atoms(edges) for _, pair in self.parts])

    def span(self, tail: float, /) -> tuple[float, float]:
        """Wide enough for each part's share of the tail; a part that weighs less is left out."""
        shares = [(tail / (len(self.parts) * w), pair) for w, pair in self.parts]
        ends = [pair.span(share) for share, pair in shares if share < 0.5] or [self.parts[0][1].span(tail)]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def reversed(self) -> "SideBySide":
        """Each part reversed."""
        return SideBySide(tuple((w, pair.reversed()) for w, pair in self.parts))

    def _sum(self, masses: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        p, q = np.zeros(masses[0][0].size), np.zeros(masses[0][0].size)
        for (w, _), (a, b) in zip(self.parts, masses, strict=True):
            p, q = p + w * a, q + w * b
        return p, q
