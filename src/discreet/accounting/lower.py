"""Bounds from below: what some mechanism of a description does cost, beside what all of them are proven to cost.

A bound from above alone cannot be told from a loose one. Both together say how much a better proof could still gain,
and a lower bound above an upper one would be a bug: ``both_epsilons`` does not hide it.
"""

import math
from fractions import Fraction

from discreet.accounting.composition import (
    EXACTLY,
    Counted,
    _closed_form,
    _set_failures_aside,
    delta_of,
    epsilon_of,
    lower_epsilon_of,
    merged,
    pure_of,
)
from discreet.accounting.numerical import Composition
from discreet.accounting.terms import (
    Approximate,
    Concentrated,
    DiscreteLaplace,
    FinitePair,
    Gaussian,
    Laplace,
    Overflow,
    Pure,
    RandomizedResponse,
    witness,
)
from discreet.exact import ball, down

__all__ = ["both_epsilons", "lower_delta_of"]

SUMMED = (DiscreteLaplace, FinitePair, Gaussian, Laplace, Pure, RandomizedResponse)
"""Kinds whose delta is a formula and not a bound: it is too large by its last bits alone."""


def both_epsilons(terms: tuple[Counted, ...], delta: Fraction) -> tuple[float, float]:
    """Return the lower and the upper bound on epsilon as they are computed."""
    return lower_epsilon_of(terms, delta), epsilon_of(terms, delta)


def lower_delta_of(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    """Return a delta that some mechanism of this description attains or exceeds at epsilon; 0 where none is known.

    Losses whose pair no mechanism attains are represented by one that has them (see ``witness``), zCDP by a Gaussian;
    those that say too little, and batches that may be cut, by nothing at all.

    >>> terms = ((Laplace(Fraction(1, 10)), 50),)
    >>> low, high = lower_delta_of(terms, Fraction(1)), delta_of(terms, Fraction(1))
    >>> 0.999 * high < low <= high
    True
    """
    failure, rest = _set_failures_aside(terms)
    if any(isinstance(term, Approximate) and count >= EXACTLY for term, count in terms):
        failure = Fraction(0)  # the failures of so many are only bounded from above
    concrete = merged(
        (Gaussian(2 * term.parameter), count) if isinstance(term, Concentrated) else (term, count)
        for term, count in rest
        if not isinstance(term, Overflow)
    )
    below = _without_failure(concrete, epsilon)
    return below if not failure else max(0.0, down(lambda: 1 - (1 - ball(failure)) * (1 - ball(below))))


def _without_failure(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    total = pure_of(terms)
    if total is not None and epsilon >= total:
        return 0.0
    if _closed_form(terms) and isinstance(terms[0][0], SUMMED):
        return max(0.0, delta_of(terms, epsilon) * (1 - 2.0**-50) - 5e-324)
    pairs = tuple((pair, count) for term, count in terms if (pair := witness(term)) is not None)
    if not pairs or not Composition(pairs).feasible:
        return 0.0
    nearest = float(epsilon)
    return Composition(pairs).delta(nearest if nearest >= epsilon else math.nextafter(nearest, math.inf), "lower")
