"""Zero-concentrated differential privacy (Bun and Steinke, TCC 2016), and the way from Renyi divergences to delta."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.exact import ball, up

__all__ = ["Concentrated", "renyi_delta"]


@dataclass(frozen=True, slots=True)
class Concentrated:
    """A mechanism whose Renyi divergence of every order alpha is at most ``alpha * parameter``."""

    parameter: Fraction
    kind: ClassVar[str] = "zcdp"
    attained: ClassVar[bool] = False

    @property
    def pure(self) -> Fraction | None:
        """None: the loss may be unbounded."""
        return None if self.parameter else Fraction(0)

    @property
    def rho(self) -> Fraction:
        """The parameter itself."""
        return self.parameter

    def delta(self, epsilon: Fraction, /) -> float:
        """The best order's conversion."""
        return renyi_delta(self.renyi, epsilon)

    def renyi(self, alpha: Fraction, /) -> float:
        """``alpha * rho``."""
        return up(lambda: ball(alpha * self.parameter))

    def pair(self) -> None:
        """No single pair: zCDP bounds moments, not a distribution."""
        return

    def group(self, size: int, /) -> "Concentrated":
        """Bun and Steinke, Proposition 1.9: the square of the size."""
        return Concentrated(size**2 * self.parameter)


def renyi_delta(
    renyi: Callable[[Fraction], float],
    epsilon: Fraction,
    also: tuple[Fraction, ...] = (),
    guide: Callable[[Fraction], float] | None = None,
) -> float:
    """Return the smallest delta that Renyi divergences of any order prove at epsilon; some orders are tried by name.

    Canonne, Kamath and Steinke, NeurIPS 2020, Proposition 12: ``exp((a - 1)(D_a - epsilon)) / a * (1 - 1/a)^(a - 1)``.
    Every order gives a valid bound, so the search for the best one may be rough and its result is still a proof. It
    goes by the ``guide`` where divergences are slow to have exactly.
    """

    def at(order: Fraction, curve: Callable[[Fraction], float] = renyi) -> float:
        a, divergence = float(order), curve(order)
        if not divergence < math.inf or a <= 1:
            return math.inf
        return (a - 1) * (divergence - float(epsilon) + math.log1p(-1 / a)) - math.log(a)

    def log_delta(log_order: float) -> float:
        return at(Fraction(1 + math.exp(log_order)), guide or renyi)

    found = Fraction(1 + math.exp(_minimum(log_delta, -12.0, 18.0)))
    best = min((found, *also), key=at) if also else found
    divergence = renyi(best)
    if math.isinf(divergence):
        return 1.0
    gap = Fraction(divergence) - epsilon
    return min(1.0, up(lambda: ((ball(best) - 1) * (ball(gap) + (1 - 1 / ball(best)).log())).exp() / ball(best)))


def _minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a point near the minimum: the best of a coarse grid, refined by golden section."""
    grid = [low + (high - low) * i / 40 for i in range(41)]
    values = [function(place) for place in grid]
    at_best = min(values)
    best = grid[values.index(at_best)]
    left, right, ratio = best - (high - low) / 40, best + (high - low) / 40, (math.sqrt(5) - 1) / 2
    a, b = right - ratio * (right - left), left + ratio * (right - left)
    at_a, at_b = function(a), function(b)
    for _ in range(39):
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
