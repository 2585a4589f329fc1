"""Gaussian differential privacy: a mechanism no easier to see through than a shift of a normal law by mu.

Dong, Roth and Su, JRSS B 2022; the curve is that of Balle and Wang, ICML 2018. Gaussian noise of deviation sigma on a
query of L2 sensitivity d has ``mu = d / sigma`` exactly.
"""

from fractions import Fraction

from discreet.accounting.terms.gaussian import gaussian_delta
from discreet.accounting.theorems.guarantee import Numbers, not_negative, steps
from discreet.exact import Real, ball, probability, smallest, up

__all__ = ["gdp_composition", "gdp_delta", "gdp_epsilon"]


def gdp_composition(mus: Numbers, *, count: int | list[int] = 1) -> float:
    """Return ``sqrt(sum mu^2)``, which is exact for Gaussian noise, under adaptive choice of the queries.

    >>> gdp_composition([3, 4])
    5.0
    """
    squares = sum((mu * mu * k for mu, _, k in steps(mus, 0, count)), Fraction(0))
    return up(lambda: ball(squares).sqrt()) if squares else 0.0


def gdp_delta(mu: Real, epsilon: Real) -> float:
    """Return ``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``.

    >>> gdp_delta(1, 1)
    0.12693673750664...
    """
    return gaussian_delta(not_negative(mu, "mu") ** 2, not_negative(epsilon, "epsilon"))


def gdp_epsilon(mu: Real, delta: Real) -> float:
    """Return the smallest epsilon with ``gdp_delta(mu, epsilon) <= delta``.

    >>> gdp_epsilon(1, 1e-5)
    4.37717809568...
    """
    square, d = not_negative(mu, "mu") ** 2, probability(delta, "delta")
    return smallest(lambda epsilon: gaussian_delta(square, Fraction(epsilon)) <= d)
