"""One of several releases, drawn anew in each part of the data: groups and moves meet more than one draw.

``OneOf`` draws once for the whole data, so a group of k records meets k times the release that was drawn. Mechanisms on
disjoint parts draw one by one: a group that is spread over parts, or a record that moves from one part to another,
meets several draws, and the chance that a costly release is among them grows.

Everything here rests on two facts. The releases are of one family in which sizes are ordered and add up: a larger one
dominates a smaller one, and releases of sizes ``s_1, ..., s_m`` on different parts are dominated by one of the joined
size, whichever direction each has (see ``JOINED``). And a choice told with the release has the average of the profiles,
``D = sum w_j D_j``, which only rises when weight moves to larger sizes: so of several laws of the size the one whose
tails ``P(size >= s)`` are the largest of all of theirs dominates each of them. It is the profile of a pair and may be
composed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import isqrt
from typing import ClassVar

from discreet.accounting.numerical.pairs import Pair
from discreet.accounting.terms.base import Term
from discreet.accounting.terms.bounded_range import BoundedRange
from discreet.accounting.terms.concentrated import Concentrated
from discreet.accounting.terms.discrete_gaussian import DiscreteGaussian
from discreet.accounting.terms.discrete_laplace import DiscreteLaplace
from discreet.accounting.terms.gaussian import Gaussian
from discreet.accounting.terms.laplace import Laplace
from discreet.accounting.terms.one_of import OneOf
from discreet.accounting.terms.pure import Pure
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import ball, up

__all__ = ["OneOfEach", "draws_apart", "for_any_of", "on_two_parts"]

MOST_PAIRS = 64
"""Choices up to this many are paired one by one; of more the larger of two counts twice."""

EXACT_BITS = 512
"""Powers of probabilities with no more bits are kept as they are; of others they are rounded up."""

JOINED: dict[type, str] = {
    Pure: "epsilon",
    Laplace: "epsilon",
    BoundedRange: "epsilon",
    DiscreteLaplace: "sensitivity",
    Gaussian: "mu_squared",
    Concentrated: "parameter",
    DiscreteGaussian: "squared_sensitivity",
}
"""The size of each family, which adds up over parts.

Pure losses and ranges add by composition, rho and squared mu likewise. Shifts of Laplace noise in two coordinates add
up in one, because moving coordinate after coordinate composes the trade-off functions of the single moves, and for a
log-concave law these compose to that of the summed shift (Dong, Roth and Su, 2022). Squares of shifts of a vector add;
those of a single whole number do as its shifts in a row.
"""


@dataclass(frozen=True, slots=True)
class OneOfEach:
    """The j-th of some releases with probability ``weights[j]``, drawn in each part for itself; sizes rise with j."""

    weights: tuple[Fraction, ...]
    terms: tuple[Term, ...]
    kind: ClassVar[str] = "one_of_each"
    attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        OneOf(self.weights, self.terms)
        if len({_family(term) for term in self.terms}) > 1 or _family(self.terms[0]) is None:
            raise InvalidParameter("a choice in each part is among releases of one family.")
        if any(_size(a) >= _size(b) for a, b in pairwise(self.terms)):
            raise InvalidParameter("the releases of a choice in each part are listed by size, which rises.")

    @classmethod
    def of(cls, choice: "OneOf | OneOfEach") -> "OneOfEach":
        """Return a choice with its releases put into one family and in order.

        Releases of several families are known by what they have in common: epsilon if all are pure, else rho.
        """
        terms: Sequence[Term] = choice.terms
        if len({_family(term) for term in terms}) > 1 or _family(terms[0]) is None:
            if choice.pure is not None:
                terms = [Pure(term.pure or Fraction(0)) for term in terms]
            elif choice.rho is not None:
                terms = [Concentrated(term.rho or Fraction(0)) for term in terms]
            else:
                raise NoTheorem(
                    "each part draws its own of these releases, and they are not of one family of noise whose sizes "
                    "add up. Give every part one release that covers all of them."
                )
        return _from_law([(term, weight) for term, weight in zip(terms, choice.weights, strict=True)])

    @property
    def pure(self) -> Fraction | None:
        """The largest."""
        return self._once().pure

    @property
    def rho(self) -> Fraction | None:
        """The largest."""
        return self._once().rho

    def delta(self, epsilon: Fraction, /) -> float:
        """The average: a single record meets a single draw."""
        return self._once().delta(epsilon)

    def renyi(self, alpha: Fraction, /) -> float:
        """That of one choice."""
        return self._once().renyi(alpha)

    def pair(self) -> Pair | None:
        """That of one choice."""
        return self._once().pair()

    def group(self, size: int, /) -> "OneOfEach":
        """Up to ``size`` draws, all of them counted as the largest: its tails are ``1 - (1 - P)^size``.

        Each record of the group meets a draw of the law, or several of which this is the law of the sum. Whatever they
        share, all of them rise in the draws of the parts, so they miss a size at least as often as if they shared none
        (Harris, 1960). The sum of ``size`` of them is at most ``size`` times the largest.
        """
        if size == 1:
            return self
        tails = list(accumulate((_any(tail, size) for tail in _tails(self.weights)), min))
        return _from_tails(tails, [term.group(size) for term in self.terms])

    def _once(self) -> OneOf:
        return OneOf(self.weights, self.terms)


def on_two_parts(choice: OneOf) -> OneOfEach:
    """Return what a record costs that is replaced in its part, or that leaves a part and enters another one.

    In one part its draw j counts twice, as a group of two. In two parts, draws i and j are met with the probability
    ``w_i w_j``, and cost the joined size. The tails are the larger of both, so either is dominated.

    >>> one = OneOf((Fraction(9, 10), Fraction(1, 10)), (Pure(Fraction(1, 10)), Pure(Fraction(10))))
    >>> moved = on_two_parts(one)
    >>> [(float(w), float(term.epsilon)) for w, term in zip(moved.weights, moved.terms)]
    [(0.81, 0.2), (0.09, 10.1), (0.1, 20.0)]
    """
    once = OneOfEach.of(choice)
    if len(once.terms) > MOST_PAIRS:
        return once.group(2)
    law = list(zip(once.terms, once.weights, strict=True))
    inside = {term.group(2): weight for term, weight in law}
    across: dict[Term, Fraction] = {}
    for first, w in law:
        for second, v in law:
            both = _joined(first, second)
            across[both] = across.get(both, Fraction(0)) + w * v
    terms = sorted({*inside, *across}, key=_size)
    tails = [
        max(sum((w for term, w in law.items() if _size(term) >= _size(at)), Fraction(0)) for law in (inside, across))
        for at in terms
    ]
    return _from_tails(tails, terms)


def draws_apart(term: Term) -> OneOfEach | None:
    """Return a choice as one that each part or member may make for itself; None if the term is no such choice.

    A choice among several families is always that of a caller, who draws once for the whole data.
    """
    if isinstance(term, OneOf) and _family(term.terms[0]) and len({_family(part) for part in term.terms}) == 1:
        return OneOfEach.of(term)
    return term if isinstance(term, OneOfEach) else None


def for_any_of(once: OneOfEach, rate: Fraction, size: int) -> OneOfEach:
    """Return a choice for a group given that any of its members is seen, which each is with at most this rate.

    The chance that some member is seen and draws at least the j-th release is at most ``size`` times that of one, and
    so the group pays ``size`` times the largest of what its members draw. Where the chance to see any reaches 1, the
    large releases take their part of it first.
    """
    seen = min(Fraction(1), size * rate)
    tails = [min(seen, size * rate * tail) / seen for tail in _tails(once.weights)]
    return _from_tails(tails, [term.group(size) for term in once.terms])


def _tails(weights: Sequence[Fraction]) -> list[Fraction]:
    found = [Fraction(0)]
    for weight in reversed(weights):
        found.append(found[-1] + weight)
    return found[:0:-1]


def _any(tail: Fraction, size: int) -> Fraction:
    """Return ``1 - (1 - tail)^size``, rounded up where it is long."""
    if tail == 1 or tail.denominator.bit_length() * size <= EXACT_BITS:
        return 1 - (1 - tail) ** size
    return min(Fraction(1), Fraction(up(lambda: -((-ball(tail)).log1p() * size).expm1())))


def _from_tails(tails: Sequence[Fraction], terms: Sequence[Term]) -> OneOfEach:
    law = [(term, above - below) for term, (above, below) in zip(terms, pairwise([*tails, Fraction(0)]), strict=True)]
    return _from_law(law)


def _from_law(law: Sequence[tuple[Term, Fraction]]) -> OneOfEach:
    weights: dict[Term, Fraction] = {}
    for term, weight in law:
        weights[term] = weights.get(term, Fraction(0)) + weight
    listed = sorted(((term, weight) for term, weight in weights.items() if weight), key=lambda item: _size(item[0]))
    return OneOfEach(tuple(weight for _, weight in listed), tuple(term for term, _ in listed))


def _family(term: Term) -> tuple[object, ...] | None:
    """Return what releases have in common whose sizes are ordered and add up; None if that is known of none."""
    match term:
        case DiscreteLaplace():
            return DiscreteLaplace, term.scale
        case DiscreteGaussian():
            return DiscreteGaussian, term.sigma_squared, term.scalar
    return (type(term),) if type(term) in JOINED else None


def _size(term: Term) -> Fraction:
    return Fraction(getattr(term, JOINED[type(term)]))


def _joined(first: Term, second: Term) -> Term:
    """Return the release that dominates these two on different parts."""
    match first, second:
        case DiscreteLaplace(), DiscreteLaplace():
            return DiscreteLaplace(first.sensitivity + second.sensitivity, first.scale)
        case DiscreteGaussian(), DiscreteGaussian() if first.scalar:
            shift = isqrt(first.squared_sensitivity) + isqrt(second.squared_sensitivity)
            return DiscreteGaussian(shift**2, first.sigma_squared, first.scalar)
        case DiscreteGaussian(), DiscreteGaussian():
            both = first.squared_sensitivity + second.squared_sensitivity
            return DiscreteGaussian(both, first.sigma_squared, first.scalar)
    kind: type = type(first)
    joined: Term = kind(_size(first) + _size(second))
    return joined
