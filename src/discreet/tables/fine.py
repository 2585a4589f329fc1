"""A fine grid over the public bounds of a number: cells of one width, which an engine counts in.

Every number falls into a cell by itself, so a row that changes moves from one cell to another at most. Numbers outside
the bounds are in the cells at the ends, and what is missing or NaN is in none. No number makes an engine raise: what is
multiplied lies within the bounds and is at least as far from the lower one as a cell is wide.

Of whole numbers a cell holds those that are at least its lower edge and below its upper one; edges are told rounded up
to whole numbers, and half a step keeps the rounding of doubles away from them.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.tables.kinds import Interval
from discreet.tables.typed import Scope, Typed

__all__ = ["Fine"]


@dataclass(frozen=True, slots=True)
class Fine:
    """So many cells between ``low`` and ``high``; of whole numbers ``high`` is the first that is not in them.

    >>> ages = Fine.over(Interval.of(0, 100), whole=True, count=8)
    >>> [ages.edge(place) for place in range(9)]
    [0, 13, 26, 38, 51, 64, 76, 89, 101]
    >>> [ages.place(age) for age in (-3, 0, 12, 13, 100, 200)]
    [0, 0, 0, 1, 7, 7]
    >>> Fine.over(Interval.of(0, 1), whole=False, count=4).edge(3)
    0.75
    """

    low: Fraction
    high: Fraction
    count: int
    whole: bool

    @classmethod
    def over(cls, interval: Interval, *, whole: bool, count: int) -> "Fine":
        """Return the grid over an interval, whose ends both count."""
        low, high = interval.low, interval.high
        if whole:
            low, high = Fraction(math.ceil(low)), Fraction(math.floor(high) + 1)
        if not float(low) < float(high) or not float((high - low) / count):
            raise InvalidParameter("a grid has bounds that differ: declare a lower and a higher one.")
        return cls(low, high, count, whole)

    @property
    def values(self) -> int | None:
        """How many whole numbers there are; None where numbers need not be whole."""
        return int(self.high - self.low) if self.whole else None

    def edge(self, place: int) -> int | float:
        """Return the lower edge of a cell, or the upper one of the last."""
        exact = self.low + (self.high - self.low) * place / self.count
        return math.ceil(exact) if self.whole else float(exact)

    def place(self, value: float) -> int:
        """Return in Python the cell that an engine finds."""
        low, first, last = self._ends
        if value < first:
            return 0
        return math.floor(self._inside(value, low)) if value < last else self.count - 1

    def sql(self, scope: Scope, value: Typed) -> Typed:
        """Return the cell of a number; null where it is missing or NaN, which is below nothing."""
        dialect = scope.dialect
        named = scope.let(scope.as_double(value))
        x = named.sql
        low, first, last = map(dialect.number, self._ends)
        if self.whole:
            step, span = dialect.number(float(self.count)), dialect.number(float(self.high - self.low))
            inside = f"(({x} - {low}) * {step} + {dialect.number(0.5)}) / {span}"
        else:
            inside = f"({x} - {low}) * {dialect.number(float(self.count / (self.high - self.low)))}"
        top = f"CAST({self.count - 1} AS {dialect.whole})"
        sql = (
            f"CASE WHEN {x} < {first} THEN CAST(0 AS {dialect.whole}) "
            f"WHEN {x} < {last} THEN CAST(FLOOR({inside}) AS {dialect.whole}) "
            f"WHEN {x} <= {dialect.number(math.inf)} THEN {top} END"
        )
        return Typed("int", sql, named.level, nullable=value.nullable)

    def _inside(self, value: float, low: float) -> float:
        if self.whole:
            return ((value - low) * float(self.count) + 0.5) / float(self.high - self.low)
        return (value - low) * float(self.count / (self.high - self.low))

    @property
    def _ends(self) -> tuple[float, float, float]:
        """The lower bound, the first edge above it, and the lower edge of the last cell."""
        return float(self.low), float(self.edge(1)), float(self.edge(self.count - 1))
