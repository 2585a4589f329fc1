"""Composition of different guarantees in closed form.

Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.5. The optimum itself is #P-hard to compute (Murtagh and Vadhan, TCC
2016). With ``s^2 = sum epsilon^2``, the loss exceeds its drift by x with probability at most ``exp(-x^2 / 2 s^2)``. The
third bound charges all of that tail; the second charges ``E(1 - e^(x - L))_+``, at most
``exp(-x^2 / 2 s^2) / (1 + x / s^2)``, and is better where s is small.
"""

from fractions import Fraction

from flint import arb

from discreet.accounting.theorems.advanced import drift, spread
from discreet.accounting.theorems.guarantee import Guarantee, Numbers, steps
from discreet.exact import Real, ball, probability, up, upward

__all__ = ["heterogeneous_composition"]


def heterogeneous_composition(
    epsilons: Numbers, deltas: Numbers = 0, *, slack: Real, count: int | list[int] = 1
) -> Guarantee:
    """Return the least of three bounds on epsilon, with delta ``1 - (1 - slack) prod(1 - delta)``.

    They are the sum of the epsilons, and ``sum epsilon tanh(epsilon/2)`` plus either ``s sqrt(2 ln(e + s/slack))`` or
    ``s sqrt(2 ln(1/slack))``. Holds for queries chosen adaptively with parameters fixed beforehand.

    >>> heterogeneous_composition([0.25, 0.5], slack=1e-6)
    Guarantee(epsilon=0.75, delta=1e-06)
    >>> heterogeneous_composition([0.01] * 200 + [0.05] * 20, slack=1e-6).epsilon
    1.35712356640...
    """
    parts = steps(epsilons, deltas, count)
    extra = probability(slack, "slack")
    survival = 1 - extra
    failing = [(d, k) for _, d, k in parts if d and k]

    def failed() -> arb:
        product = ball(survival)
        for d, k in failing:
            product *= (1 - ball(d)) ** k
        return 1 - product

    delta = min(1.0, up(failed)) if failing else upward(extra)
    total, squares = sum((e * k for e, _, k in parts), Fraction(0)), spread(parts)
    if not squares:
        return Guarantee(0.0, delta)

    def formula() -> arb:
        s = ball(squares).sqrt()
        tail = (-ball(extra).log()).min((arb(1).exp() + s / ball(extra)).log())
        return sum((drift(ball(e)) * k for e, _, k in parts), arb(0)) + s * (2 * tail).sqrt()

    return Guarantee(min(upward(total), up(formula)), delta)
