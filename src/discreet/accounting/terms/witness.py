"""Mechanisms that attain a description: what a bound from below may count on."""

from discreet.accounting import numerical
from discreet.accounting.numerical.bounded_range import two_losses
from discreet.accounting.numerical.pairs import Pair
from discreet.accounting.terms.base import Term
from discreet.accounting.terms.bounded_range import BoundedRange
from discreet.accounting.terms.discrete_gaussian import DiscreteGaussian
from discreet.accounting.terms.finite_pair import FinitePair
from discreet.accounting.terms.sampled import Sampled
from discreet.accounting.terms.symmetric import SampledSymmetric

__all__ = ["attained", "loose", "witness"]

UNATTAINED = ("overflow", "renyi_curve", "shuffled")
"""Kinds that only bound: none of their mechanisms is known to cost as much."""


def loose(term: Term) -> bool:
    """Tell whether the term's pair, composed, costs more than its Renyi divergences may."""
    return isinstance(getattr(term, "base", term), BoundedRange)


def attained(term: Term) -> bool:
    """Tell whether at every epsilon some mechanism of the description has the term's delta."""
    base = getattr(term, "base", term)
    if isinstance(base, FinitePair) and base is not term:
        return False  # the formula for a sample takes the worse direction of the base in both of its own
    return base.kind not in UNATTAINED and not (isinstance(base, DiscreteGaussian) and not base.summed)


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
    return term.pair() if attained(term) else None
