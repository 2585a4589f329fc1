"""The six kinds of values, and intervals of numbers.

A kind is what a value *is*, apart from how an engine stores it: whole numbers are BIGINT, other numbers DOUBLE. Every
number has an interval that it certainly lies in. Where nobody declared one it is plus or minus ``LIMIT``: wide enough
for any data, and narrow enough that no sum, product or quotient of two numbers overflows in any engine.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Literal, get_args

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, show

__all__ = ["LIMIT", "LONGEST", "TINY", "WHOLE", "Interval", "Kind", "Value", "check_kind", "kind_of", "plain_value"]

Kind = Literal["bool", "date", "float", "int", "str", "timestamp"]

Value = bool | int | float | str | date | datetime | None

LIMIT = 2**53
"""Numbers are clamped to plus or minus this when nobody declared less; every whole number up to it is a double."""

LONGEST = 2**16
"""Characters of the longest text, if nobody declared less: it is cut there when it is read, and when one is made."""

TINY = 1e-100
"""Numbers closer to 0 than this are read as 0: a product of two others never underflows."""


def check_kind(name: object) -> Kind:
    """Return the kind of that name, or say which there are.

    >>> check_kind("number")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: a type is one of bool, date, float, int, str, timestamp, got 'number'.
    """
    for kind in get_args(Kind):
        if kind == name:
            return kind  # type: ignore[no-any-return]
    raise InvalidParameter(f"a type is one of {', '.join(get_args(Kind))}, got {name!r}.")


def kind_of(value: object) -> Kind:
    """Return the kind of a Python value; a bool is never an int here.

    >>> kind_of(True), kind_of(1), kind_of(date(2026, 1, 1))
    ('bool', 'int', 'date')
    """
    types: tuple[tuple[type, Kind], ...] = (
        (bool, "bool"),
        (int, "int"),
        (float, "float"),
        (Fraction, "float"),
        (str, "str"),
        (datetime, "timestamp"),
        (date, "date"),
    )
    for python, kind in types:
        if isinstance(value, python):
            return kind
    raise InvalidParameter(f"a value is a bool, a number, a text, a date or a datetime, got {type(value).__name__}.")


def plain_value(value: object) -> Value:
    """Return a value of a built-in type, and of no subclass: those could say of themselves what SQL is made of them.

    >>> import numpy as np
    >>> plain_value(np.float64(0.5)), plain_value(None)
    (0.5, None)
    """
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str, date, datetime):
        return value  # type: ignore[return-value]
    if type(value) is Fraction:
        return float(value)
    raise InvalidParameter(
        f"a value is a bool, a number, a text, a date or a datetime of Python itself, got {type(value).__name__}."
    )


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from ``low`` to ``high``, both included.

    >>> Interval.of(-2, 3) * Interval.of(0, 10)
    Interval(low=Fraction(-20, 1), high=Fraction(30, 1))
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, low: Real, high: Real) -> "Interval":
        """Return the interval between two finite numbers."""
        a, b = finite(low, "the lower bound"), finite(high, "the upper bound")
        if a > b:
            raise InvalidParameter(f"the lower bound must not exceed the upper one, got ({show(a)}, {show(b)}).")
        return cls(a, b)

    @classmethod
    def around(cls, points: Iterable[Fraction]) -> "Interval":
        """Return the smallest interval that holds all points."""
        numbers = list(points)
        return cls(min(numbers), max(numbers))

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.low + other.low, self.high + other.high).limited()

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __sub__(self, other: "Interval") -> "Interval":
        return self + -other

    def __mul__(self, other: "Interval") -> "Interval":
        ends = ((self.low, self.high), (other.low, other.high))
        return Interval.around(a * b for a in ends[0] for b in ends[1]).limited()

    def __truediv__(self, other: "Interval") -> "Interval":
        """Return where quotients lie; those by 0 are null, and others may be as large as the limit."""
        if other.low <= 0 <= other.high:
            return WHOLE
        ends = ((self.low, self.high), (other.low, other.high))
        return Interval.around(a / b for a in ends[0] for b in ends[1]).limited()

    def __or__(self, other: "Interval") -> "Interval":
        """Return the smallest interval that holds both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def clipped(self, low: Fraction, high: Fraction) -> "Interval":
        """Return where a number of this interval lies once it is clamped."""
        return Interval(min(max(self.low, low), high), min(max(self.high, low), high))

    def limited(self) -> "Interval":
        """Return where a number lies once it is clamped to what every engine can calculate with."""
        return self.clipped(Fraction(-LIMIT), Fraction(LIMIT))

    def widened(self) -> "Interval":
        """Return the interval with room for the rounding of doubles on both sides."""
        room = max(abs(self.low), abs(self.high)) / 2**50 + Fraction(1, 2**300)
        return Interval(self.low - room, self.high + room)

    @property
    def magnitude(self) -> Fraction:
        """The largest size of a number in it."""
        return max(abs(self.low), abs(self.high))

    @property
    def width(self) -> Fraction:
        """The distance of its ends."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"({show(self.low)}, {show(self.high)})"


WHOLE = Interval(Fraction(-LIMIT), Fraction(LIMIT))
"""Where every number lies."""
