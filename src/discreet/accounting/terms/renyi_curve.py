"""Mechanisms known by a list of Renyi divergences alone, as published tables and other accountants give them."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from discreet.accounting.terms.concentrated import renyi_delta
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import upward

__all__ = ["RenyiCurve"]

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class RenyiCurve:
    """Bounds on the Renyi divergence at some orders, each valid in both directions.

    Between the orders the divergence is bounded by what holds for every pair of laws: ``D_a`` never falls in a, and
    ``(a - 1) D_a = log E_Q (P/Q)^a`` is convex in a (a log-moment function) and 0 at order 1. So a chord between two
    bounds of ``(a - 1) D_a`` is a bound. Beyond the largest order nothing is known. Releases compose by order.
    """

    points: tuple[Point, ...]
    kind: ClassVar[str] = "renyi_curve"
    attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.points or any(len(point) != 2 for point in self.points):
            raise InvalidParameter("a Renyi curve has at least one pair (order, divergence).")
        orders = [order for order, _ in self.points]
        if orders[0] <= 1 or any(a >= b for a, b in pairwise(orders)):
            raise InvalidParameter("the orders of a Renyi curve lie above 1 and rise.")
        if any(divergence < 0 for _, divergence in self.points):
            raise InvalidParameter("a Renyi divergence must not be negative.")

    @property
    def pure(self) -> Fraction | None:
        """None: the loss may be unbounded."""
        return Fraction(0) if not self._least()[-1][1] else None

    @property
    def rho(self) -> Fraction | None:
        """None: nothing is known beyond the largest order."""
        return self.pure

    def delta(self, epsilon: Fraction, /) -> float:
        """The best order's conversion."""
        return renyi_delta(self.renyi, epsilon, also=tuple(order for order, _ in self.points))

    def renyi(self, alpha: Fraction, /) -> float:
        """The chord between the neighbouring orders, from ``(1, 0)`` on; infinite beyond the largest."""
        before, moment = Fraction(1), Fraction(0)
        for order, divergence in self._least():
            if alpha <= order:
                share = (alpha - before) / (order - before)
                return upward((moment + share * ((order - 1) * divergence - moment)) / (alpha - 1))
            before, moment = order, (order - 1) * divergence
        return math.inf

    def pair(self) -> None:
        """No single pair: this bounds moments, not a distribution."""
        return

    def group(self, size: int, /) -> "RenyiCurve":
        """None is claimed for groups."""
        if size == 1:
            return self
        raise NoTheorem("no group bound is at hand for a list of Renyi divergences; state them for the group.")

    def _least(self) -> list[Point]:
        """Return the points, each lowered to the least that a larger order proves: divergences never fall."""
        lowest: Fraction | None = None
        found = []
        for order, divergence in reversed(self.points):
            lowest = divergence if lowest is None else min(lowest, divergence)
            found.append((order, lowest))
        return found[::-1]
