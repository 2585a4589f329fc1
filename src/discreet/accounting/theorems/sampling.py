"""Amplification by sampling: a mechanism that sees a random part of the data protects better.

Balle, Barthe and Gaboardi, NeurIPS 2018. With ``epsilon' = ln(1 + q (e^epsilon - 1))`` and q the probability that a
record is seen, ``delta'(epsilon') = q delta(epsilon)``. Which neighbours this is about depends on the sampling, and no
theorem here covers a pair that is not listed:

- Poisson (each record by its own coin): add_remove; replace_one if the base holds under both relations;
- without replacement (m of n, all subsets alike): replace_one;
- with replacement (m draws from n): replace_one, and a record may be drawn k times, so the base's promise to groups
  of k counts. It has a delta even if the base is pure.
"""

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from discreet.accounting.terms import Approximate
from discreet.accounting.theorems.guarantee import Guarantee, not_negative, whole
from discreet.errors import InvalidParameter, RelationMismatch
from discreet.exact import Real, ball, finite, probability, up, upward
from discreet.units import check_relation

__all__ = [
    "poisson_sampling",
    "poisson_sampling_replace_one",
    "require",
    "sampling_with_replacement",
    "sampling_without_replacement",
]


def poisson_sampling(epsilon: Real, delta: Real = 0, *, rate: Real, relation: str) -> Guarantee:
    """Return the guarantee when each record is seen with probability ``rate``, independently; for add_remove.

    Holds whenever the base is (epsilon, delta)-DP under add_remove. The sample's size must stay private.

    >>> poisson_sampling(1, 1e-5, rate=0.01, relation="add_remove")
    Guarantee(epsilon=0.01703686323617..., delta=1...e-07)
    """
    require(
        relation,
        "add_remove",
        "for replace_one use poisson_sampling_replace_one, which needs the base's guarantee under both relations.",
    )
    return _amplified(epsilon, delta, probability(rate, "rate", zero=True, one=True))


def poisson_sampling_replace_one(
    *, add_remove: tuple[Real, Real], replace_one: tuple[Real, Real], rate: Real
) -> Guarantee:
    """Return the guarantee under replace_one of Poisson sampling, from the base's guarantees under both relations.

    Both are needed. Given the other records seen, the laws are ``(1 - q) M(T) + q M(T+a)`` and ``(1 - q) M(T) +
    q M(T+b)``, and advanced joint convexity compares M(T+a) with a mixture of M(T) and M(T+b): a neighbour under
    add_remove and one under replace_one.

    >>> poisson_sampling_replace_one(add_remove=(1, 0), replace_one=(2, 0), rate=0.1)
    Guarantee(epsilon=0.49402870804..., delta=0.0)
    """
    pairs = [_pair(pair, name) for pair, name in ((add_remove, "add_remove"), (replace_one, "replace_one"))]
    epsilon, delta = (max(values) for values in zip(*pairs, strict=True))
    return _amplified(epsilon, delta, probability(rate, "rate", zero=True, one=True))


def sampling_without_replacement(
    epsilon: Real, delta: Real = 0, *, size: int, population: int, relation: str
) -> Guarantee:
    """Return the guarantee when ``size`` of ``population`` records are seen, all subsets alike; for replace_one.

    Holds whenever the base is (epsilon, delta)-DP under replace_one on data sets of that size.

    >>> sampling_without_replacement(1, 1e-5, size=1, population=100, relation="replace_one")
    Guarantee(epsilon=0.01703686323617..., delta=1...e-07)
    """
    require(relation, "replace_one", "without replacement the size is public; for add_remove sample by Poisson coins.")
    seen, of = _drawn(size, population)
    if seen > of:
        raise InvalidParameter(f"size must be at most population, got {seen} of {of}.")
    return _amplified(epsilon, delta, Fraction(seen, of))


def sampling_with_replacement(
    epsilon: Real,
    delta: Real = 0,
    *,
    size: int,
    population: int,
    relation: str,
    group_delta: Callable[[int], Real] | None = None,
) -> Guarantee:
    """Return the guarantee when ``size`` records are drawn one by one from ``population``; for replace_one.

    ``epsilon' = ln(1 + q (e^epsilon - 1))`` with ``q = 1 - (1 - 1/n)^m``, and ``delta' = sum_k P[drawn k times]
    delta_k`` where ``group_delta(k) = delta_k`` is the base's delta at the same epsilon for groups of k records under
    replace_one. Left out, delta_k is the worst that an (epsilon, delta)-DP base allows.

    >>> sampling_with_replacement(1, size=10, population=100, relation="replace_one")
    Guarantee(epsilon=0.1521187966534..., delta=0.00240589702...)
    """
    require(relation, "replace_one", "with replacement the size is public; for add_remove sample by Poisson coins.")
    e, d = not_negative(epsilon, "epsilon"), probability(delta, "delta", zero=True, one=True)
    m, n = _drawn(size, population)
    if group_delta is None:
        if not e and not d:
            return Guarantee(0.0, 0.0)
        group_delta = _worst_group(e, d)
    if n == 1:
        return Guarantee(upward(e), min(1.0, upward(finite(group_delta(m), "group_delta(k)"))))
    deltas: list[Fraction] = []
    known = group_delta

    def group(k: int) -> Fraction:
        if k > len(deltas):
            deltas.append(probability(min(1, known(k)), "group_delta(k)", zero=True, one=True))
        return deltas[k - 1]

    def total() -> arb:
        mass = (1 - 1 / ball(n)) ** m
        result = arb(0)
        for k in range(1, m + 1):
            mass = mass * (m - k + 1) / (k * (n - 1))
            result += mass * ball(group(k))
            ratio = Fraction(m - k, (k + 1) * (n - 1))
            # Later masses fall at least by this ratio, and no delta is above 1.
            if ratio < Fraction(1, 2) and mass < result / NEGLIGIBLE:
                return result + mass * ball(ratio / (1 - ratio))
        return result

    # The probability that the record is drawn at all, without cancellation.
    amplified = _epsilon(e, lambda: -((1 - 1 / ball(n)).log() * m).expm1())
    return Guarantee(amplified, min(1.0, up(total)))


def require(relation: str, wanted: str, advice: str) -> None:
    """Refuse a relation that the theorem does not cover."""
    if check_relation(relation) != wanted:
        raise RelationMismatch(f"this theorem is about {wanted} neighbours, not {relation}: {advice}")


NEGLIGIBLE = 2**100


def _worst_group(epsilon: Fraction, delta: Fraction) -> Callable[[int], Real]:
    base = Approximate(epsilon, delta)
    return lambda k: base.group(k).delta(epsilon)


def _amplified(epsilon: Real, delta: Real, rate: Fraction) -> Guarantee:
    e, d = not_negative(epsilon, "epsilon"), probability(delta, "delta", zero=True, one=True)
    return Guarantee(_epsilon(e, lambda: ball(rate)) if rate else 0.0, upward(rate * d))


def _epsilon(epsilon: Fraction, rate: Callable[[], arb]) -> float:
    def formula() -> arb:
        return (rate() * ball(epsilon).expm1()).log1p()

    return up(formula) if epsilon else 0.0


def _pair(pair: object, name: str) -> tuple[Fraction, Fraction]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise InvalidParameter(f"{name} must be the pair (epsilon, delta) of the base under that relation.")
    return not_negative(pair[0], "epsilon"), probability(pair[1], "delta", zero=True, one=True)


def _drawn(size: int, population: int) -> tuple[int, int]:
    return whole(size, "size"), whole(population, "population")
