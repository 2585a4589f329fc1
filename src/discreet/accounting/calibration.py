"""The least noise for a budget, rounded to the safe side."""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.loss import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability

__all__ = ["calibrate", "noise_multiplier"]

TOLERANCE = 1e-6

FARTHEST = 60 * math.log(2)
"""Amounts of noise beyond ``2^60`` and below ``2^-60`` are not looked at."""


def calibrate(make: Callable[[float], PrivacyLoss], epsilon: Real, delta: Real = 0) -> float:
    """Return the least amount of noise, up to a part in a million and never less, whose loss fits the budget.

    ``make(noise)`` is the loss at an amount of noise above 0; more noise must never cost more. What is returned has
    itself been seen to fit, so only how small it is rests on that. About eight losses are evaluated.

    >>> round(calibrate(lambda scale: 10 * PrivacyLoss.laplace(1 / scale), epsilon=2), 4)
    5.0
    """
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta", zero=True)

    def excess(log_noise: float) -> float:
        """How far the loss is from the budget, in logarithms; not above 0 if and only if it fits."""
        found = make(math.exp(log_noise)).epsilon(d)
        if found <= e:
            return -math.inf if found == 0 else min(0.0, math.log(found) - math.log(e))
        return math.inf if math.isinf(found) else max(5e-324, math.log(found) - math.log(e))

    return math.exp(_root(excess))


def noise_multiplier(*, rate: Real, steps: int, epsilon: Real, delta: Real) -> float:
    """Return the least noise multiplier of DP-SGD with Poisson samples, under add_remove.

    >>> round(noise_multiplier(rate=0.01, steps=1000, epsilon=2, delta=1e-5), 3)
    0.959
    """
    if type(steps) is not int or steps < 1:
        raise InvalidParameter(f"steps must be a whole number of at least 1, got {steps!r}.")
    return calibrate(lambda z: steps * PrivacyLoss.gaussian(mu=1 / Fraction(z)).sampled(rate), epsilon, delta)


def _root(excess: Callable[[float], float]) -> float:
    """Return about the least place at which a falling function is not above 0, where it has been seen not to be."""
    seen: list[tuple[float, float]] = []
    low, high = -math.inf, math.inf

    def look(place: float) -> float:
        nonlocal low, high
        value = excess(place)
        low, high = (place, high) if value > 0 else (low, place)
        if math.isfinite(value):
            seen.append((place, value))
        return value

    at, step = 0.0, 0.5
    value = look(at)
    while math.isinf(low) or math.isinf(high):  # outwards: epsilon falls about as fast as noise grows
        step *= 2
        away = 1.1 * abs(value) if math.isfinite(value) else step
        at += math.copysign(min(max(away, step / 100), 4 * step), value or -1.0)
        at = min(max(at, -FARTHEST), FARTHEST)
        value = look(at)
        if at == FARTHEST and value > 0:
            raise InvalidParameter("no amount of noise fits this budget; is delta 0 where the noise needs one?")
        if at == -FARTHEST and value <= 0:
            return high
    for turn in range(200):
        if high - low <= TOLERANCE:
            break
        middle = (low + high) / 2
        guess = middle if turn % 5 == 4 else _crossing(seen[-3:])
        if not low < guess < high:
            guess = middle
        look(min(max(guess, low + TOLERANCE / 2), high - TOLERANCE / 2))  # close to one end, step across the root
    return high


def _crossing(points: list[tuple[float, float]]) -> float:
    """Return where the curve through two or three points crosses 0: the place as a polynomial in the value."""
    if len({value for _, value in points}) < len(points) or len(points) < 2:
        return math.nan
    return sum(
        place * math.prod(other / (other - value) for _, other in points if other != value) for place, value in points
    )
