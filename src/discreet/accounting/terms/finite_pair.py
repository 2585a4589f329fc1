"""Any two finite distributions, as exact rationals.

By the data-processing inequality outcomes of equal likelihood ratio count as one (Zhu, Dong and Wang, AISTATS 2022: a
pair is known by the law of its loss), so a pair is kept in that form: ratios in falling order, each once.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.accounting.numerical.pairs import Atoms, Floats, Pair
from discreet.accounting.terms.base import Term
from discreet.accounting.terms.pure import Pure, pure_rho
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, ball, enclose, finite, show, up, upward

__all__ = ["FinitePair", "Revealing", "Weights", "exact_law"]

ROUNDING = Fraction(1, 10**9)
"""Floats whose sum is this close to 1 are taken to add up to 1."""

ROOM = 2.0**-10
"""On either side of a loss that is the only finite one."""

LONG = 2048
"""Numbers of more bits have logarithms so large that the digits of their difference are lost in float64."""

Law = tuple[Fraction, ...]
Weights = Mapping[object, Real] | Iterable[Real]


@dataclass(frozen=True, slots=True)
class FinitePair:
    """Two laws on the same finite set of outcomes: that of the release on a data set, and on its neighbour.

    Both directions are accounted for. Pairs that are composed are about the same two data sets, in the same order.
    Where a release may turn them round, describe it by laws that mirror each other. Which of the two data sets has a
    record more is not said, so beside a Poisson sample, which says it, both orders are composed and the worse counts.
    """

    p: Law
    q: Law
    kind: ClassVar[str] = "pair"
    attained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.p) != len(self.q):
            raise InvalidParameter(f"the two laws list the same outcomes, got {len(self.p)} and {len(self.q)}.")
        for law in (self.p, self.q):
            if any(weight < 0 for weight in law) or sum(law) != 1:
                raise InvalidParameter("each law of a pair has probabilities from 0 to 1 that add up to 1.")
        listed = [(a, b) for a, b in zip(self.p, self.q, strict=True) if a or b]
        listed.sort(key=lambda both: both[0] / (both[0] + both[1]), reverse=True)
        joined = [
            tuple(map(sum, zip(*group, strict=True)))
            for _, group in groupby(listed, key=lambda both: both[0] / (both[0] + both[1]))
        ]
        object.__setattr__(self, "p", tuple(Fraction(a) for a, _ in joined))
        object.__setattr__(self, "q", tuple(Fraction(b) for _, b in joined))

    @property
    def revealed(self) -> tuple[Fraction, Fraction]:
        """The probability under each law of what cannot happen under the other."""
        apart = list(zip(self.p, self.q, strict=True))
        return sum((a for a, b in apart if not b), Fraction(0)), sum((b for a, b in apart if not a), Fraction(0))

    @property
    def pure(self) -> Fraction | None:
        """The log of the largest ratio, rounded up; None if something can happen under one law alone."""
        ends = self.ends
        return None if ends is None else max(ends)

    @property
    def ends(self) -> tuple[Fraction, Fraction] | None:
        """The largest loss of the first law against the second, and of the second against the first, rounded up."""
        if any(self.revealed):
            return None
        first, second = self.p[0] / self.q[0], self.q[-1] / self.p[-1]
        return _log_up(first), _log_up(second)

    @property
    def common(self) -> int:
        """How many ratios both laws have."""
        return sum(1 for a, b in zip(self.p, self.q, strict=True) if a and b)

    def turned(self) -> "FinitePair":
        """Return the same two laws in the other order."""
        return FinitePair(self.q, self.p)

    def ratio(self, delta: Fraction) -> Fraction | None:
        """Return the least ``e^epsilon`` from 1 on with this delta, exactly; None if there is none.

        >>> FinitePair((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))).ratio(Fraction(1, 4))
        Fraction(2, 1)
        """
        ways = [_least_ratio(p, q, delta) for p, q in ((self.p, self.q), (self.q[::-1], self.p[::-1]))]
        return None if any(way is None for way in ways) else max(way for way in ways if way is not None)

    @property
    def rho(self) -> Fraction | None:
        """That of any pure mechanism."""
        return None if self.pure is None else pure_rho(self.pure)

    def delta(self, epsilon: Fraction, /) -> float:
        """``sum (p - e^epsilon q)_+``, the larger of both directions."""
        return max(_hockey_stick(self.p, self.q, epsilon), _hockey_stick(self.q, self.p, epsilon))

    def renyi(self, alpha: Fraction, /) -> float:
        """``log(sum p^a q^(1 - a)) / (a - 1)``, the larger of both directions."""
        if any(self.revealed):
            return math.inf
        return max(_renyi(self.p, self.q, alpha), _renyi(self.q, self.p, alpha))

    def pair(self) -> Pair | None:
        """Its atoms, and what gives everything away."""
        common = [(a, b) for a, b in zip(self.p, self.q, strict=True) if a and b][::-1]
        if not common or self.pure == 0:
            return None
        losses = np.array([_log_ratio(a, b) for a, b in common])
        atoms = Atoms(losses, np.array([float(a) for a, _ in common]), np.array([float(b) for _, b in common]))
        first, second = map(float, self.revealed)
        return Revealing(atoms, first, second) if first or second else atoms

    def group(self, size: int, /) -> Term:
        """Pure losses add up along the chain; of others two laws do not say what a third one is."""
        if size == 1:
            return self
        if self.pure is None:
            raise NoTheorem(
                "two laws of which one reveals the data set say nothing about groups. Give the pair for data sets that "
                "differ in the whole group."
            )
        return Pure(size * self.pure)


@dataclass(frozen=True, slots=True, eq=False)
class Revealing:
    """Atoms, and outcomes of probability ``first`` and ``second`` that only one of the two laws can give."""

    common: Atoms
    first: float
    second: float

    @property
    def support(self) -> tuple[float, float]:
        """Infinite where something is revealed."""
        low, high = self.common.support
        return -math.inf if self.second else low, math.inf if self.first else high

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Those of the atoms."""
        return self.common.cells(edges)

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Those of the atoms, and at infinite edges what is revealed."""
        p, q = self.common.atoms(edges)
        return p + self.first * (edges == math.inf), q + self.second * (edges == -math.inf)

    def span(self, tail: float, /) -> tuple[float, float]:
        """That of the atoms; one loss alone is given a width, which a lattice needs."""
        low, high = self.common.span(tail)
        return (low, high) if low < high else (low - ROOM, high + ROOM)

    def reversed(self) -> "Revealing":
        """Exchange the two laws."""
        return Revealing(self.common.reversed(), self.second, self.first)


def exact_law(weights: Weights, other: Weights, name: str) -> Law:
    """Return the probabilities of a law as rationals, over the outcomes of both laws if these are named.

    Whole numbers and Fractions must add up to 1 exactly. Floats are taken as the rationals they are; where their sum
    misses 1 by no more than rounding, a part in 10^9, they are divided by it.

    >>> exact_law({"a": Fraction(1, 3), "b": Fraction(2, 3)}, {"c": 1}, "p")
    (Fraction(1, 3), Fraction(2, 3), Fraction(0, 1))
    >>> sum(exact_law([0.1] * 10, [0.1] * 10, "p"))
    Fraction(1, 1)
    """
    if isinstance(weights, Mapping) != isinstance(other, Mapping):
        raise InvalidParameter("give both laws as lists, or both as mappings from outcomes to probabilities.")
    if isinstance(weights, Mapping) and isinstance(other, Mapping):
        names = sorted({*weights, *other}, key=lambda outcome: (type(outcome).__name__, repr(outcome)))
        given: list[object] = [weights.get(outcome, 0) for outcome in names]
    elif hasattr(weights, "__iter__") and not isinstance(weights, str | bytes):
        given = list(weights)
    else:
        raise InvalidParameter(f"{name} must be a list of probabilities, or a mapping, got {type(weights).__name__}.")
    law = [finite(weight, f"a probability of {name}") for weight in given]
    if any(weight < 0 for weight in law):
        raise InvalidParameter(f"the probabilities of {name} must not be negative.")
    total = sum(law, Fraction(0))
    rounded = any(not isinstance(weight, int | Fraction) for weight in given)
    if total != 1 and not (rounded and abs(total - 1) <= ROUNDING):
        shown = show(total) if not rounded else f"{float(total):.12g}"
        raise InvalidParameter(f"the probabilities of {name} must add up to 1, got {shown}. Divide them by their sum.")
    return tuple(weight / total for weight in law)


def _least_ratio(p: Law, q: Law, delta: Fraction) -> Fraction | None:
    """Return the least x from 1 on with ``sum (p - x q)_+ <= delta``, for laws whose ratios fall.

    Between two ratios the sum is ``a - x b``, with a and b those of all outcomes of a larger ratio.
    """
    a = b = Fraction(0)
    for u, v in zip(p, q, strict=True):
        if v and a - max(u / v, Fraction(1)) * b > delta:
            return (a - delta) / b if b else None
        if v and u <= v:
            break
        a, b = a + u, b + v
    return Fraction(1)


def _log_up(ratio: Fraction) -> Fraction:
    return Fraction(up(lambda: ball(ratio).log())) if ratio > 1 else Fraction(0)


def _hockey_stick(p: Law, q: Law, epsilon: Fraction) -> float:
    if not epsilon:
        return upward(sum((max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0)))

    def formula() -> arb:  # e^epsilon is irrational, so that each sign is found out at some precision
        x = ball(epsilon).exp()
        return sum((_excess(a, b, x) for a, b in zip(p, q, strict=True)), arb(0))

    return min(1.0, up(formula))


def _excess(a: Fraction, b: Fraction, x: arb) -> arb:
    gain = ball(a) - x * ball(b)
    return gain if gain > 0 else arb(0) if gain <= 0 else gain.max(arb(0))


def _renyi(p: Law, q: Law, alpha: Fraction) -> float:
    def formula() -> arb:
        a = ball(alpha)
        return sum((ball(u) * (ball(u / v) ** (a - 1)) for u, v in zip(p, q, strict=True)), arb(0)).log() / (a - 1)

    return max(0.0, up(formula)) if p != q else 0.0


def _log_ratio(a: Fraction, b: Fraction) -> float:
    """Return ``log(a / b)`` with relative accuracy, also near ratios of 1 and beyond the range of floats."""
    ratio = a / b
    if Fraction(1, 2) < ratio < 2:
        return math.log1p(float(ratio - 1))
    if max(ratio.numerator.bit_length(), ratio.denominator.bit_length()) > LONG:
        return float(enclose(lambda: ball(ratio).log()).mid())
    return math.log(ratio.numerator) - math.log(ratio.denominator)
