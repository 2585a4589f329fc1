"""The trade-off curve: how many members a test must miss if it is to accuse few others.

Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022: a test that tells neighbours apart with false positive
rate alpha has a false negative rate of at least

    f(alpha) = sup over x > 0 of 1 - D(x) - alpha x,     D(e^epsilon) = delta(epsilon),

which for x = e^epsilon and x = e^-epsilon, as ``D(x) = 1 - x + x D(1 / x)``, are the two lines that (epsilon, delta)-DP
draws: ``1 - delta - e^epsilon alpha`` and ``e^-epsilon (1 - delta - alpha)``. Every epsilon proves a bound; those that
matter are found by cutting corners, and the bound is below the supremum by no more than a tolerance, and by what the
delta of a composition is rounded up.
"""

import math
from bisect import bisect
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import arb

from discreet.accounting.composition import Counted, delta_of, pure_of
from discreet.accounting.numerical.pairs import Floats
from discreet.accounting.terms import Gaussian
from discreet.exact import Real, ball, down, probability

__all__ = ["tradeoff_curve"]

TOLERANCE = 1e-6
FARTHEST = 10**6
"""An epsilon at which every delta has reached its limit."""

LARGEST = 700.0


class Loss(Protocol):
    """Anything that is made of terms: a ``PrivacyLoss``."""

    @property
    def terms(self) -> tuple[Counted, ...]:
        """What it is made of."""
        ...


def tradeoff_curve(
    loss: Loss, false_positive_rates: Sequence[Real], *, tolerance: float = TOLERANCE
) -> tuple[float, ...]:
    """Return the least false negative rate at each false positive rate, from below; many cost little more than one.

    >>> from discreet.accounting import PrivacyLoss
    >>> tradeoff_curve(PrivacyLoss.gaussian(mu=1), [0, 0.05, 0.5, 1])
    (1.0, 0.740488977..., 0.158655253..., 0.0)
    """
    terms = loss.terms
    rates = [probability(rate, "false_positive_rate", zero=True, one=True) for rate in false_positive_rates]
    if not terms or (len(terms) == 1 and isinstance(terms[0][0], Gaussian)):
        square = sum((term.mu_squared * count for term, count in terms if isinstance(term, Gaussian)), Fraction(0))
        return tuple(_normal(square, rate) for rate in rates)
    polygon = _Polygon(terms, min((rate for rate in rates if rate), default=Fraction(1)), tolerance)
    return tuple(polygon.least(rate) for rate in rates)


def _normal(mu_squared: Fraction, rate: Fraction) -> float:
    """Return ``Phi(Phi^-1(1 - alpha) - mu)``, rounded down."""
    if not mu_squared or rate in (0, 1):
        return max(0.0, down(lambda: ball(1 - rate)))

    def formula() -> arb:
        return ((ball(mu_squared) / 2).sqrt() - ball(2 * rate).erfcinv()).erfc() / 2

    return max(0.0, down(formula))


class _Polygon:
    """Points of ``x -> D(x)``, convex from ``D(0) = 1`` on, to which points are added where a rate needs them."""

    def __init__(self, terms: tuple[Counted, ...], least_rate: Fraction, tolerance: float) -> None:
        self.terms, self.tolerance = terms, tolerance
        total = pure_of(terms)
        last = min(LARGEST, 1 - math.log(least_rate), math.inf if total is None else math.nextafter(total, math.inf))
        self.x, self.d = [0.0], [1.0]
        for share in range(9):
            self._add(last * share / 8)

    def least(self, rate: Fraction) -> float:
        """Return the largest of ``1 - D(x) - rate x`` over all x, up to the tolerance and not above."""
        if not rate:
            return max(0.0, 1 - min(delta_of(self.terms, Fraction(FARTHEST)), *self.d) - 1.2e-16)
        alpha = float(rate)
        for _ in range(200):
            x = np.array(self.x)
            g = 1 - np.array(self.d) - alpha * x
            best = int(np.argmax(g))
            excess, place = max(_corner(x, g, best), _corner(x, g, best - 1))
            if excess <= self.tolerance:
                break
            if not self._add(abs(math.log(place))):
                break
        return max(0.0, float(g[best] - 4e-16 * (1 + alpha * x[best])))

    def _add(self, epsilon: float) -> bool:
        """Add the points at ``e^epsilon`` and ``e^-epsilon``; tell whether they are new."""
        x = math.exp(epsilon)
        if any(abs(x - self.x[i]) <= 1e-13 * x for i in (bisect(self.x, x) - 1, bisect(self.x, x)) if i < len(self.x)):
            return False
        delta = delta_of(self.terms, Fraction(epsilon))
        for place, value in ((x, delta), (1 / x, 1 - 1 / x + delta / x))[: 2 if epsilon else 1]:
            index = bisect(self.x, place)
            self.x.insert(index, place)
            self.d.insert(index, value)
        return True


def _corner(x: Floats, g: Floats, i: int) -> tuple[float, float]:
    """Return by how much a concave g may exceed its values between the points i and i + 1, and where.

    It stays below the lines through the points before and after: at most where these meet.
    """
    last = len(x) - 1
    if not 0 <= i < last:
        return 0.0, 1.0
    width, rise = float(x[i + 1] - x[i]), float(g[i + 1] - g[i])
    before = float((g[i] - g[i - 1]) / (x[i] - x[i - 1])) if i else 1.0
    after = float((g[i + 2] - g[i + 1]) / (x[i + 2] - x[i + 1])) if i + 1 < last else rise / width - 1.0
    if before <= after:
        return 0.0, 1.0
    step = min(max((rise - after * width) / (before - after), 0.1 * width), 0.9 * width)
    height = float(g[i]) + before * step
    return height - float(max(g[i], g[i + 1])), float(x[i]) + step
