# ruff: noqa: ARG001 - one interface, several implementations: not each needs every argument
"""Comparisons, choices and casts. Null is neither true nor false, as in SQL."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from discreet.errors import InvalidParameter
from discreet.exact import finite
from discreet.tables.functions.declaring import (
    FUNCTIONS,
    Apply,
    alike,
    boolean,
    conditions,
    function,
    numbers,
    shown_edge,
    unified,
    union,
)
from discreet.tables.kinds import LIMIT, WHOLE, Interval, Value, check_kind, kind_of
from discreet.tables.typed import Scope, Typed


def _comparison(symbol: str) -> Apply:
    def compare(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
        a, b = alike(scope, arguments, symbol)
        if a.kind == "str" and symbol not in ("=", "<>"):
            a, b = replace(a, sql=scope.dialect.ordered(a.sql)), replace(b, sql=scope.dialect.ordered(b.sql))
        if a.kind == "bool" and symbol not in ("=", "<>"):
            raise InvalidParameter("true and false have no order: compare them with == alone.")
        return boolean(f"({a.sql} {symbol} {b.sql})", a, b)

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
        a, b = alike(scope, [x, scope.constant(option, kind_of(option))], "isin")
        x = a
        constants.append(b.sql)
    return boolean(f"({x.sql} IN ({', '.join(constants)}))", x)


@function("is_null")
def _is_null(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = arguments
    return replace(boolean(f"({x.sql} IS NULL)", x), nullable=False)


@function("and")
def _and(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return boolean(f"({' AND '.join(x.sql for x in conditions(arguments))})", *arguments)


@function("or")
def _or(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return boolean(f"({' OR '.join(x.sql for x in conditions(arguments))})", *arguments)


@function("not")
def _not(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return boolean(f"(NOT {conditions(arguments)[0].sql})", *arguments)


# Choice.


@function("coalesce")
def _coalesce(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    values = unified(scope, arguments)
    sql = f"COALESCE({', '.join(x.sql for x in values)})"
    return replace(union(values), sql=sql, nullable=all(x.nullable for x in values))


@function("case")
def _case(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    tests = conditions(arguments[:-1:2])
    values = unified(scope, [*arguments[1:-1:2], arguments[-1]])
    cases = " ".join(f"WHEN {c.sql} THEN {v.sql}" for c, v in zip(tests, values[:-1], strict=True))
    level = max(x.level for x in (*tests, *values))
    return replace(union(values), sql=f"CASE {cases} ELSE {values[-1].sql} END", level=level)


@function("bin")
def _bin(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    (x,) = numbers("bin", arguments)
    edges = [finite(option, "an edge") for option in options]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)) or max(map(abs, edges)) > LIMIT:
        raise InvalidParameter("bins have at least two edges, in ascending order, within plus or minus 2^53.")
    named = scope.let(scope.as_double(x))
    labels, cases = [], []
    for place, (low, high) in enumerate(pairwise(edges)):
        last = place == len(edges) - 2
        labels.append(f"[{shown_edge(low)}, {shown_edge(high)}{']' if last else ')'}")
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
