"""The profile of a term's dominating pair in both directions, from above and from below: see ``numerical.profiled``.

Terms in closed form are evaluated in balls, one evaluation giving both bounds. The others bring a delta of their own.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from flint import arb

from discreet.accounting.numerical import LaplacePair
from discreet.accounting.numerical.pairs import Pair
from discreet.accounting.numerical.profiled import Bounds, Profile, Profiled
from discreet.accounting.terms.base import Term
from discreet.accounting.terms.bounded_range import BoundedRange
from discreet.accounting.terms.discrete_gaussian import DiscreteGaussian
from discreet.accounting.terms.discrete_laplace import DiscreteLaplace
from discreet.accounting.terms.finite_pair import FinitePair
from discreet.accounting.terms.gaussian import Gaussian
from discreet.accounting.terms.laplace import Laplace
from discreet.accounting.terms.one_of import OneOf
from discreet.accounting.terms.pure import Pure
from discreet.accounting.terms.randomized_response import RandomizedResponse
from discreet.accounting.terms.sampled import Sampled
from discreet.accounting.terms.shuffled import Shuffled
from discreet.accounting.terms.symmetric import SampledSymmetric, told_alike
from discreet.accounting.terms.witness import attained
from discreet.exact import ball, both, down, up

__all__ = ["profiled", "profiled_witness"]

Formula = Callable[[arb, bool], arb]
"""Delta at a ball of epsilons, of the first law against the second or, if so asked, of the second against the first."""

MOST_OUTCOMES = 64
MOST_SHIFT = 1 << 50
"""Shifts of whole numbers below this are floats exactly."""

MOST_POINTS = 1 << 12
"""Outcomes of discrete Gaussian noise up to which a sum over all of them at each point is quick."""


def profiled(term: Term) -> Profiled | None:
    """Return the term's pair with its profile; None for kinds whose profile takes long at each point."""
    pair = _outline(term)
    formula = _formula(term)
    if pair is None:
        return None
    if formula is not None:
        return Profiled(pair, partial(_in_balls, formula))
    found = _in_floats(term)
    return None if found is None else Profiled(pair, found)


def profiled_witness(term: Term) -> Profiled | None:
    """Return the profile of a mechanism that the term describes; None if none is at hand.

    A sample of either kind is represented by a record that makes the release P when it is seen and Q when not.
    """
    if not attained(term) or isinstance(term, BoundedRange) or isinstance(getattr(term, "base", None), BoundedRange):
        return None
    if isinstance(term, SampledSymmetric):
        base = profiled_witness(term.base)
        return None if base is None else profiled(Sampled(term.base, term.rate))
    return profiled(term)


def _outline(term: Term) -> Pair | None:
    """Return the term's pair, or one with the same ends."""
    if isinstance(term, DiscreteLaplace) and term.sensitivity and term.pair() is None:
        return LaplacePair(float(term.pure))
    return term.pair()


def _in_balls(formula: Formula, loss: float, back: bool) -> Bounds:
    epsilon = Fraction(loss)
    return both(lambda: formula(ball(epsilon), back))


def _formula(term: Term) -> Formula | None:
    match term:
        case Gaussian():
            return lambda e, _: _gaussian(term, e)
        case Laplace():
            return lambda e, _: (-((e - ball(term.epsilon)) / 2).expm1()).max(arb(0))
        case Pure():
            return lambda e, _: _response(term.epsilon, 2, e)
        case RandomizedResponse():
            return lambda e, _: _response(term.epsilon, term.categories, e)
        case BoundedRange():
            return lambda e, _: _bounded_range(term, e)
        case DiscreteLaplace() if term.sensitivity < MOST_SHIFT:
            return lambda e, _: _discrete_laplace(term, e)
        case FinitePair() if len(term.p) <= MOST_OUTCOMES:
            return lambda e, back: _finite(term.q, term.p, e) if back else _finite(term.p, term.q, e)
        case OneOf():
            return _one_of(term)
        case Sampled() | SampledSymmetric() if told_alike(term.base) and (base := _formula(term.base)) is not None:
            symmetric = isinstance(term, SampledSymmetric)
            return lambda e, back: _sampled(base, term.rate, e, back and not symmetric)
    return None


def _gaussian(term: Gaussian, e: arb) -> arb:
    mu, root = ball(term.mu_squared).sqrt(), arb(2).sqrt()
    return ((e / mu - mu / 2) / root).erfc() / 2 - e.exp() * ((e / mu + mu / 2) / root).erfc() / 2


def _response(epsilon: Fraction, answers: int, e: arb) -> arb:
    whole = ball(epsilon)
    return (-(e - whole).expm1() / (1 + (answers - 1) * (-whole).exp())).max(arb(0))


def _bounded_range(term: BoundedRange, e: arb) -> arb:
    if e >= ball(term.epsilon):
        return arb(0)
    gap = ((e - ball(term.epsilon)) / 2).expm1()
    return gap * gap / -(-ball(term.epsilon)).expm1()


def _discrete_laplace(term: DiscreteLaplace, e: arb) -> arb:
    """Return the best event ``Z <= z``; where e may lie on a loss, that of the z about it, which agree there."""
    s, w = term.sensitivity, 1 / ball(term.scale)
    if e >= ball(term.pure):
        return arb(0)
    near = math.floor(float(((s - e / w) / 2).mid().floor()))
    a, found = (-w).exp(), arb(0)
    for z in (near - 1, near, near + 1):
        if 0 <= z < s:
            found = found.max(1 - ((-(z + 1) * w).exp() + (e - (s - z) * w).exp()) / (1 + a))
    return found


def _finite(p: tuple[Fraction, ...], q: tuple[Fraction, ...], e: arb) -> arb:
    x = e.exp()
    return sum(((ball(a) - x * ball(b)).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))


def _one_of(term: OneOf) -> Formula | None:
    parts = [(w, _formula(part)) for w, part in zip(term.weights, term.terms, strict=True)]
    known = [(w, formula) for w, formula in parts if formula is not None]
    if len(known) < len(parts) or not all(told_alike(part) for part in term.terms):
        return None
    return lambda e, back: sum((ball(w) * formula(e, back) for w, formula in known), arb(0))


def _sampled(base: Formula, rate: Fraction, e: arb, back: bool) -> arb:
    q, rise = ball(rate), e.expm1()
    if not back:
        return q * base((rise / q).log1p(), False)
    left = q - rise * (1 - q)
    if left > 0:
        return left * base((rise / left).log1p(), False)
    return arb(0).union(left.max(arb(0)))


def _in_floats(term: Term) -> Profile | None:
    """Return the profile by a delta that is no formula in balls."""
    match term:
        case DiscreteGaussian() if 80 * math.sqrt(term.sigma_squared * term.squared_sensitivity) < MOST_POINTS:
            return lambda loss, _: (term.least_delta(Fraction(loss)), term.delta(Fraction(loss)))
        case Shuffled():
            return lambda loss, _: (0.0, term.delta(Fraction(loss)))
        case Sampled() | SampledSymmetric() if told_alike(term.base) and (base := _in_floats(term.base)) is not None:
            symmetric = isinstance(term, SampledSymmetric)
            return lambda loss, back: _sampled_in_floats(base, term.rate, Fraction(loss), back and not symmetric)
    return None


def _sampled_in_floats(base: Profile, rate: Fraction, epsilon: Fraction, back: bool) -> Bounds:
    """Return what ``_sampled`` does, each step rounded outward."""

    def left() -> arb:
        return ball(rate) - ball(epsilon).expm1() * (1 - ball(rate)) if back else ball(rate)

    if up(left) <= 0:
        return 0.0, 0.0
    if down(left) <= 0:
        return 0.0, up(left)
    low, high = both(lambda: (ball(epsilon).expm1() / left()).log1p()) if epsilon else (0.0, 0.0)
    least, most = base(max(high, 0.0), False)[0], base(max(low, 0.0), False)[1]
    return (
        down(lambda: left() * ball(least)) if least else 0.0,
        up(lambda: left() * ball(most)) if most else 0.0,
    )
