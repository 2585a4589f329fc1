"""Mechanisms that attain a description: what a bound from below may count on."""

import math
from fractions import Fraction

from discreet.accounting import numerical
from discreet.accounting.numerical.bounded_range import two_losses
from discreet.accounting.numerical.pairs import Pair
from discreet.accounting.terms.base import Term, within
from discreet.accounting.terms.bounded_range import BoundedRange
from discreet.accounting.terms.concentrated import Concentrated
from discreet.accounting.terms.discrete_gaussian import DiscreteGaussian
from discreet.accounting.terms.discrete_laplace import DiscreteLaplace
from discreet.accounting.terms.finite_pair import FinitePair
from discreet.accounting.terms.gaussian import Gaussian
from discreet.accounting.terms.gaussian_mixture import GaussianMixture
from discreet.accounting.terms.laplace import Laplace
from discreet.accounting.terms.one_of import OneOf, SideBySide
from discreet.accounting.terms.sampled import Sampled
from discreet.accounting.terms.symmetric import SampledSymmetric
from discreet.exact import ball, down, up

__all__ = ["attained", "attained_in_groups", "concrete", "least_delta", "loose", "witness"]

LAST_BITS = 1 - 2.0**-50
"""A formula that is rounded up is too large by no more."""


def loose(term: Term) -> bool:
    """Tell whether the term's pair, composed, costs more than its Renyi divergences may."""
    return any(isinstance(part, BoundedRange) for part in within(term))


def attained(term: Term) -> bool:
    """Tell whether at every epsilon some mechanism of the description has the term's delta.

    The term and all that it is made of must say so; a kind that says nothing is not attained.
    """
    parts = list(within(term))
    if any(isinstance(part, FinitePair) for part in parts[1:]):
        return False  # the formula for a sample takes the worse direction of the base in both of its own
    return all(getattr(part, "attained", False) is True for part in parts)


def attained_in_groups(term: Term, grown: Term) -> bool:
    """Tell whether some chain of neighbours of the term costs as much as what is said of its groups.

    Shifts of noise may all go the same way, and so may losses of a bounded range. A chain of pure steps reaches its
    epsilon, but not with the delta of randomised response, and members of a group that are drawn one by one may be
    drawn alone: those are bounds. Members that are added together to a sample are a mixture, which is exact.
    """
    match term:
        case Gaussian() | Laplace() | DiscreteLaplace() | BoundedRange() | Concentrated():
            return True
        case DiscreteGaussian():
            return term.scalar and math.isqrt(term.squared_sensitivity) ** 2 == term.squared_sensitivity
        case OneOf() if isinstance(grown, OneOf):
            return all(map(attained_in_groups, term.terms, grown.terms))
    return isinstance(grown, GaussianMixture)


def concrete(term: Term) -> Term:
    """Return the term with a Gaussian for each zCDP loss that it is made of, whose divergences are the same."""
    match term:
        case Concentrated():
            return Gaussian(2 * term.parameter)
        case OneOf():
            return OneOf(term.weights, tuple(map(concrete, term.terms)))
        case Sampled() | SampledSymmetric():
            return type(term)(concrete(term.base), term.rate)
    return term


def least_delta(term: Term, epsilon: Fraction) -> float:
    """Return a delta that some mechanism of an attained description has or exceeds: its formula, less its roundings.

    A sample is represented as by ``witness``: ``q D(1 + (x - 1) / q)`` is what it costs to leave the record out.
    """
    match term:
        case Sampled() | SampledSymmetric():
            q = term.rate
            inner = Fraction(up(lambda: (ball(epsilon).expm1() / ball(q)).log1p())) if epsilon else epsilon
            whole = Fraction(least_delta(term.base, inner))
            return down(lambda: ball(q) * ball(whole)) if whole else 0.0
        case OneOf():
            parts = zip(term.weights, term.terms, strict=True)
            total = sum((w * Fraction(least_delta(part, epsilon)) for w, part in parts), Fraction(0))
            return down(lambda: ball(total)) if total else 0.0
        case DiscreteGaussian() | GaussianMixture():
            return term.least_delta(epsilon)
    return max(0.0, term.delta(epsilon) * LAST_BITS - 5e-324)


def witness(term: Term, share: float = 0.5) -> Pair | None:
    """Return the pair of a mechanism that the term describes; None if none is at hand.

    Of a bounded range it is one with two losses, the larger being ``share`` of the range. A sample of either kind is
    represented by a record that makes the release P when it is seen and Q when not.
    """
    if isinstance(term, BoundedRange):
        return two_losses(float(term.epsilon), share)
    if isinstance(term, Sampled | SampledSymmetric):
        base = witness(term.base, share)
        return None if base is None else numerical.Sampled(base, float(term.rate))
    if isinstance(term, OneOf):
        parts = [(float(w), witness(part, share)) for w, part in zip(term.weights, term.terms, strict=True)]
        known = tuple((w, pair) for w, pair in parts if pair is not None)
        return SideBySide(known) if len(known) == len(parts) else None
    return term.pair() if attained(term) else None
