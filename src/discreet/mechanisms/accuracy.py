"""Accuracy theorems: how far noise strays, for one query and for many at once."""

import math
from fractions import Fraction
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability

__all__ = ["Bound", "crossover", "gaussian_error", "laplace_error", "per_query"]

Bound = Literal["exact", "union"]


def per_query(beta: Real, queries: int, bound: Bound = "exact") -> float:
    """Return the failure probability each of ``queries`` independent answers may have if all shall hold at once.

    Exactly ``1 - (1 - beta)^(1/m)``; the union bound ``beta / m`` needs no independence and is a little smaller.

    >>> per_query(0.05, 1), per_query(0.05, 10, "union")
    (0.05, 0.005)
    """
    failure = float(probability(beta, "beta"))
    if type(queries) is not int or queries < 1:
        raise InvalidParameter(f"queries must be a whole number of at least 1, got {queries!r}.")
    if bound not in ("exact", "union"):
        raise InvalidParameter(f"bound must be 'exact' or 'union', got {bound!r}.")
    if queries == 1:
        return failure
    return failure / queries if bound == "union" else -math.expm1(math.log1p(-failure) / queries)


def laplace_error(scale: Real, beta: Real, *, queries: int = 1, bound: Bound = "exact") -> float:
    """Return the size that m Laplace variables stay within, all at once, with probability 1 - beta.

    ``P[|Y| >= b log(1 / beta)] = beta`` for one variable; for m counts of n people, normalised, b is m / (n epsilon).

    >>> laplace_error(Fraction(10, 1000), 0.05, queries=10)
    0.0527534391050...
    >>> laplace_error(Fraction(10, 1000), 0.05, queries=10, bound="union")
    0.0529831736654...
    """
    return float(positive(scale, "scale")) * -math.log(per_query(beta, queries, bound))


def gaussian_error(sigma: Real, beta: Real, *, queries: int = 1, bound: Bound | Literal["tail"] = "exact") -> float:
    """Return the size that m Gaussian variables stay within, all at once, with probability 1 - beta.

    ``bound="tail"`` gives the textbook's ``sigma sqrt(2 log(m / beta))``, valid because ``erfc(x) <= exp(-x^2)``.

    >>> gaussian_error(1, 0.05)
    1.95996398...
    """
    from scipy.special import ndtri

    s = float(positive(sigma, "sigma"))
    if bound == "tail":
        return s * math.sqrt(-2 * math.log(per_query(beta, queries, "union")))
    return s * -float(ndtri(per_query(beta, queries, bound) / 2))


def crossover(epsilon: Real, delta: Real) -> int:
    """Return the least number of unit counts for which Gaussian noise has the smaller standard deviation.

    For m counts of L1 sensitivity m and L2 sensitivity sqrt(m): Laplace gives ``sqrt(2) m / epsilon``, Gaussian noise
    ``sqrt(m)`` times the sigma calibrated for one. The classical ``sqrt(2 log(1.25 / delta)) / epsilon`` crosses
    at ``log(1.25 / delta)``; the analytic calibration crosses earlier.

    >>> crossover(1, 1e-5), math.ceil(math.log(1.25 / 1e-5))
    (7, 12)
    """
    from discreet.mechanisms.gaussian import Gaussian

    sigma = Gaussian(sensitivity=1, epsilon=epsilon, delta=delta).sigma
    ratio = Fraction(sigma) * positive(epsilon, "epsilon")
    return max(1, math.ceil(ratio**2 / 2))
