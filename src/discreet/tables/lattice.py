"""Numbers that have a declared step, as places among their possible values.

Prices in steps of 5 and shares in steps of 0.01 lie on a lattice: ``low``, ``low + step``, ... up to ``high``. A value
counts at the nearest point, so a quantile is one of them, and no point lies between two that occur. A value between two
points, which the declaration rules out, is moved to one of them by that row alone.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.tables.typed import Scope, Typed

__all__ = ["Lattice"]


@dataclass(frozen=True, slots=True)
class Lattice:
    """The points from ``low`` to ``high``, both included, so many steps apart.

    >>> prices = Lattice(0.0, 100.0, 20)
    >>> prices.step, prices.highest, prices.value(9), prices.number(46.0)
    (Fraction(5, 1), 20, 45.0, 9)
    """

    low: float
    high: float
    steps: int

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring points."""
        return (Fraction(self.high) - Fraction(self.low)) / self.steps

    @property
    def lowest(self) -> int:
        """The place of the least point."""
        return 0

    @property
    def highest(self) -> int:
        """The place of the greatest point."""
        return self.steps

    def sql(self, scope: Scope, value: Typed) -> Typed:
        """Return the place of a value, as a double; null where it is missing or NaN."""
        dialect = scope.dialect
        x = scope.let(scope.as_double(value))
        low, high, half, factor = (
            dialect.number(end) for end in (self.low, self.high, 0.5, self.steps / (self.high - self.low))
        )
        sql = (
            f"CASE WHEN {x.sql} BETWEEN {low} AND {high} THEN FLOOR(({x.sql} - {low}) * {factor} + {half}) "
            f"WHEN {x.sql} < {low} THEN {dialect.number(0.0)} "
            f"WHEN {x.sql} <= {dialect.number(math.inf)} THEN {dialect.number(float(self.steps))} END"
        )
        return Typed("float", sql, x.level, nullable=value.nullable)

    def number(self, value: float) -> int:
        """Return in Python what an engine finds."""
        clamped = min(max(value, self.low), self.high)
        return math.floor((clamped - self.low) * (self.steps / (self.high - self.low)) + 0.5)

    def value(self, place: float) -> float:
        """Return the number at a place."""
        part = Fraction(place) / self.steps
        return float(Fraction(self.low) * (1 - part) + Fraction(self.high) * part)
