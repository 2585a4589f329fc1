"""Renyi divergences of any mechanism on a sample, from those on the whole.

Both theorems are for whole orders and need the base's divergences of all whole orders from 2 up, not of one alone.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb, fmpz

from discreet.accounting.theorems.guarantee import Curve, whole
from discreet.accounting.theorems.sampling import require
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, ball, finite, probability, show, up

__all__ = ["poisson_renyi", "without_replacement_renyi"]


def poisson_renyi(order: int, curve: Curve, *, rate: Real, relation: str, nonnegative_moments: bool = False) -> float:
    """Return the divergence of a mechanism on a Poisson sample (Zhu and Wang, ICML 2019, Theorem 5); for add_remove.

    ``(1-q)^(a-1) (1 + (a-1) q) + C(a,2) q^2 (1-q)^(a-2) e^D(2) + 3 sum_{j>=3} C(a,j) q^j (1-q)^(a-j) e^((j-1) D(j))``
    bounds the moment. The 3 is a 1 for ``nonnegative_moments`` (Theorem 8): every odd ``E_Q (P/Q - 1)^j`` is at least
    0 on neighbours, as for Gaussian and Laplace noise.

    >>> poisson_renyi(8, lambda order: order / 8, rate=0.01, relation="add_remove")
    0.00014881772...
    """
    require(relation, "add_remove", "for replace_one sample without replacement: without_replacement_renyi.")
    a, q = _whole_order(order), probability(rate, "rate", zero=True, one=True)
    factor = 1 if nonnegative_moments else 3
    divergences = _divergences(curve, a)
    if not q:
        return 0.0
    if math.inf in divergences:
        return math.inf
    exact = [Fraction(value) for value in divergences]

    def formula() -> arb:
        # The weights sum to 1, so only what exceeds them is added: nothing cancels for small rates.
        excess, p = arb(0), ball(1 - q)
        for j, divergence, binomial in _terms(exact, a):
            times = factor if j > 2 else 1
            grown = times * ((j - 1) * ball(divergence)).exp() - 1
            excess += binomial * ball(q) ** j * p ** (a - j) * grown
        return excess.log1p() / (a - 1)

    return up(formula)


def without_replacement_renyi(
    order: int, curve: Curve, *, size: int, population: int, relation: str, most: Real = math.inf
) -> float:
    """Return the divergence on ``size`` of ``population`` records drawn without replacement; for replace_one.

    Wang, Balle and Kasiviswanathan, AISTATS 2019, Theorem 9. With ``q = size / population`` the moment is at most
    ``1 + C(a,2) q^2 min(4 (e^D(2) - 1), e^D(2) min(2, c^2)) + sum_{j>=3} C(a,j) q^j e^((j-1) D(j)) min(2, c^j)``, where
    ``c = e^most - 1`` and ``most`` is the largest loss of the base: its pure epsilon, or infinite as for Gaussian
    noise. The curve is the base's under replace_one on data sets of that size.

    >>> without_replacement_renyi(8, lambda order: order / 8, size=1, population=100, relation="replace_one")
    0.000488393041962...
    """
    require(relation, "replace_one", "for add_remove sample by Poisson coins: poisson_renyi.")
    a, seen, of = _whole_order(order), whole(size, "size"), whole(population, "population")
    if seen > of:
        raise InvalidParameter(f"size must be at most population, got {seen} of {of}.")
    largest = None if most == math.inf else finite(most, "most")
    if largest is not None and largest < 0:
        raise InvalidParameter(f"most must not be negative, got {show(largest)}.")
    divergences = _divergences(curve, a)
    if math.inf in divergences:
        return math.inf
    exact = [Fraction(value) for value in divergences]
    q = Fraction(seen, of)

    def cap(j: int) -> arb:
        return arb(2) if largest is None else arb(2).min(ball(largest).expm1() ** j)

    def formula() -> arb:
        excess = arb(0)
        for j, divergence, binomial in _terms(exact, a):
            grown = ((j - 1) * ball(divergence)).exp() * cap(j)
            if j == 2:
                grown = grown.min(4 * ball(divergence).expm1())
            excess += binomial * ball(q) ** j * grown
        return excess.log1p() / (a - 1)

    return up(formula) if any(exact) and largest != 0 else 0.0


def _whole_order(order: int) -> int:
    exact = finite(order, "order")
    if exact.denominator != 1 or exact < 2:
        raise NoTheorem(f"this theorem is stated for whole orders of at least 2, got {show(exact)}.")
    return exact.numerator


def _divergences(curve: Callable[[Fraction], Real], order: int) -> list[Real]:
    values = [curve(Fraction(j)) for j in range(2, order + 1)]
    if any(not value >= 0 for value in values):
        raise InvalidParameter("a curve of Renyi divergences must not be negative or undefined.")
    return values


def _terms(divergences: list[Fraction], order: int) -> list[tuple[int, Fraction, fmpz]]:
    binomial, terms = fmpz(order), []
    for j, divergence in enumerate(divergences, start=2):
        binomial = binomial * (order - j + 1) // j
        terms.append((j, divergence, binomial))
    return terms
