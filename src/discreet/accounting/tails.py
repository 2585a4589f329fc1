"""How likely a large privacy loss is.

The loss ``L = log(dP / dQ)`` of an output drawn from P exceeds epsilon with a probability that is *not* delta: that is
``E (1 - e^(epsilon - L))_+``, which can be far smaller (randomised response with 1.1 exceeds a loss of 1 three times in
four, and is (1, 0.0714)-DP). With ``x = e^epsilon`` and ``D(x)`` the hockey-stick divergence, ``P[L > epsilon]`` is
where the tangent of D at x meets the axis. D is convex, so for any x' < x

    P[L > epsilon] <= (x D(x') - x' D(x)) / (x - x') <= D(x') / (1 - x' / x).

The first bound needs D from above and from below, and holds for the pair whose D it is. The second needs D from above
alone, so it holds for *every* mechanism that is (log x', D(x'))-DP. The difference matters: an analyst who stops asking
once the loss is large makes a large loss more likely than the pair that dominates in terms of delta.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from discreet.accounting.composition import (
    Counted,
    _set_failures_aside,
    compositions,
    delta_of,
    epsilon_of,
    pure_of,
)
from discreet.accounting.numerical import Composition, Pair
from discreet.accounting.numerical.pairs import RELATIVE_ERROR, Floats
from discreet.accounting.terms import (
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Sampled,
    Term,
)
from discreet.exact import ball, up

__all__ = ["minimum", "tail_of", "worst_tail_of"]

NAMED = (DiscreteGaussian, DiscreteLaplace, FinitePair, Gaussian, Laplace, RandomizedResponse)
"""Kinds that name the law of the noise; the others only bound what a mechanism may do."""

SLACK = 1 + 1e-10
"""Covers the roundings of a quotient whose denominator is not below ``SMALLEST_GAP``."""

SMALLEST_GAP = 1e-5

FEW = 20
"""Releases up to this number are composed on a finer lattice: a difference of two deltas asks for more digits."""

RARELY = Fraction(1, 100)
"""How far below 0 it is worth to look for x': as far as a loss reaches that is exceeded about so often."""


def tail_of(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    """Return a bound on the probability that the loss of the dominating pair exceeds epsilon, in either direction.

    For terms that name no law (pure, approximate, zCDP, bounded range) it holds for every mechanism they allow.
    """
    failure, rest = _set_failures_aside(terms)
    below = min(1.0, _without_failure(rest, epsilon))
    return below if not failure else min(1.0, up(lambda: 1 - (1 - ball(failure)) * (1 - ball(below))))


def worst_tail_of(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    """Return a bound on the probability that the loss of any mechanism of this description exceeds epsilon.

    It holds under adaptive choice of the queries, and for mixtures of data sets. Where x' lies below 1,
    ``D(x') = 1 - x' + x' D(1 / x')``; for a pure loss this gives ``(1 - e^-epsilon0) / (1 - e^(-epsilon0 - epsilon))``.
    """
    total, top = pure_of(terms), _below(epsilon)
    if total is not None and epsilon >= total:
        return 0.0

    def bound(log_gap: float) -> float:
        place = top - math.exp(log_gap)
        return profile(place) / -math.expm1(place - top)

    def profile(place: float) -> float:
        if place >= 0:
            return delta_of(terms, Fraction(place))
        return -math.expm1(place) + math.exp(place) * delta_of(terms, -Fraction(place))

    ends = [] if total is None else [math.log(top + float(total))]
    reach = min(epsilon_of(terms, RARELY), 40.0)
    found = minimum(bound, math.log(SMALLEST_GAP * max(1.0, top)), math.log(top + reach + 1e-3), ends)
    return min(1.0, found * SLACK)


def minimum(function: Callable[[float], float], low: float, high: float, also: list[float] | None = None) -> float:
    """Return about the least value of a function: the best of a coarse grid and given points, refined nearby."""
    grid = {low + (high - low) * i / 12: 0.0 for i in range(13)} | dict.fromkeys(also or [], 0.0)
    values = {place: function(place) for place in grid}
    best = min(values, key=lambda place: values[place])
    found, ratio = values[best], (math.sqrt(5) - 1) / 2
    left, right = max(low, best - (high - low) / 12), min(high, best + (high - low) / 12)
    a, b = right - ratio * (right - left), left + ratio * (right - left)
    at_a, at_b = function(a), function(b)
    for _ in range(14):
        found = min(found, at_a, at_b)
        if at_a <= at_b:
            right, b, at_b = b, a, at_a
            a = right - ratio * (right - left)
            at_a = function(a)
        else:
            left, a, at_a = a, b, at_b
            b = left + ratio * (right - left)
            at_b = function(b)
    return min(found, at_a, at_b)


def _without_failure(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    total = pure_of(terms)
    if total is not None and epsilon >= total:
        return 0.0
    if not all(isinstance(_base(term), NAMED) for term, _ in terms):
        return worst_tail_of(terms, epsilon)
    if len(terms) == 1 and terms[0][1] == 1:
        found = _of_one(terms[0][0], epsilon)
        return worst_tail_of(terms, epsilon) if found is None else found
    readings = compositions(terms, lambda term: term.pair())
    if not readings:
        return worst_tail_of(terms, epsilon)
    return max(_both_ways(reading.pairs, epsilon) for reading in readings)


def _both_ways(pairs: tuple[tuple[Pair, int], ...], epsilon: Fraction) -> float:
    fineness = 4.0 if sum(count for _, count in pairs) <= FEW else 1.0
    ways = [Composition(tuple((OneWay(pair), count) for pair, count in pairs), fineness)]
    if any(pair.reversed() is not pair for pair, _ in pairs):
        ways.append(Composition(tuple((OneWay(pair.reversed()), count) for pair, count in pairs), fineness))
    return max(_composed(way, back, _below(epsilon)) for way, back in zip(ways, ways[::-1], strict=True))


def _base(term: Term) -> Term:
    return term.base if isinstance(term, Sampled) else term


def _of_one(term: Term, epsilon: Fraction) -> float | None:
    """Return the tail of a single term: a formula, or else from the masses of its pair."""
    e = epsilon
    match term:
        case Gaussian():
            return up(lambda: _normal(ball(e) / ball(term.mu_squared).sqrt() - ball(term.mu_squared).sqrt() / 2))
        case Laplace():
            return up(lambda: 1 - ball((e - term.epsilon) / 2).exp() / 2)
        case RandomizedResponse():
            return up(lambda: ball(term.epsilon).exp() / (ball(term.epsilon).exp() + term.categories - 1))
        case DiscreteLaplace():
            z = math.ceil((term.sensitivity - e * term.scale) / 2) - 1
            return up(lambda: 1 - (-ball((z + 1) / term.scale)).exp() / (1 + (-1 / ball(term.scale)).exp()))
    pair = term.pair()
    if pair is None:
        return None
    edge = _below(epsilon) * (1 - 1e-12)
    return max(_mass_above(way, edge) for way in (pair, pair.reversed())) * (1 + 4 * RELATIVE_ERROR)


def _normal(z: arb) -> arb:
    """Return the probability that a standard normal variable exceeds z."""
    return (z / arb(2).sqrt()).erfc() / 2


def _mass_above(pair: Pair, loss: float) -> float:
    edges = np.array([loss, math.inf])
    return float(pair.cells(edges)[0][0]) + float(pair.atoms(edges)[0][1])


def _composed(way: Composition, back: Composition, epsilon: float) -> float:
    """Return the first bound of this module at the best x', for one direction of a composition."""
    here = way.delta(epsilon, "lower")

    def bound(log_gap: float) -> float:
        place = epsilon - math.exp(log_gap)
        there = way.delta(place) if place >= 0 else -math.expm1(place) + math.exp(place) * back.delta(-place)
        return (there - math.exp(place - epsilon) * here) / -math.expm1(place - epsilon)

    reach = min(back.epsilon(float(RARELY)), 40.0)
    return minimum(bound, math.log(SMALLEST_GAP * max(1.0, epsilon)), math.log(epsilon + reach + 1e-3)) * SLACK


def _below(epsilon: Fraction) -> float:
    nearest = float(epsilon)
    return nearest if nearest <= epsilon else math.nextafter(nearest, -math.inf)


@dataclass(frozen=True, slots=True)
class OneWay:
    """One direction of a pair. It passes for its own reverse, so that only this direction is composed."""

    pair: Pair

    @property
    def support(self) -> tuple[float, float]:
        """That of the pair."""
        return self.pair.support

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Those of the pair."""
        return self.pair.cells(edges)

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Those of the pair."""
        return self.pair.atoms(edges)

    def span(self, tail: float, /) -> tuple[float, float]:
        """That of the pair."""
        return self.pair.span(tail)

    def reversed(self) -> "OneWay":
        """Itself."""
        return self
