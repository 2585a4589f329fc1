"""Advanced composition: epsilon grows with the square root of the number of releases, for a little more delta.

Dwork, Rothblum and Vadhan, FOCS 2010. The losses of the releases are a martingale plus a drift: release i has
``|L_i| <= epsilon_i`` and a mean of at most ``epsilon_i (e^epsilon_i - 1)``, and Azuma's inequality bounds the sum.
There is no condition on the number of releases. The drift of randomised response, which dominates every pure mechanism
(Kairouz, Oh and Viswanath, ICML 2015), is ``epsilon_i tanh(epsilon_i / 2)``, and that gives the sharper form.

For many releases of a large epsilon both can be worse than adding up: compare with ``basic_composition``.
"""

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from discreet.accounting.theorems.guarantee import Guarantee, Numbers, Step, steps
from discreet.exact import Real, ball, probability, up, upward

__all__ = ["advanced_composition", "drift", "sharper_composition", "spread"]


def advanced_composition(
    epsilons: Numbers, deltas: Numbers = 0, *, slack: Real, count: int | list[int] = 1
) -> Guarantee:
    """Return ``sqrt(2 ln(1/slack) sum epsilon^2) + sum epsilon (e^epsilon - 1)`` with delta ``sum delta + slack``.

    Holds for queries chosen adaptively with parameters fixed beforehand.

    >>> advanced_composition(0.1, slack=1e-5, count=50)
    Guarantee(epsilon=3.9189248025857..., delta=1e-05)
    """
    return _bound(steps(epsilons, deltas, count), slack, lambda e: e * e.expm1())


def sharper_composition(
    epsilons: Numbers, deltas: Numbers = 0, *, slack: Real, count: int | list[int] = 1
) -> Guarantee:
    """Return ``sqrt(2 ln(1/slack) sum epsilon^2) + sum epsilon tanh(epsilon/2)`` with delta ``sum delta + slack``.

    Holds for queries chosen adaptively with parameters fixed beforehand.

    >>> sharper_composition(0.1, slack=1e-5, count=50)
    Guarantee(epsilon=3.6428620869969..., delta=1e-05)
    """
    return _bound(steps(epsilons, deltas, count), slack, drift)


def drift(epsilon: arb) -> arb:
    """Return the mean loss of randomised response."""
    return epsilon * (epsilon / 2).tanh()


def spread(parts: tuple[Step, ...]) -> Fraction:
    """Return the sum of the squared epsilons."""
    return sum((e * e * k for e, _, k in parts), Fraction(0))


def _bound(parts: tuple[Step, ...], slack: Real, mean: Callable[[arb], arb]) -> Guarantee:
    extra = probability(slack, "slack")
    delta = min(1.0, upward(sum((d * k for _, d, k in parts), extra)))
    squares = spread(parts)
    if not squares:
        return Guarantee(0.0, delta)

    def formula() -> arb:
        drifts = sum((mean(ball(e)) * k for e, _, k in parts), arb(0))
        return drifts + (-2 * ball(extra).log() * ball(squares)).sqrt()

    return Guarantee(up(formula), delta)
