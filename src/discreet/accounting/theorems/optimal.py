"""Optimal composition of equal guarantees: nothing better can be said of k mechanisms, each (epsilon, delta)-DP.

Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.3. The worst case is k-fold randomised response. Let
``A_i = sum_{l<i} C(k,l) e^((k-l) epsilon) / (1 + e^epsilon)^k`` and ``B_i`` the same with ``e^(l epsilon)``: the
probabilities of fewer than i lies under the two answers. Then the smallest delta at any epsilon' is
``max_i A_i - e^epsilon' B_i``, which at ``epsilon' = (k - 2i) epsilon`` is the i-th entry of the paper's list.
"""

from collections.abc import Iterator
from fractions import Fraction

from flint import arb, ctx, fmpz

from discreet.accounting.theorems.guarantee import Guarantee, not_negative, whole
from discreet.errors import NoTheorem
from discreet.exact import Real, ball, probability, up, upward

__all__ = ["MOST_COPIES", "optimal_composition", "optimal_epsilon"]

MOST_COPIES = 100_000
"""Sums over more copies take longer than a second."""


def optimal_composition(epsilon: Real, delta: Real = 0, *, count: int) -> tuple[Guarantee, ...]:
    """Return the guarantees ``((k - 2i) epsilon, 1 - (1 - delta)^k (1 - delta_i))`` for i from 0 to k/2.

    All of them hold at once, for queries chosen adaptively.

    >>> optimal_composition(0.1, count=10)[3]
    Guarantee(epsilon=0.4, delta=0.01608013199321...)
    """
    exact, failure, copies = _checked(epsilon, delta, count)
    tables: dict[int, list[tuple[arb, arb]]] = {}

    def sums() -> list[tuple[arb, arb]]:
        if ctx.prec not in tables:
            tables[ctx.prec] = list(_lies(exact, copies, copies // 2))
        return tables[ctx.prec]

    def entry(i: int) -> Guarantee:
        at = (copies - 2 * i) * exact

        def formula() -> arb:
            seen, unseen = sums()[i]
            kept = seen - ball(at).exp() * unseen
            return 1 - (1 - ball(failure)) ** copies * (1 - kept) if failure else kept

        return Guarantee(upward(at), min(1.0, up(formula) if failure or (exact and i) else 0.0))

    return tuple(entry(i) for i in range(copies // 2 + 1))


def optimal_epsilon(epsilon: Real, delta: Real = 0, *, count: int, total_delta: Real) -> float:
    """Return the smallest epsilon' that k mechanisms have together at ``total_delta``; infinite if there is none.

    It lies on the curve through the paper's list: ``e^epsilon' = max_i (A_i - delta') / B_i`` where
    ``1 - total_delta = (1 - delta)^k (1 - delta')``.

    >>> optimal_epsilon(0.1, count=50, total_delta=1e-5)
    2.84466...
    """
    exact, failure, copies = _checked(epsilon, delta, count)
    total = probability(total_delta, "total_delta", zero=True)
    left = 1 - (1 - total) / (1 - failure) ** copies if failure < 1 else Fraction(-1)
    if left < 0:
        return float("inf")
    cap = upward(copies * exact)
    if not cap or not left:
        return cap

    def formula() -> arb:
        largest = arb(1)
        for seen, unseen in _lies(exact, copies, (copies + 1) // 2):
            if unseen != 0:
                largest = largest.max((seen - ball(left)) / unseen)
        return largest.log()

    return min(cap, up(formula))


def _lies(epsilon: Fraction, count: int, most: int) -> Iterator[tuple[arb, arb]]:
    """Yield ``(A_i, B_i)`` for i from 0 to ``most``."""
    e = ball(epsilon).exp()
    scale = (1 + e) ** count
    high, low = e**count / scale, 1 / scale
    seen, unseen, binomial = arb(0), arb(0), fmpz(1)
    yield seen, unseen
    for i in range(most):
        seen, unseen = seen + binomial * high, unseen + binomial * low
        yield seen, unseen
        high, low, binomial = high / e, low * e, binomial * (count - i) // (i + 1)


def _checked(epsilon: Real, delta: Real, count: int) -> tuple[Fraction, Fraction, int]:
    copies = whole(count, "count")
    if copies > MOST_COPIES:
        raise NoTheorem(f"the optimal sum is evaluated for up to {MOST_COPIES} copies. Use sharper_composition.")
    return not_negative(epsilon, "epsilon"), probability(delta, "delta", zero=True, one=True), copies
