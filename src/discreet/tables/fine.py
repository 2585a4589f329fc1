"""A fine grid over the public bounds of a number: cells of one width, which an engine counts in.

Every number falls into a cell by itself, so a row that changes moves from one cell to another at most. Numbers outside
the bounds are in the cells at the ends, unless a plan leaves them out, and what is missing or NaN is in none. No number
makes an engine raise: what is multiplied lies within the bounds and is at least as far from the lower one as a cell is
wide.

A cell holds the numbers that are at least its lower edge and below its upper one. Of whole numbers edges are told
rounded up to whole numbers, and half a step keeps the rounding of doubles away from them; where there are so many that
it could not, they are taken as any other numbers. Of these an edge is the double ``low + place * span / count``, made
by the same three operations everywhere. A cell is found by a product, which rounding moves by one at most, and then
compared with both of its edges: a price that many rows have is on the side that is told.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.tables.kinds import TINY, Interval
from discreet.tables.typed import Scope, Typed

__all__ = ["Fine"]

EXACT = 2**51
"""Whole numbers times cells, up to which the place of each is found without rounding."""

ROOM = 2**48
"""A cell is at least a part of this of the larger bound: so many roundings lie within it."""


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
        first, end = Fraction(math.ceil(interval.low)), Fraction(math.floor(interval.high) + 1)
        if whole and first < end and (end - first) * count <= EXACT:
            return cls(first, end, count, whole)
        low, high = Fraction(float(interval.low)), Fraction(float(interval.high))
        if (high - low) * ROOM < count * max(abs(low), abs(high)) or high - low < TINY:
            raise InvalidParameter("a grid has bounds that differ: declare a lower and a higher one.")
        return cls(low, high, count, whole=False)

    @property
    def values(self) -> int | None:
        """How many whole numbers there are; None where numbers need not be whole."""
        return int(self.high - self.low) if self.whole else None

    @property
    def ends(self) -> tuple[int | float, int | float]:
        """The least and the greatest number between the bounds.

        >>> Fine.over(Interval.of(0, 100), whole=True, count=8).ends
        (0, 100)
        """
        return (int(self.low), int(self.high) - 1) if self.whole else (float(self.low), float(self.high))

    def edge(self, place: int) -> int | float:
        """Return the lower edge of a cell, or the upper one of the last."""
        if self.whole:
            return math.ceil(self.low + (self.high - self.low) * place / self.count)
        return float(self.high) if place == self.count else float(self.low) + place * self._span / self.count

    def place(self, value: float) -> int:
        """Return in Python the cell that an engine finds."""
        low, first, last = self._ends
        if value < first:
            return 0
        if not value < last:
            return self.count - 1
        if self.whole:
            return math.floor(((value - low) * float(self.count) + 0.5) / self._span)
        near = math.floor((value - low) * self._each)
        return near - int(value < self.edge(near)) + int(value >= self.edge(near + 1))

    def sql(self, scope: Scope, value: Typed) -> Typed:
        """Return the cell of a number; null where it is missing or NaN, which is below nothing."""
        dialect = scope.dialect
        named = scope.let(scope.as_double(value))
        x = named.sql
        low, first, last = map(dialect.number, self._ends)
        span, count = dialect.number(self._span), dialect.number(float(self.count))
        if self.whole:
            level, found = named.level, f"FLOOR((({x} - {low}) * {count} + {dialect.number(0.5)}) / {span})"
        else:
            near = f"FLOOR(({x} - {low}) * {dialect.number(self._each)})"
            between = f"CASE WHEN {x} < {first} THEN NULL WHEN {x} < {last} THEN {near} END"
            cell = scope.let(Typed("float", between, named.level))
            level, p = cell.level, cell.sql
            lower, upper = (f"{low} + {place} * {span} / {count}" for place in (p, f"({p} + 1)"))
            found = f"CASE WHEN {x} < {lower} THEN {p} - 1 WHEN {x} < {upper} THEN {p} ELSE {p} + 1 END"
        top = f"CAST({self.count - 1} AS {dialect.whole})"
        sql = (
            f"CASE WHEN {x} < {first} THEN CAST(0 AS {dialect.whole}) "
            f"WHEN {x} < {last} THEN CAST({found} AS {dialect.whole}) "
            f"WHEN {x} <= {dialect.number(math.inf)} THEN {top} END"
        )
        return Typed("int", sql, level, nullable=value.nullable)

    @property
    def _span(self) -> float:
        """How far the bounds are apart."""
        return float(self.high - self.low)

    @property
    def _each(self) -> float:
        """How many cells there are in one unit."""
        return float(self.count / (self.high - self.low))

    @property
    def _ends(self) -> tuple[float, float, float]:
        """The lower bound, the first edge above it, and the lower edge of the last cell."""
        return float(self.low), float(self.edge(1)), float(self.edge(self.count - 1))
