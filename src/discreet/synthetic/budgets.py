"""The largest rho that a budget in epsilon and delta pays for."""

from collections.abc import Callable

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability

__all__ = ["largest_rho"]

CLOSE = 1 / 500
"""A rho is searched for to this part of itself."""


def largest_rho(loss: Callable[[float], PrivacyLoss], epsilon: Real, delta: Real) -> float:
    """Return nearly the largest rho whose loss stays within (epsilon, delta), by the exact curves of its parts.

    What is returned fits: the search ends below the largest, never above it.

    >>> rate = largest_rho(PrivacyLoss.laplace, 1, 1e-6)
    >>> 0.99 < PrivacyLoss.laplace(rate).epsilon(1e-6) <= 1
    True
    """
    most, least = positive(epsilon, "epsilon"), probability(delta, "delta")

    def fits(rho: float) -> bool:
        return loss(rho).epsilon(least) <= most

    low, high = 0.0, 1.0
    while fits(high):
        low, high = high, 2 * high
    while low < high * (1 - CLOSE):
        middle = (low + high) / 2 if low else high / 2
        if middle < 1e-300:
            raise InvalidParameter("no rho was found that fits this budget; take a larger epsilon or delta.")
        if fits(middle):
            low = middle
        else:
            high = middle
    return low
