"""One release whose curve can be solved for epsilon by hand."""

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from discreet.accounting.theorems.guarantee import not_negative, whole
from discreet.exact import Real, ball, probability, up, upward

__all__ = ["laplace_epsilon", "response_epsilon"]


def laplace_epsilon(epsilon: Real, delta: Real) -> float:
    """Return ``epsilon + 2 ln(1 - delta)``: the whole truth about one release with Laplace noise.

    Balle and Wang, ICML 2018: ``delta(epsilon') = 1 - e^((epsilon' - epsilon)/2)``.

    >>> laplace_epsilon(1, 0.1)
    0.78927896868...
    """
    e, d = not_negative(epsilon, "epsilon"), probability(delta, "delta", zero=True)
    return _cut(e, d, lambda: ball(e) + 2 * (1 - ball(d)).log())


def response_epsilon(epsilon: Real, delta: Real, *, categories: int = 2) -> float:
    """Return ``ln(e^epsilon - delta (e^epsilon + k - 1))``: the whole truth about randomised response over k answers.

    With two answers it holds for every epsilon-DP mechanism (Kairouz, Oh and Viswanath, ICML 2015).

    >>> response_epsilon(1, 0.1)
    0.85290510136...
    """
    e, d = not_negative(epsilon, "epsilon"), probability(delta, "delta", zero=True)
    others = whole(categories, "categories", least=2) - 1
    return _cut(e, d, lambda: (ball(e).exp() - ball(d) * (ball(e).exp() + others)).max(arb(1)).log())


def _cut(epsilon: Fraction, delta: Fraction, formula: Callable[[], arb]) -> float:
    return max(0.0, up(formula)) if delta and epsilon else upward(epsilon)
