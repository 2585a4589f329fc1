# ruff: noqa: ARG001 - one interface, several implementations: not each needs every argument
"""Functions of dates and moments."""

from datetime import date
from fractions import Fraction
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.tables.functions.declaring import FUNCTIONS, Apply, alike, function
from discreet.tables.kinds import Interval, Value
from discreet.tables.typed import Scope, Typed


def _part(name: Literal["year", "month", "day", "weekday", "hour"], low: int, high: int) -> Apply:
    def part(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
        (x,) = arguments
        if x.kind not in (("timestamp",) if name == "hour" else ("date", "timestamp")):
            raise InvalidParameter(f"{name} is of a {'timestamp' if name == 'hour' else 'date'}, got {x.kind}.")
        sql = f"CAST({scope.dialect.part(name, x.sql)} AS {scope.dialect.whole})"
        domain = tuple(range(low, high + 1)) if high < 100 else None
        interval = Interval(Fraction(low), Fraction(high))
        return Typed("int", sql, x.level, interval=interval, declared=True, nullable=x.nullable, domain=domain)

    return part


FUNCTIONS["year"] = _part("year", 1, 9999)
FUNCTIONS["month"] = _part("month", 1, 12)
FUNCTIONS["day"] = _part("day", 1, 31)
FUNCTIONS["weekday"] = _part("weekday", 1, 7)
FUNCTIONS["hour"] = _part("hour", 0, 23)


@function("month_start")
def _month_start(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = arguments
    if x.kind != "date":
        raise InvalidParameter(f"month_start is of a date, got {x.kind}.")
    return Typed("date", scope.dialect.month_start(x.sql), x.level, nullable=x.nullable)


@function("days_between")
def days_between(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    """The days from one date to another."""
    a, b = alike(scope, arguments, "days_since")
    if a.kind != "date":
        raise InvalidParameter(f"days are counted between dates, got {a.kind}.")
    days = Fraction((date.max - date.min).days)
    sql, level = scope.dialect.days_between(a.sql, b.sql), max(a.level, b.level)
    return Typed("int", sql, level, interval=Interval(-days, days), declared=True, nullable=a.nullable or b.nullable)
