"""What several terms cost together.

Everything here is a proof for terms whose parameters were fixed beforehand, under adaptive choice of the queries:

- Gaussian terms add their squared mu, zCDP terms their rho, exactly;
- the probability that an (epsilon, delta) term gives everything away is set aside first, which loses nothing for the
  pair that dominates it;
- equal opaque pure terms compose as repeated randomised response (Kairouz, Oh and Viswanath, ICML 2015), exactly;
- anything else that has a dominating pair numerically, with certified bounds (``discreet.accounting.numerical``);
- what has none (zCDP) by the better of two valid routes: epsilons add, or Renyi divergences add.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb, fmpz

from discreet.accounting.numerical import Composition, Pair
from discreet.accounting.terms import Approximate, Concentrated, Gaussian, Pure, RandomizedResponse, Term
from discreet.accounting.terms.concentrated import renyi_delta
from discreet.exact import ball, smallest, up, upward

__all__ = ["Counted", "delta_of", "epsilon_of", "lower_epsilon_of", "merged", "pure_of", "renyi_of"]

Counted = tuple[Term, int]

EXACTLY = 1000
"""Failures of fewer copies than this are multiplied exactly, of more added up."""

REPEATS = 2000
"""Randomised response repeated up to this often is summed exactly."""


def merged(terms: Iterable[Counted]) -> tuple[Counted, ...]:
    """Return equal terms counted together, Gaussian and zCDP terms added up, in one canonical order."""
    mu_squared = rho = Fraction(0)
    counts: dict[Term, int] = {}
    for term, count in terms:
        if isinstance(term, Gaussian):
            mu_squared += count * term.mu_squared
        elif isinstance(term, Concentrated):
            rho += count * term.parameter
        elif count and term.pure != 0:
            counts[term] = counts.get(term, 0) + count
    if mu_squared:
        counts[Gaussian(mu_squared)] = 1
    if rho:
        counts[Concentrated(rho)] = 1
    return tuple(sorted(counts.items(), key=lambda item: (item[0].kind, repr(item[0]))))


def pure_of(terms: tuple[Counted, ...]) -> Fraction | None:
    """Return the sum of the pure epsilons; None if one term has none."""
    parts = [(term.pure, count) for term, count in terms]
    return None if any(e is None for e, _ in parts) else sum((e * k for e, k in parts if e is not None), Fraction(0))


def renyi_of(terms: tuple[Counted, ...], alpha: Fraction) -> float:
    """Return the sum of the Renyi divergences, rounded up."""
    divergences = [(term.renyi(alpha), count) for term, count in terms]
    if any(math.isinf(divergence) for divergence, _ in divergences):
        return math.inf
    return upward(sum((count * Fraction(divergence) for divergence, count in divergences), Fraction(0)))


def delta_of(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    """Return the delta that these terms together are proven to have at epsilon."""
    failure, rest = _set_failures_aside(terms)
    below = min(1.0, _delta_without_failure(rest, epsilon))
    return below if not failure else min(1.0, up(lambda: 1 - (1 - ball(failure)) * (1 - ball(below))))


def epsilon_of(terms: tuple[Counted, ...], delta: Fraction) -> float:
    """Return a smallest epsilon with ``delta_of(epsilon) <= delta``; infinite if there is none."""
    failure, rest = _set_failures_aside(terms)
    total = None if failure > delta else pure_of(rest)
    cap = math.inf if total is None else upward(total)
    if failure > delta or not delta or not cap:
        return cap
    if (pairs := _numerical(rest)) is not None:
        tight = min(cap, Composition(pairs).epsilon(_rest_of(delta, failure)))
        if math.isfinite(tight):
            return tight
    return smallest(lambda epsilon: delta_of(terms, Fraction(epsilon)) <= delta, cap)


def lower_epsilon_of(terms: tuple[Counted, ...], delta: Fraction) -> float:
    """Return an epsilon that some mechanism of this description exceeds or attains at delta.

    Losses without a dominating pair are represented by a mechanism that has them: zCDP by a Gaussian.
    """
    failure, rest = _set_failures_aside(terms)
    if any(isinstance(term, Approximate) and count >= EXACTLY for term, count in terms):
        return 0.0  # the failures of so many are only bounded from above
    if failure >= delta and failure:
        return math.inf if failure > delta else 0.0
    total = pure_of(rest)
    if not delta:
        return math.inf if total is None else math.nextafter(float(total), 0)
    concrete = merged(
        (Gaussian(2 * term.parameter), count) if isinstance(term, Concentrated) else (term, count)
        for term, count in rest
    )
    if _closed_form(concrete):
        return math.nextafter(epsilon_of(concrete, (delta - failure) / (1 - failure)) * (1 - 1e-12), 0)
    pairs = tuple((pair, count) for term, count in concrete if (pair := term.pair()) is not None)
    if not pairs or not Composition(pairs).feasible:
        return 0.0
    return Composition(pairs).epsilon(_rest_of(delta, failure), "lower")


def _set_failures_aside(terms: tuple[Counted, ...]) -> tuple[Fraction, tuple[Counted, ...]]:
    survival = Fraction(1)
    rest: list[Counted] = []
    for term, count in terms:
        if isinstance(term, Approximate):
            factor = 1 - term.failure
            survival *= factor**count if count < EXACTLY else max(Fraction(0), 1 - count * term.failure)
            rest.append((Pure(term.epsilon), count))
        else:
            rest.append((term, count))
    return 1 - survival, merged(rest)


def _delta_without_failure(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    total = pure_of(terms)
    if total is not None and epsilon >= total:
        return 0.0
    if len(terms) == 1:
        (term, count), *_ = terms
        if count == 1:
            return term.delta(epsilon)
        if count <= REPEATS and (isinstance(term, Pure) or term == RandomizedResponse(term.pure or Fraction(0))):
            return _repeated_response(term.pure or Fraction(0), count, epsilon)
    if (pairs := _numerical(terms)) is not None and (tight := Composition(pairs).delta(float(epsilon))) < 1:
        return tight
    return renyi_delta(lambda alpha: renyi_of(terms, alpha), epsilon)


def _closed_form(terms: tuple[Counted, ...]) -> bool:
    """Tell whether delta is known in closed form: one term, once, or repeated randomised response."""
    if len(terms) != 1:
        return False
    (term, count), *_ = terms
    return count == 1 or (count <= REPEATS and isinstance(term, Pure))


def _numerical(terms: tuple[Counted, ...]) -> tuple[tuple[Pair, int], ...] | None:
    """Return the pairs of all terms, if each has one and no closed form serves better."""
    if _closed_form(terms):
        return None
    pairs = tuple((pair, count) for term, count in terms if (pair := term.pair()) is not None)
    return pairs if len(pairs) == len(terms) and pairs and Composition(pairs).feasible else None


def _rest_of(delta: Fraction, failure: Fraction) -> float:
    """Return the delta that is left for everything but the failures, rounded down."""
    rest = (delta - failure) / (1 - failure)
    nearest = float(rest)
    return nearest if nearest <= rest else math.nextafter(nearest, 0)


def _repeated_response(epsilon0: Fraction, count: int, epsilon: Fraction) -> float:
    """Return delta of ``count`` binary randomised responses: a binomial sum over the outcomes of positive excess."""
    last = math.ceil((count - epsilon / epsilon0) / 2) - 1

    def formula() -> arb:
        e = ball(epsilon0).exp()
        total, binomial = arb(0), fmpz(1)
        for i in range(last + 1):
            total += binomial * (e ** (count - i) - ball(epsilon).exp() * e**i)
            binomial = binomial * (count - i) // (i + 1)
        return total / (1 + e) ** count

    return up(formula)
