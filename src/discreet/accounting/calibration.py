"""The least noise for a budget, rounded to the safe side."""

from collections.abc import Callable

from discreet.accounting.loss import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability

__all__ = ["calibrate", "noise_multiplier"]

TOLERANCE = 1e-6


def calibrate(make: Callable[[float], PrivacyLoss], epsilon: Real, delta: Real = 0) -> float:
    """Return the least amount of noise, up to a part in a million and never less, whose loss fits the budget.

    ``make(noise)`` is the loss at an amount of noise above 0; more noise must never cost more.

    >>> round(calibrate(lambda scale: 10 * PrivacyLoss.laplace(1 / scale), epsilon=2), 4)
    5.0
    """
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta", zero=True)

    def fits(noise: float) -> bool:
        return make(noise).epsilon(d) <= e

    high = 1.0
    while not fits(high):
        high *= 2
        if high > 2.0**60:
            raise InvalidParameter("no amount of noise fits this budget; is delta 0 where the noise needs one?")
    low = high / 2
    while fits(low):
        low, high = low / 2, low
        if low < 2.0**-60:
            return high
    while high - low > TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def noise_multiplier(*, rate: Real, steps: int, epsilon: Real, delta: Real) -> float:
    """Return the least noise multiplier of DP-SGD with Poisson samples, under add_remove.

    >>> round(noise_multiplier(rate=0.01, steps=1000, epsilon=2, delta=1e-5), 3)
    0.959
    """
    if type(steps) is not int or steps < 1:
        raise InvalidParameter(f"steps must be a whole number of at least 1, got {steps!r}.")
    return calibrate(lambda z: steps * PrivacyLoss.gaussian(mu=1 / z).sampled(rate), epsilon, delta)
