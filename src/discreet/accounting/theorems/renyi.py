"""From Renyi divergences to (epsilon, delta).

Mironov, CSF 2017, Proposition 3; improved by Balle, Barthe, Gaboardi, Hsu and Sato, AISTATS 2020, and Canonne, Kamath
and Steinke, NeurIPS 2020, Proposition 12. Every order gives a valid bound, so the search for the best order may be
rough and its result is still a proof.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Literal, NamedTuple

from discreet.accounting.theorems.guarantee import Curve
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, finite, probability, show, up

__all__ = ["RenyiBound", "best_order", "improved_conversion", "mironov_conversion", "renyi_epsilon"]

LOWEST, HIGHEST, GRID = -12.0, 18.0, 60
"""The range of ``log(order - 1)`` that is searched."""


class RenyiBound(NamedTuple):
    """An epsilon and the order that gave it."""

    epsilon: float
    order: Fraction | None


def mironov_conversion(order: Real, divergence: Real, delta: Real) -> float:
    """Return ``divergence + ln(1/delta) / (order - 1)``.

    Holds whenever the Renyi divergence of that order > 1 is bounded in both directions.

    >>> mironov_conversion(10, 1, 1e-6)
    2.5350567286...
    """
    a, d = _order(order), probability(delta, "delta")
    if divergence == math.inf:
        return math.inf
    exact = _divergence(divergence)
    return max(0.0, up(lambda: ball(exact) - ball(d).log() / ball(a - 1)))


def improved_conversion(order: Real, divergence: Real, delta: Real) -> float:
    """Return ``divergence + ln((order - 1)/order) - (ln delta + ln order) / (order - 1)``, and at least 0.

    Holds whenever the Renyi divergence of that order > 1 is bounded in both directions.

    >>> improved_conversion(10, 1, 1e-6)
    2.17385342489...
    """
    a, d = _order(order), probability(delta, "delta")
    if divergence == math.inf:
        return math.inf
    exact = _divergence(divergence)
    return max(0.0, up(lambda: ball(exact) + (1 - 1 / ball(a)).log() - (ball(d) * ball(a)).log() / ball(a - 1)))


def renyi_epsilon(
    curve: Curve,
    delta: Real,
    *,
    orders: Iterable[Real] | None = None,
    conversion: Literal["improved", "mironov"] = "improved",
) -> RenyiBound:
    """Return the least epsilon over the given orders, or over all real orders, of a curve of divergences.

    >>> renyi_epsilon(lambda order: order / 2, 1e-5, conversion="mironov")
    RenyiBound(epsilon=5.2985259..., order=Fraction(...))
    """
    convert = {"improved": improved_conversion, "mironov": mironov_conversion}.get(conversion)
    if convert is None:
        raise InvalidParameter(f"conversion must be 'improved' or 'mironov', got {conversion!r}.")
    d = probability(delta, "delta")
    if orders is None:
        candidates = [best_order(curve, math.log(d.numerator) - math.log(d.denominator), conversion)]
    else:
        candidates = [_order(order) for order in orders]
    if not candidates:
        raise InvalidParameter("orders must hold at least one order above 1.")
    bounds = [RenyiBound(convert(order, curve(order), d), order) for order in candidates]
    best = min(bounds, key=lambda bound: bound.epsilon)
    return best if best.epsilon < math.inf else RenyiBound(math.inf, None)


def _divergence(value: Real) -> Fraction:
    # However small: a curve may fall below what a person would write.
    if not 0 <= value < math.inf:
        raise InvalidParameter("a Renyi divergence must not be negative or undefined.")
    return Fraction(value)


def _order(value: Real) -> Fraction:
    order = finite(value, "order")
    if order <= 1:
        raise InvalidParameter(f"a Renyi order must be above 1, got {show(order)}.")
    return order


def best_order(curve: Curve, log_delta: float, conversion: str) -> Fraction:
    """Return about the order at which a curve proves the least epsilon; the curve may be known roughly."""

    def bound(position: float) -> float:
        order = 1 + math.exp(position)
        divergence = curve(Fraction(order))
        extra = math.log1p(-1 / order) - math.log(order) / (order - 1) if conversion == "improved" else 0.0
        return float(divergence) + extra - log_delta / (order - 1)

    return Fraction(1 + math.exp(_least(bound, LOWEST, HIGHEST)))


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a point near the minimum: the best of a coarse grid, refined by golden section."""
    width = (high - low) / GRID
    values = [function(low + width * i) for i in range(GRID + 1)]
    at_best = min(values)
    best = low + width * values.index(at_best)
    left, right, ratio = best - width, best + width, (math.sqrt(5) - 1) / 2
    a, b = right - ratio * (right - left), left + ratio * (right - left)
    at_a, at_b = function(a), function(b)
    for _ in range(36):
        if at_a <= at_b:
            right, b, at_b = b, a, at_a
            a = right - ratio * (right - left)
            at_a = function(a)
        else:
            left, a, at_a = a, b, at_b
            b = left + ratio * (right - left)
            at_b = function(b)
    middle = (left + right) / 2
    return middle if function(middle) <= at_best else best
