"""Bounds from below: what some mechanism of a description does cost, beside what all of them are proven to cost.

A bound from above alone cannot be told from a loose one. Both together say how much a better proof could still gain,
and a lower bound above an upper one would be a bug: ``both_epsilons`` does not hide it.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from discreet.accounting.composition import (
    EXACTLY,
    Counted,
    _beside,
    _closed_form,
    _rest_of,
    _set_failures_aside,
    _set_overflow_aside,
    coarse,
    compositions,
    delta_of,
    epsilon_of,
    joined,
    merged,
    profiles,
    pure_of,
)
from discreet.accounting.terms import (
    Approximate,
    FinitePair,
    Overflow,
    attained,
    concrete,
    least_delta,
    loose,
    profiled_witness,
    witness,
)
from discreet.exact import ball, down, up

__all__ = ["both_epsilons", "lower_delta_of"]

SHARES = (0.5, 0.6, 0.7, 0.85)
"""Where in its range the larger of the two losses of a mechanism of bounded range lies."""

FARTHEST = 2.0**60
"""Epsilons beyond this are not looked at."""


def both_epsilons(terms: tuple[Counted, ...], delta: Fraction) -> tuple[float, float]:
    """Return the lower and the upper bound on epsilon as they are computed."""
    return _lower_epsilon(terms, delta), epsilon_of(terms, delta)


def lower_delta_of(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    """Return a delta that some mechanism of this description attains or exceeds at epsilon; 0 where none is known.

    Losses whose pair no mechanism attains are represented by one that has them (see ``witness``), zCDP by a Gaussian;
    those that say too little, and batches that may be cut, by nothing at all.

    >>> from discreet.accounting.terms import Laplace
    >>> terms = ((Laplace(Fraction(1, 10)), 50),)
    >>> low, high = lower_delta_of(terms, Fraction(1)), delta_of(terms, Fraction(1))
    >>> 0.999 * high < low <= high
    True
    """
    failure, rest = _failures(tuple(item for item in terms if not isinstance(item[0], Overflow)))
    below = _without_failure(_concrete(rest), epsilon)
    return below if not failure else max(0.0, down(lambda: 1 - (1 - ball(failure)) * (1 - ball(below))))


def _without_failure(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    total = pure_of(terms)
    if total is not None and epsilon >= total:
        return 0.0
    if _closed_form(terms) and attained(terms[0][0]):
        return _least(terms, epsilon)
    nearest = float(epsilon)
    at = nearest if nearest >= epsilon else math.nextafter(nearest, math.inf)
    found = max((reading.delta(at, "lower") for reading in compositions(terms, witness, partly=True)), default=0.0)
    if found > 0 and not coarse(terms, at):
        return found
    by_profile = profiles(terms, profiled_witness, partly=True)
    return max(found, *(reading.delta(at, "lower") for reading in by_profile), 0.0)


def _lower_epsilon(terms: tuple[Counted, ...], delta: Fraction) -> float:
    """Return an epsilon that some mechanism of this description exceeds or attains at delta.

    Losses whose pair no mechanism attains are represented by one that has them: zCDP by a Gaussian, a bounded range by
    two losses, one of which is a share of the range; those that say too little by nothing at all.
    """
    cut, terms = _set_overflow_aside(terms)
    if cut:
        most = epsilon_of(((Overflow(cut), 1), *terms), delta)
        if math.isinf(most):
            return 0.0
        delta += Fraction(up(partial(_beside, Fraction(most), cut)))
        if delta >= 1:
            return 0.0
    failure, rest = _failures(terms)
    if failure >= delta and failure:
        return math.inf if failure > delta else 0.0
    known = _concrete(rest)
    if not delta:
        total = pure_of(known)
        return 0.0 if not all(attained(t) for t, _ in known) else math.inf if total is None else _below(total)
    left = (delta - failure) / (1 - failure)
    if _closed_form(known) and isinstance(pair := known[0][0], FinitePair):
        ratio = pair.ratio(left)
        return math.inf if ratio is None else down(lambda: ball(ratio).log()) if ratio > 1 else 0.0
    if _closed_form(known) and attained(known[0][0]):
        return _last(lambda epsilon: _least(known, Fraction(epsilon)) > left, epsilon_of(known, left))
    shares = SHARES if any(loose(term) for term, _ in known) else SHARES[:1]
    found = (compositions(known, partial(witness, share=share), partly=True) for share in shares)
    at = _rest_of(delta, failure)
    tight = max((reading.epsilon(at, "lower") for readings in found for reading in readings), default=0.0)
    if tight > 0 and not coarse(known, tight):
        return tight
    by_profile = profiles(known, profiled_witness, partly=True)
    return max(tight, *(reading.epsilon(at, "lower") for reading in by_profile), 0.0)


def _failures(terms: tuple[Counted, ...]) -> tuple[Fraction, tuple[Counted, ...]]:
    """Return what is given away, from below, and all the rest."""
    failure, rest = _set_failures_aside(terms)
    if any(isinstance(term, Approximate) and count >= EXACTLY for term, count in terms):
        failure *= 1 - Fraction(1, 2**50)  # of so many it was rounded up
    return failure, rest


def _concrete(terms: tuple[Counted, ...]) -> tuple[Counted, ...]:
    """Return terms that name their noise where a mechanism of the description does."""
    known = merged((concrete(term), count) for term, count in terms)
    return joined(known) if all(count < EXACTLY for _, count in known) else known


def _least(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    """Return a delta from below where it is known in closed form."""
    (term, count), *_ = terms
    return least_delta(term, epsilon) if count == 1 else max(0.0, delta_of(terms, epsilon) * (1 - 2.0**-50) - 5e-324)


def _last(holds: Callable[[float], bool], most: float) -> float:
    """Return about the last place up to the most at which a condition has been seen to hold, or 0."""
    low, high = 0.0, min(most, FARTHEST)
    near = high * (1 - 1e-9)
    low = near if holds(near) else low
    while high - low > 1e-13 * high and high > 1e-300:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _below(total: Fraction) -> float:
    return max(0.0, math.nextafter(float(total * (1 - Fraction(1, 2**50))), 0))
