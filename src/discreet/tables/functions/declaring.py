"""How a function of a row is declared, and the checks that several of them share."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.exact import show
from discreet.tables.kinds import Kind, Value
from discreet.tables.typed import Scope, Typed

__all__ = [
    "FUNCTIONS",
    "Apply",
    "alike",
    "as_original",
    "boolean",
    "conditions",
    "count_of",
    "function",
    "moment",
    "numbers",
    "shown_edge",
    "text_of",
    "unified",
    "union",
    "words_of",
]

Apply = Callable[[Scope, list[Typed], tuple[Value, ...]], Typed]

FUNCTIONS: dict[str, Apply] = {}
"""Every function by its name."""


def function(name: str) -> Callable[[Apply], Apply]:
    """Enter a function into the list."""

    def enter(apply: Apply) -> Apply:
        FUNCTIONS[name] = apply
        return apply

    return enter


def numbers(name: str, arguments: Sequence[Typed]) -> list[Typed]:
    """Return arguments that are numbers, or refuse."""
    for x in arguments:
        if not x.numeric:
            raise InvalidParameter(f"{name} takes numbers, got {x.kind or 'a missing value'}.")
    return list(arguments)


def conditions(arguments: Sequence[Typed]) -> list[Typed]:
    """Return arguments that are true or false, or refuse."""
    for x in arguments:
        if x.kind != "bool":
            raise InvalidParameter(f"a condition is true or false, got {x.kind or 'a missing value'}.")
    return list(arguments)


def text_of(arguments: Sequence[Typed], sql: str) -> Typed:
    """Return SQL of one text."""
    (x,) = arguments
    if x.kind != "str":
        raise InvalidParameter(f"a text is needed here, got {x.kind or 'a missing value'}: write .cast('str').")
    return replace(x, sql=sql.format(x.sql), domain=None, origin=None)


def boolean(sql: str, *arguments: Typed) -> Typed:
    """Return a condition."""
    level = max(x.level for x in arguments)
    return Typed("bool", sql, level, nullable=any(x.nullable for x in arguments), domain=(False, True))


def as_original(scope: Scope, original: Typed, result: Typed) -> Typed:
    """Return a result of doubles as whole numbers if it came from them."""
    if original.kind == "int":
        return replace(result, kind="int", sql=f"CAST({result.sql} AS {scope.dialect.whole})")
    return result


def alike(scope: Scope, arguments: Sequence[Typed], name: str) -> tuple[Typed, Typed]:
    """Return two values in one kind, so that they can be compared."""
    a, b = arguments
    if a.kind is None or b.kind is None:
        raise InvalidParameter(f"{name} None is never true: write .is_null().")
    if a.kind == b.kind:
        return a, b
    if a.numeric and b.numeric:
        return scope.as_double(a), scope.as_double(b)
    for x, y, turned in ((a, b, False), (b, a, True)):
        if x.kind in ("date", "timestamp") and (text := _constant_text(scope, y)) is not None:
            z = moment(scope, text, x.kind)
            return (z, x) if turned else (x, z)
        if (x.kind, y.kind) == ("timestamp", "date"):
            z = replace(y, kind="timestamp", sql=f"CAST({y.sql} AS TIMESTAMP)", domain=None, origin=None)
            return (z, x) if turned else (x, z)
    raise InvalidParameter(f"{name} compares values of one type, got {a.kind} and {b.kind}. Use .cast().")


def _constant_text(scope: Scope, x: Typed) -> str | None:
    """Return the text that is written in the query; one that a column or a choice may have is not the same."""
    for value in x.domain or ():
        if isinstance(value, str) and not x.nullable and x.sql == scope.dialect.constant(value, "str"):
            return value
    return None


def moment(scope: Scope, text: str, kind: Kind) -> Typed:
    """Return a constant date or moment from its text."""
    try:
        value = date.fromisoformat(text) if kind == "date" else datetime.fromisoformat(text)
    except ValueError:
        raise InvalidParameter(f"{text!r} is no {kind}: write '2026-01-31'.") from None
    if isinstance(value, datetime) and value.tzinfo is not None:
        raise InvalidParameter("timestamps are compared in UTC: write them without a time zone.")
    return scope.constant(value, kind)


def unified(scope: Scope, values: Sequence[Typed]) -> list[Typed]:
    """Return values in one kind, for a choice among them."""
    kinds = {x.kind for x in values} - {None}
    if not kinds:
        raise InvalidParameter("at least one of the values must be something.")
    if kinds == {"int", "float"}:
        return [x if x.kind is None else scope.as_double(x) for x in values]
    if len(kinds) > 1:
        raise InvalidParameter(f"all values of a choice are of one type, got {', '.join(sorted(map(str, kinds)))}.")
    return list(values)


def union(values: Sequence[Typed]) -> Typed:
    """Return what holds of a value that is one of several."""
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
        length=max(x.length for x in some),
    )


def count_of(value: Value, name: str) -> int:
    """Return an option that is a whole number."""
    if type(value) is not int or not 0 <= value < 2**31:
        raise InvalidParameter(f"{name} takes whole numbers that are not negative.")
    return value


def words_of(value: Value, name: str) -> str:
    """Return an option that is a text."""
    if type(value) is not str or "\x00" in value:
        raise InvalidParameter(f"{name} takes a text.")
    return value


def shown_edge(edge: Fraction) -> str:
    """Write the edge of a bin."""
    return show(int(edge)) if edge.denominator == 1 else show(float(edge))
