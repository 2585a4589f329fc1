# ruff: noqa: ARG001 - one interface, several implementations: not each needs every argument
"""The closed list of functions of a row.

Each declaration says what a function takes and gives, where its result lies, and its SQL. All are total and look at one
row: a property test runs each on every engine over hostile values, and checks that a table cut in two gives the same
values as the whole.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.exact import finite, show
from discreet.tables.kinds import LIMIT, TINY, WHOLE, Interval, Kind, Value, check_kind, kind_of
from discreet.tables.typed import Scope, Typed

__all__ = ["FUNCTIONS"]

Apply = Callable[[Scope, list[Typed], tuple[Value, ...]], Typed]

FUNCTIONS: dict[str, Apply] = {}
"""Every function by its name."""

LONGEST_MADE = 2**16
"""Texts that are made are missing if they would have more bytes: what one row makes must not fill the memory."""

LETTERS = ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def function(name: str) -> Callable[[Apply], Apply]:
    """Enter a function into the list."""

    def enter(apply: Apply) -> Apply:
        FUNCTIONS[name] = apply
        return apply

    return enter


# Arithmetic. Whole numbers are calculated as doubles, which hold them exactly up to the limit.


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
    a, b = _numbers("+", arguments)
    return _arithmetic(scope, a, b, "+", a.bounds + b.bounds)


@function("subtract")
def _subtract(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    if [argument.kind for argument in arguments] == ["date", "date"]:
        return _days_between(scope, arguments, options)
    a, b = _numbers("-", arguments)
    return _arithmetic(scope, a, b, "-", a.bounds - b.bounds)


@function("multiply")
def _multiply(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    a, b = _numbers("*", arguments)
    return _arithmetic(scope, a, b, "*", a.bounds * b.bounds, flush=a.kind == b.kind == "float")


@function("square")
def _square(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = _numbers("square", arguments)
    named, b = scope.let(x), x.bounds
    low = Fraction(0) if b.low <= 0 <= b.high else min(abs(b.low), abs(b.high))
    result = _arithmetic(scope, named, named, "*", b * b, flush=x.kind == "float")
    interval = Interval(low * low, b.magnitude**2).widened().limited()
    return replace(result, interval=interval.clipped(Fraction(0), Fraction(LIMIT)))


@function("divide")
def _divide(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    a, b = _numbers("/", arguments)
    through_zero = b.bounds.low <= 0 <= b.bounds.high
    divisor = scope.as_double(b)
    safe = replace(divisor, sql=f"NULLIF({divisor.sql}, {scope.dialect.number(0.0)})")
    result = _arithmetic(scope, a, safe, "/", a.bounds / b.bounds, flush=True)
    return replace(result, nullable=result.nullable or through_zero, declared=result.declared and not through_zero)


@function("negate")
def _negate(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = _numbers("-", arguments)
    y = scope.as_double(x)
    return _like(scope, x, replace(y, sql=f"(-{y.sql})", interval=-x.bounds, domain=None, origin=None))


@function("absolute")
def _absolute(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = _numbers("abs", arguments)
    y, b = scope.as_double(x), x.bounds
    low = Fraction(0) if b.low <= 0 <= b.high else min(abs(b.low), abs(b.high))
    return _like(
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
    (x,) = _numbers("rounding", arguments)
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
    (x,) = _numbers("sqrt", arguments)
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
    (x,) = _numbers("clip", arguments)
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


# Comparisons and logic. Null is neither true nor false, as in SQL.


def _comparison(symbol: str) -> Apply:
    def compare(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
        a, b = _alike(scope, arguments, symbol)
        if a.kind == "str" and symbol not in ("=", "<>"):
            a, b = replace(a, sql=scope.dialect.ordered(a.sql)), replace(b, sql=scope.dialect.ordered(b.sql))
        if a.kind == "bool" and symbol not in ("=", "<>"):
            raise InvalidParameter("true and false have no order: compare them with == alone.")
        return _boolean(f"({a.sql} {symbol} {b.sql})", a, b)

    return compare


for _name, _symbol in (
    ("equal", "="),
    ("unequal", "<>"),
    ("less", "<"),
    ("at_most", "<="),
    ("greater", ">"),
    ("at_least", ">="),
):
    FUNCTIONS[_name] = _comparison(_symbol)


@function("is_in")
def _is_in(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = arguments
    if not options or any(option is None for option in options):
        raise InvalidParameter("isin takes at least one value, and no None: write .is_null() for missing values.")
    constants = []
    for option in options:
        a, b = _alike(scope, [x, scope.constant(option, kind_of(option))], "isin")
        x = a
        constants.append(b.sql)
    return _boolean(f"({x.sql} IN ({', '.join(constants)}))", x)


@function("is_null")
def _is_null(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = arguments
    return replace(_boolean(f"({x.sql} IS NULL)", x), nullable=False)


@function("and")
def _and(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return _boolean(f"({' AND '.join(x.sql for x in _conditions(arguments))})", *arguments)


@function("or")
def _or(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return _boolean(f"({' OR '.join(x.sql for x in _conditions(arguments))})", *arguments)


@function("not")
def _not(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return _boolean(f"(NOT {_conditions(arguments)[0].sql})", *arguments)


# Choice.


@function("coalesce")
def _coalesce(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    values = _unified(scope, arguments)
    sql = f"COALESCE({', '.join(x.sql for x in values)})"
    return replace(_union(values), sql=sql, nullable=all(x.nullable for x in values))


@function("case")
def _case(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    conditions = _conditions(arguments[:-1:2])
    values = _unified(scope, [*arguments[1:-1:2], arguments[-1]])
    cases = " ".join(f"WHEN {c.sql} THEN {v.sql}" for c, v in zip(conditions, values[:-1], strict=True))
    level = max(x.level for x in (*conditions, *values))
    return replace(_union(values), sql=f"CASE {cases} ELSE {values[-1].sql} END", level=level)


@function("bin")
def _bin(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = _numbers("bin", arguments)
    edges = [finite(option, "an edge") for option in options]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)) or max(map(abs, edges)) > LIMIT:
        raise InvalidParameter("bins have at least two edges, in ascending order, within plus or minus 2^53.")
    named = scope.let(scope.as_double(x))
    labels, cases = [], []
    for place, (low, high) in enumerate(pairwise(edges)):
        last = place == len(edges) - 2
        labels.append(f"[{_short(low)}, {_short(high)}{']' if last else ')'}")
        below = f"{named.sql} {'<=' if last else '<'} {scope.dialect.number(float(high))}"
        inside = f"{named.sql} >= {scope.dialect.number(float(low))} AND {below}"
        cases.append(f"WHEN {inside} THEN {scope.dialect.string(labels[-1])}")
    if len(set(labels)) < len(labels):
        raise InvalidParameter("two bins would have the same name: take edges with fewer digits.")
    return Typed("str", f"CASE {' '.join(cases)} END", named.level, domain=tuple(labels))


# Types.


@function("cast")
def _cast(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,), kind = arguments, check_kind(options[0])
    if x.kind == kind:
        return x
    if (x.kind, kind) == ("int", "float"):
        return scope.as_double(x)
    if (x.kind, kind) == ("float", "int"):
        y = scope.let(x)
        ends = Interval(Fraction(math.trunc(x.bounds.low)), Fraction(math.trunc(x.bounds.high)))
        return replace(y, kind="int", sql=scope.dialect.to_whole(y.sql), interval=ends, domain=None, origin=None)
    if x.kind == "str":
        y = scope.let(x)
        sql = scope.dialect.parse(y.sql, kind)
        if sql is not None:
            interval = WHOLE if kind in ("int", "float") else None
            domain = (False, True) if kind == "bool" else None
            return Typed(kind, sql, y.level, interval=interval, enforced=kind != "int", domain=domain)
    if (x.kind, kind) == ("bool", "int"):
        y = scope.let(x)
        ends, sql = Interval(Fraction(0), Fraction(1)), scope.dialect.from_bool(y.sql)
        return Typed("int", sql, y.level, interval=ends, declared=True, nullable=x.nullable, domain=(0, 1))
    if (x.kind, kind) in (("int", "str"), ("date", "str")):
        return Typed("str", f"CAST({x.sql} AS {scope.dialect.text})", x.level, nullable=x.nullable)
    if (x.kind, kind) == ("timestamp", "date"):
        y = scope.let(x)
        return Typed("date", scope.dialect.date_of(y.sql), y.level, nullable=x.nullable)
    hint = " Round it first: .round().cast('str')." if (x.kind, kind) == ("float", "str") else ""
    raise InvalidParameter(f"a {x.kind} cannot be turned into a {kind}.{hint}")


# Texts.


@function("lower")
def _lower(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return _text(arguments, f"TRANSLATE({{}}, '{LETTERS[0]}', '{LETTERS[1]}')")


@function("upper")
def _upper(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return _text(arguments, f"TRANSLATE({{}}, '{LETTERS[1]}', '{LETTERS[0]}')")


@function("trim")
def _trim(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return _text(arguments, "TRIM(BOTH ' ' FROM {})")


@function("substring")
def _substring(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    start, length = (_count(option, "substring") for option in options)
    if start < 1:
        raise InvalidParameter("the first character is at position 1.")
    return _text(arguments, f"SUBSTRING({{}}, {start}, {length})")


@function("replace")
def _replace(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    old, new = (_words(option, "replace") for option in options)
    if not old:
        raise InvalidParameter("replace needs a text to look for.")
    growth = -(-len(new.encode()) // len(old.encode()))
    x = scope.let(_text(arguments, "{}"))
    replaced = f"REPLACE({x.sql}, {scope.dialect.string(old)}, {scope.dialect.string(new)})"
    short = f"{scope.dialect.octets(x.sql)} <= {LONGEST_MADE // max(1, growth)}"
    return replace(x, sql=f"CASE WHEN {short} THEN {replaced} END", nullable=True)


@function("concat")
def _concat(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    for x in arguments:
        _text([x], "{}")
    named = [scope.let(x) for x in arguments]
    sizes = " + ".join(scope.dialect.octets(x.sql) for x in named)
    sql = f"CASE WHEN {sizes} <= {LONGEST_MADE} THEN {' || '.join(x.sql for x in named)} END"
    return Typed("str", sql, max(x.level for x in named))


@function("length")
def _length(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = _text(arguments, f"CAST(LENGTH({{}}) AS {scope.dialect.whole})")
    return replace(x, kind="int", interval=Interval(Fraction(0), Fraction(LIMIT)))


@function("starts_with")
def _starts_with(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = _text(arguments, "{}")
    return _boolean(scope.dialect.starts_with(x.sql, _words(options[0], "startswith")), x)


@function("ends_with")
def _ends_with(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = scope.let(_text(arguments, "{}"))
    return _boolean(scope.dialect.ends_with(x.sql, _words(options[0], "endswith")), x)


@function("contains")
def _contains(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = _text(arguments, "{}")
    return _boolean(scope.dialect.contains(x.sql, _words(options[0], "contains")), x)


@function("like")
def _like_pattern(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = _text(arguments, "{}")
    pattern = scope.dialect.string(_words(options[0], "LIKE").replace("!", "!!"))
    return _boolean(f"({x.sql} LIKE {pattern} ESCAPE '!')", x)


# Dates.


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
def _days_between(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    a, b = _alike(scope, arguments, "days_since")
    if a.kind != "date":
        raise InvalidParameter(f"days are counted between dates, got {a.kind}.")
    days = Fraction((date.max - date.min).days)
    sql, level = scope.dialect.days_between(a.sql, b.sql), max(a.level, b.level)
    return Typed("int", sql, level, interval=Interval(-days, days), declared=True, nullable=a.nullable or b.nullable)


# Checks that several functions share.


def _numbers(name: str, arguments: Sequence[Typed]) -> list[Typed]:
    for x in arguments:
        if not x.numeric:
            raise InvalidParameter(f"{name} takes numbers, got {x.kind or 'a missing value'}.")
    return list(arguments)


def _conditions(arguments: Sequence[Typed]) -> list[Typed]:
    for x in arguments:
        if x.kind != "bool":
            raise InvalidParameter(f"a condition is true or false, got {x.kind or 'a missing value'}.")
    return list(arguments)


def _text(arguments: Sequence[Typed], sql: str) -> Typed:
    (x,) = arguments
    if x.kind != "str":
        raise InvalidParameter(f"a text is needed here, got {x.kind or 'a missing value'}: write .cast('str').")
    return replace(x, sql=sql.format(x.sql), domain=None, origin=None)


def _boolean(sql: str, *arguments: Typed) -> Typed:
    level = max(x.level for x in arguments)
    return Typed("bool", sql, level, nullable=any(x.nullable for x in arguments), domain=(False, True))


def _like(scope: Scope, original: Typed, result: Typed) -> Typed:
    """Return a result of doubles as whole numbers if it came from them."""
    if original.kind == "int":
        return replace(result, kind="int", sql=f"CAST({result.sql} AS {scope.dialect.whole})")
    return result


def _alike(scope: Scope, arguments: Sequence[Typed], name: str) -> tuple[Typed, Typed]:
    """Return two values in one kind, so that they can be compared."""
    a, b = arguments
    if a.kind is None or b.kind is None:
        raise InvalidParameter(f"{name} None is never true: write .is_null().")
    if a.kind == b.kind:
        return a, b
    if a.numeric and b.numeric:
        return scope.as_double(a), scope.as_double(b)
    for x, y, turned in ((a, b, False), (b, a, True)):
        if y.kind == "str" and y.domain is not None and len(y.domain) == 1 and x.kind in ("date", "timestamp"):
            z = _moment(scope, str(y.domain[0]), x.kind)
            return (z, x) if turned else (x, z)
        if (x.kind, y.kind) == ("timestamp", "date"):
            z = replace(y, kind="timestamp", sql=f"CAST({y.sql} AS TIMESTAMP)", domain=None, origin=None)
            return (z, x) if turned else (x, z)
    raise InvalidParameter(f"{name} compares values of one type, got {a.kind} and {b.kind}. Use .cast().")


def _moment(scope: Scope, text: str, kind: Kind) -> Typed:
    try:
        value = date.fromisoformat(text) if kind == "date" else datetime.fromisoformat(text)
    except ValueError:
        raise InvalidParameter(f"{text!r} is no {kind}: write '2026-01-31'.") from None
    if isinstance(value, datetime) and value.tzinfo is not None:
        raise InvalidParameter("timestamps are compared in UTC: write them without a time zone.")
    return scope.constant(value, kind)


def _unified(scope: Scope, values: Sequence[Typed]) -> list[Typed]:
    kinds = {x.kind for x in values} - {None}
    if not kinds:
        raise InvalidParameter("at least one of the values must be something.")
    if kinds == {"int", "float"}:
        return [x if x.kind is None else scope.as_double(x) for x in values]
    if len(kinds) > 1:
        raise InvalidParameter(f"all values of a choice are of one type, got {', '.join(sorted(map(str, kinds)))}.")
    return list(values)


def _union(values: Sequence[Typed]) -> Typed:
    some = [x for x in values if x.kind is not None]
    interval = None
    if some[0].numeric:
        interval = some[0].bounds
        for x in some[1:]:
            interval = interval | x.bounds
    domain: tuple[Value, ...] | None = None
    if all(x.domain is not None for x in some):
        domain = tuple(dict.fromkeys(value for x in some for value in x.domain or ()))
    return Typed(
        some[0].kind,
        "",
        max(x.level for x in values),
        interval=interval,
        declared=all(x.declared for x in some) and some[0].numeric,
        enforced=all(x.enforced for x in some),
        nullable=any(x.nullable or x.kind is None for x in values),
        domain=domain,
    )


def _count(value: Value, name: str) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise InvalidParameter(f"{name} takes whole numbers that are not negative.")
    return value


def _words(value: Value, name: str) -> str:
    if type(value) is not str or "\x00" in value:
        raise InvalidParameter(f"{name} takes a text.")
    return value


def _short(edge: Fraction) -> str:
    return show(int(edge)) if edge.denominator == 1 else show(float(edge))
