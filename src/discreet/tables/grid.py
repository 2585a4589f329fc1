"""Numbers as whole numbers on a public grid.

The step is a power of two chosen from declared bounds alone. Clamping happens in the same expression, so whatever an
engine computed before, what it adds up lies between ``lowest`` and ``highest``. Multiplying by a power of two is exact
and flooring is monotone, so every engine finds the same whole number.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.exact import log2_floor
from discreet.tables.kinds import Interval
from discreet.tables.typed import Scope, Typed

__all__ = ["FINE", "Grid"]

FINE = 26
"""Sums are made of whole numbers up to about two to this: 2^27 of them add up exactly even as doubles."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Multiples of ``2^-exponent``, counted from ``centre`` of them.

    >>> grid = Grid.over(Interval.of(0, 500), whole=False, centred=True)
    >>> grid.step, grid.lowest, grid.highest, grid.origin
    (Fraction(1, 262144), -65536000, 65536000, Fraction(250, 1))
    """

    low: float
    high: float
    exponent: int
    centre: int

    @classmethod
    def over(cls, interval: Interval, *, whole: bool, centred: bool = False, fineness: int = FINE) -> "Grid":
        """Return the finest grid over an interval of which no number is larger than two to the fineness."""
        middle = (interval.low + interval.high) / 2 if centred else Fraction(0)
        reach = max(abs(interval.low - middle), abs(interval.high - middle), Fraction(1, 2**60))
        exponent = fineness - _log2_ceiling(reach)
        exponent = min(exponent, 51 - _log2_ceiling(max(interval.magnitude, Fraction(1, 2**60))))
        if whole:
            exponent = min(exponent, 0)
        low, high = float(interval.low), float(interval.high)
        return cls(low, high, exponent, _floor(float(middle), exponent) if centred else 0)

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring points."""
        return Fraction(2) ** -self.exponent

    @property
    def origin(self) -> Fraction:
        """The number that counts as 0."""
        return self.centre * self.step

    @property
    def lowest(self) -> int:
        """The least whole number."""
        return _floor(self.low, self.exponent) - self.centre

    @property
    def highest(self) -> int:
        """The greatest whole number."""
        return _floor(self.high, self.exponent) - self.centre

    def sql(self, scope: Scope, value: Typed) -> Typed:
        """Return the whole number of a value, as a double; null where it is missing or NaN."""
        dialect = scope.dialect
        origin = value.origin
        stored = None if origin is None else origin.stored
        if origin is not None and (stored == value.kind == "float" or stored == "int") and dialect.total_doubles:
            x, level = f"CAST({origin.sql} AS {dialect.double})", value.level
            if origin.stored == "float":
                x = origin.sql
        else:
            named = scope.let(scope.as_double(value))
            x, level = named.sql, named.level
        low, high, factor = (dialect.number(end) for end in (self.low, self.high, math.ldexp(1.0, self.exponent)))
        inside = f"FLOOR({x} * {factor} + {dialect.number(0.5)})"
        if self.centre:
            inside = f"({inside} - {dialect.number(float(self.centre))})"
        ends = [dialect.number(float(end)) for end in (self.lowest, self.highest)]
        sql = (
            f"CASE WHEN {x} BETWEEN {low} AND {high} THEN {inside} WHEN {x} < {low} THEN {ends[0]} "
            f"WHEN {x} <= {dialect.number(math.inf)} THEN {ends[1]} END"
        )
        return Typed("float", sql, level, nullable=value.nullable)

    def number(self, value: float) -> int:
        """Return in Python what an engine finds."""
        clamped = min(max(value, self.low), self.high)
        return _floor(clamped, self.exponent) - self.centre

    def value(self, steps: float) -> float:
        """Return the number at a point."""
        return float((steps + self.centre) * float(self.step))


def _floor(value: float, exponent: int) -> int:
    return math.floor(math.ldexp(value, exponent) + 0.5)


def _log2_ceiling(value: Fraction) -> int:
    return -log2_floor(1 / value)
