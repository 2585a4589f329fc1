# ruff: noqa: ARG001 - one interface, several implementations: not each needs every argument
"""Arithmetic. Whole numbers are calculated as doubles, which hold them exactly up to the limit."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from discreet.tables.functions.dates import days_between
from discreet.tables.functions.declaring import (
    as_original,
    function,
    numbers,
)
from discreet.tables.kinds import LIMIT, TINY, Interval, Kind, Value
from discreet.tables.typed import Scope, Typed


def _arithmetic(scope: Scope, a: Typed, b: Typed, symbol: str, interval: Interval, *, flush: bool = False) -> Typed:
    x, y = scope.as_double(a), scope.as_double(b)
    result = Typed(
        "float",
        f"({x.sql} {symbol} {y.sql})",
        max(x.level, y.level),
        interval=interval.widened().limited(),
        declared=a.declared and b.declared,
        nullable=a.nullable or b.nullable,
    )
    if flush:
        result = _flushed(scope, result)
    if interval.magnitude >= LIMIT:
        result = scope.let(result)
        result = replace(result, sql=scope.dialect.limited(result.sql))
    if a.kind == b.kind == "int" and symbol != "/":
        return replace(result, kind="int", sql=f"CAST({result.sql} AS {scope.dialect.whole})", interval=interval)
    return result


def _flushed(scope: Scope, value: Typed) -> Typed:
    named = scope.let(value)
    tiny, zero = scope.dialect.number(TINY), scope.dialect.number(0.0)
    return replace(named, sql=f"CASE WHEN ABS({named.sql}) < {tiny} THEN {zero} ELSE {named.sql} END")


@function("add")
def _add(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    a, b = numbers("+", arguments)
    return _arithmetic(scope, a, b, "+", a.bounds + b.bounds)


@function("subtract")
def _subtract(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    if [argument.kind for argument in arguments] == ["date", "date"]:
        return days_between(scope, arguments, options)
    a, b = numbers("-", arguments)
    return _arithmetic(scope, a, b, "-", a.bounds - b.bounds)


@function("multiply")
def _multiply(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    a, b = numbers("*", arguments)
    return _arithmetic(scope, a, b, "*", a.bounds * b.bounds, flush=a.kind == b.kind == "float")


@function("square")
def _square(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = numbers("square", arguments)
    named, b = scope.let(x), x.bounds
    low = Fraction(0) if b.low <= 0 <= b.high else min(abs(b.low), abs(b.high))
    result = _arithmetic(scope, named, named, "*", b * b, flush=x.kind == "float")
    interval = Interval(low * low, b.magnitude**2).widened().limited()
    return replace(result, interval=interval.clipped(Fraction(0), Fraction(LIMIT)))


@function("divide")
def _divide(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    a, b = numbers("/", arguments)
    through_zero = b.bounds.low <= 0 <= b.bounds.high
    divisor = scope.as_double(b)
    safe = replace(divisor, sql=f"NULLIF({divisor.sql}, {scope.dialect.number(0.0)})")
    result = _arithmetic(scope, a, safe, "/", a.bounds / b.bounds, flush=True)
    return replace(result, nullable=result.nullable or through_zero, declared=result.declared and not through_zero)


@function("negate")
def _negate(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = numbers("-", arguments)
    y = scope.as_double(x)
    return as_original(scope, x, replace(y, sql=f"(-{y.sql})", interval=-x.bounds, domain=None, origin=None))


@function("absolute")
def _absolute(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = numbers("abs", arguments)
    y, b = scope.as_double(x), x.bounds
    low = Fraction(0) if b.low <= 0 <= b.high else min(abs(b.low), abs(b.high))
    return as_original(
        scope, x, replace(y, sql=f"ABS({y.sql})", interval=Interval(low, b.magnitude), domain=None, origin=None)
    )


@function("floor")
def _floor(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return _stepped(scope, arguments, "FLOOR({})", math.floor)


@function("ceiling")
def _ceiling(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return _stepped(scope, arguments, "CEIL({})", math.ceil)


@function("round")
def _round(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    half = scope.dialect.number(0.5)
    return _stepped(scope, arguments, f"FLOOR({{}} + {half})", lambda end: math.floor(end + Fraction(1, 2)))


def _stepped(scope: Scope, arguments: list[Typed], sql: str, step: Callable[[Fraction], int]) -> Typed:
    (x,) = numbers("rounding", arguments)
    y = scope.as_double(x)
    interval = Interval(Fraction(step(x.bounds.low)) - 1, Fraction(step(x.bounds.high)) + 1).limited()
    y = scope.let(replace(y, sql=sql.format(y.sql)))
    rounded = scope.dialect.limited(y.sql)
    return replace(
        y,
        kind="int",
        sql=f"CAST({rounded} AS {scope.dialect.whole})",
        interval=interval if x.kind == "float" else x.bounds,
        enforced=True,
        domain=None,
        origin=None,
    )


@function("square_root")
def _square_root(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = numbers("sqrt", arguments)
    named = scope.let(scope.as_double(x))
    top = Fraction(math.isqrt(math.floor(max(x.bounds.high, Fraction(0)))) + 1)
    return replace(
        named,
        sql=f"CASE WHEN {named.sql} >= 0 THEN SQRT({named.sql}) END",
        interval=Interval(Fraction(0), top),
        nullable=x.nullable or x.bounds.low < 0,
        domain=None,
        origin=None,
    )


@function("clip")
def _clip(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = numbers("clip", arguments)
    interval = Interval.of(*options).limited()  # type: ignore[arg-type]
    whole = x.kind == "int" and interval.low.denominator == interval.high.denominator == 1
    named = scope.let(x if whole else scope.as_double(x))
    kind: Kind = "int" if whole else "float"
    return replace(
        named,
        kind=kind,
        sql=scope.clamped(named.sql, kind, interval),
        interval=x.bounds.clipped(interval.low, interval.high) if x.declared else interval,
        declared=True,
        enforced=True,
        domain=None,
        origin=None,
    )
