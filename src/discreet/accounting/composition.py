"""What several terms cost together.

Everything here is a proof for terms whose parameters were fixed beforehand, under adaptive choice of the queries:

- Gaussian terms add their squared mu, zCDP terms their rho, exactly;
- the probability that an (epsilon, delta) term gives everything away is set aside first, which loses nothing for the
  pair that dominates it;
- equal opaque pure terms compose as repeated randomised response (Kairouz, Oh and Viswanath, ICML 2015), exactly;
- anything else that has a dominating pair numerically, with certified bounds (``discreet.accounting.numerical``);
- pairs of laws, which do not say what data set has a record more, beside samples, which do: in either order;
- what has none (zCDP) by the better of two valid routes: epsilons add, or Renyi divergences add;
- a bounded range, whose pair is looser than its Renyi divergences once composed, by the best of all three;
- the probability that a batch is cut (``Overflow``) is set aside first of all: each of two laws is within that distance
  of the one that is accounted for, which costs ``(1 + e^epsilon)`` times it.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial

from flint import arb, fmpz

from discreet.accounting.numerical import Composition, Pair
from discreet.accounting.numerical.pairs import RELATIVE_ERROR
from discreet.accounting.numerical.profiled import Profiled
from discreet.accounting.terms import (
    Approximate,
    Concentrated,
    FinitePair,
    Gaussian,
    GaussianMixture,
    Overflow,
    Pure,
    RandomizedResponse,
    RenyiCurve,
    Sampled,
    SampledSymmetric,
    Term,
    loose,
    profiled,
)
from discreet.accounting.terms.concentrated import renyi_delta
from discreet.accounting.terms.symmetric import told_alike
from discreet.exact import ball, smallest, up, upward

__all__ = [
    "Counted",
    "coarse",
    "compositions",
    "delta_of",
    "epsilon_of",
    "joined",
    "merged",
    "profiles",
    "pure_of",
    "readings",
    "renyi_of",
]

Counted = tuple[Term, int]

EXACTLY = 1000
"""Failures of fewer copies than this are multiplied exactly, of more in balls."""

RAISED = (0.0, 2.0**-51, 2.0**-47, 2.0**-40, 2.0**-24, 2.0**-20, 2.0**-18, 2.0**-16, 2.0**-15)
"""Parts by which an epsilon is raised until its delta is confirmed."""

COARSE = 1e-5
"""A part of epsilon that the rounding of masses may add before profiles are asked, which take longer."""

MOST_PROFILES = 6
"""Profiles are evaluated point by point: of so many different terms in time."""

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
    """Return the sum of the pure epsilons, pairs of laws in their worse direction; None if one term has none."""
    sums = [Fraction(0), Fraction(0)]
    for term, count in terms:
        ends = term.ends if isinstance(term, FinitePair) else None if term.pure is None else (term.pure, term.pure)
        if ends is None:
            return None
        sums = [total + count * end for total, end in zip(sums, ends, strict=True)]
    return max(sums)


def readings(terms: tuple[Counted, ...]) -> tuple[tuple[Counted, ...], ...]:
    """Return the terms and, where it matters, the terms with all pairs of laws turned round.

    A Poisson sample says which of two data sets has a record more, and pairs of laws do not.
    """
    if all(told_alike(term) for term, _ in terms):
        return (terms,)
    turned = tuple((term.turned() if isinstance(term, FinitePair) else term, count) for term, count in terms)
    return (terms, turned) if any(isinstance(term, Sampled | GaussianMixture) for term, _ in terms) else (terms,)


def renyi_of(terms: tuple[Counted, ...], alpha: Fraction) -> float:
    """Return the sum of the Renyi divergences, rounded up."""
    divergences = [(term.renyi(alpha), count) for term, count in terms]
    if any(math.isinf(divergence) for divergence, _ in divergences):
        return math.inf
    return upward(sum((count * Fraction(divergence) for divergence, count in divergences), Fraction(0)))


def delta_of(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    """Return the delta that these terms together are proven to have at epsilon."""
    cut, uncut = _set_overflow_aside(terms)
    failure, rest = _set_failures_aside(uncut)
    below = min(1.0, _delta_without_failure(joined(rest), epsilon))
    if failure:
        below = min(1.0, up(lambda: 1 - (1 - ball(failure)) * (1 - ball(below))))
    return below if not cut else min(1.0, up(lambda: ball(below) + _beside(epsilon, cut)))


def epsilon_of(terms: tuple[Counted, ...], delta: Fraction) -> float:
    """Return about the smallest epsilon with ``delta_of(epsilon) <= delta``; infinite if there is none.

    Epsilon and delta are both computed up to a part in 10^5 or so, each rounded outward. An epsilon that is proven by
    its own computation is raised by so little where that of delta does not confirm it.
    """
    found = _proven_epsilon(terms, delta)
    if not delta or not 0 < found < math.inf:
        return found
    for part in RAISED:
        raised = found * (1 + part)
        if delta_of(terms, Fraction(raised)) <= delta:
            return raised
    return found


def _proven_epsilon(terms: tuple[Counted, ...], delta: Fraction) -> float:
    cut, uncut = _set_overflow_aside(terms)
    if cut:
        return _epsilon_beside(cut, uncut, delta)
    failure, rest = _set_failures_aside(terms)
    rest = joined(rest)
    total = None if failure > delta else pure_of(rest)
    cap = math.inf if total is None else upward(total)
    if failure > delta or not delta or not cap:
        return cap
    if _closed_form(rest) and isinstance(pair := rest[0][0], FinitePair):
        ratio = pair.ratio((delta - failure) / (1 - failure))
        return math.inf if ratio is None else up(lambda: ball(ratio).log()) if ratio > 1 else 0.0
    listed = bool(_orders(rest))
    if _closed_form(rest) and not listed:
        return smallest(lambda epsilon: delta_of(terms, Fraction(epsilon)) <= delta, cap)
    tight = math.inf if listed else _composed_epsilon(rest, _rest_of(delta, failure))
    if math.isfinite(tight) and not any(loose(term) for term, _ in rest):
        return min(cap, tight)
    return min(cap, tight, _renyi_epsilon(rest, delta, failure))


def _composed_epsilon(terms: tuple[Counted, ...], delta: float) -> float:
    """Return the epsilon of the composed pairs, by their masses or else by their profiles; infinite if by neither."""
    tight = max((reading.epsilon(delta) for reading in _numerical(terms)), default=math.inf)
    if math.isfinite(tight) and not coarse(terms, tight):
        return tight
    return min(tight, max((reading.epsilon(delta) for reading in profiles(terms, profiled)), default=math.inf))


def coarse(terms: tuple[Counted, ...], epsilon: float) -> bool:
    """Tell whether the rounding of masses, over all copies, is much beside an epsilon."""
    return 2 * RELATIVE_ERROR * sum(count for _, count in terms) > COARSE * epsilon


def _set_overflow_aside(terms: tuple[Counted, ...]) -> tuple[Fraction, tuple[Counted, ...]]:
    cut = sum((term.probability * count for term, count in terms if isinstance(term, Overflow)), Fraction(0))
    return min(cut, Fraction(1)), tuple(item for item in terms if not isinstance(item[0], Overflow)) if cut else terms


def _epsilon_beside(cut: Fraction, rest: tuple[Counted, ...], delta: Fraction) -> float:
    """Return an epsilon with ``delta_of(rest, epsilon) + (1 + e^epsilon) cut <= delta``.

    The cost of a guess that turns out to be no smaller than the epsilon it leads to is an upper bound on that of the
    epsilon itself, so the answer is a proof. Guesses rise from the epsilon that the least possible cost leads to.
    """
    guess = 0.0
    for _ in range(60):
        left = delta - Fraction(up(partial(_beside, Fraction(guess), cut)))
        found = _proven_epsilon(rest, left) if left >= 0 else math.inf
        if found <= guess or math.isinf(found):
            return found
        guess = found * (1 + 1e-9) + 1e-12
    return math.inf


def _beside(epsilon: Fraction, cut: Fraction) -> arb:
    return (1 + ball(epsilon).exp()) * ball(cut)


def _set_failures_aside(terms: tuple[Counted, ...]) -> tuple[Fraction, tuple[Counted, ...]]:
    if not any(isinstance(term, Approximate) for term, _ in terms):
        return Fraction(0), terms
    survival = Fraction(1)
    rest: list[Counted] = []
    for term, count in terms:
        if isinstance(term, Approximate):
            survival *= _surviving(term.failure, count)
            rest.append((Pure(term.epsilon), count))
        else:
            rest.append((term, count))
    return 1 - survival, merged(rest)


def _surviving(failure: Fraction, count: int) -> Fraction:
    """Return the probability that none of several fails: exactly, or from below if they are many."""
    if not failure or count < EXACTLY:
        return (1 - failure) ** count
    if failure == 1:
        return Fraction(0)
    return 1 - Fraction(min(1.0, up(lambda: -((-ball(failure)).log1p() * count).expm1())))


def joined(terms: tuple[Counted, ...]) -> tuple[Counted, ...]:
    """Return pairs of laws that give the data set away or else have a single ratio, if all are, as one such pair.

    None of them gives it away with the product of the probabilities, which is rounded down where factors are many; a
    pair that gives away more, in either law, dominates.
    """
    if len(terms) == 1 and terms[0][1] == 1:
        return terms
    kept = [Fraction(1), Fraction(1)]
    for term, count in terms:
        if not isinstance(term, FinitePair) or term.common > 1:
            return terms
        kept = [part * _surviving(gone, count) for part, gone in zip(kept, term.revealed, strict=True)]
    first, second = kept
    return ((FinitePair((1 - first, first, Fraction(0)), (Fraction(0), second, 1 - second)), 1),) if terms else terms


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
    composed = _numerical(terms)
    tight = max((reading.delta(float(epsilon)) for reading in composed), default=1.0)
    if tight < 1 and not coarse(terms, float(epsilon)):
        return min(tight, _renyi_delta(terms, epsilon)) if any(loose(term) for term, _ in terms) else tight
    by_profile = max((reading.delta(float(epsilon)) for reading in profiles(terms, profiled)), default=1.0)
    return min(tight, by_profile, _renyi_delta(terms, epsilon))


def _renyi_delta(terms: tuple[Counted, ...], epsilon: Fraction) -> float:
    return renyi_delta(
        lambda alpha: renyi_of(terms, alpha), epsilon, also=_orders(terms), guide=partial(_roughly, terms)
    )


def _roughly(terms: tuple[Counted, ...], alpha: Fraction) -> float:
    """Return the sum of the Renyi divergences to some digits, where those are quicker to have: to look for an order."""
    return math.fsum(
        count * (term.renyi_roughly(alpha) if isinstance(term, Sampled | SampledSymmetric) else term.renyi(alpha))
        for term, count in terms
    )


def _renyi_epsilon(terms: tuple[Counted, ...], delta: Fraction, failure: Fraction) -> float:
    """Return the epsilon that Renyi divergences prove."""
    listed, left = _orders(terms), (delta - failure) / (1 - failure)
    if not left:
        return math.inf
    from discreet.accounting.theorems.renyi import best_order, renyi_epsilon

    best = best_order(partial(_roughly, terms), math.log(left.numerator) - math.log(left.denominator), "improved")
    return renyi_epsilon(partial(renyi_of, terms), left, orders=(best, *listed)).epsilon


def _orders(terms: tuple[Counted, ...]) -> tuple[Fraction, ...]:
    """Return the orders at which a listed curve bends: the best order is often one of them."""
    bases = [getattr(term, "base", term) for term, _ in terms]
    return tuple(order for term in bases if isinstance(term, RenyiCurve) for order, _ in term.points)


def _closed_form(terms: tuple[Counted, ...]) -> bool:
    """Tell whether delta is known in closed form: one term, once, or repeated randomised response."""
    if len(terms) != 1:
        return False
    (term, count), *_ = terms
    return count == 1 or (count <= REPEATS and isinstance(term, Pure))


def _numerical(terms: tuple[Counted, ...]) -> tuple[Composition, ...]:
    """Return what is to be composed numerically, in every reading; nothing where a closed form serves better."""
    return () if _closed_form(terms) else compositions(terms, lambda term: term.pair())


def compositions(
    terms: tuple[Counted, ...], pair_of: Callable[[Term], Pair | None], *, partly: bool = False
) -> tuple[Composition, ...]:
    """Return the compositions of the terms' pairs, one for each reading; nothing if one is not feasible.

    Terms without a pair are left out where that is asked for, else nothing is returned either.
    """
    found = []
    for reading in readings(terms):
        pairs = tuple((pair, count) for term, count in reading if (pair := pair_of(term)) is not None)
        if not (partly or len(pairs) == len(terms)) or not _feasible(pairs):
            return ()
        found.append(Composition(pairs))
    return tuple(found)


def profiles(
    terms: tuple[Counted, ...], pair_of: Callable[[Term], Profiled | None], *, partly: bool = False
) -> tuple[Composition, ...]:
    """Return the compositions of a few terms by their profiles, for losses of a size that masses cannot carry."""
    if len(terms) > MOST_PROFILES:
        return ()
    found = []
    for reading in readings(terms):
        pairs = tuple((pair, count) for term, count in reading if (pair := pair_of(term)) is not None)
        if not pairs or not (partly or len(pairs) == len(terms)):
            return ()
        found.append(Composition(pairs))
    return tuple(found)


def _feasible(pairs: tuple[tuple[Pair, int], ...]) -> bool:
    try:
        return bool(pairs) and Composition(pairs).feasible
    except ArithmeticError:  # losses beyond what float64 can exponentiate
        return False


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
