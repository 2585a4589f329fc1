"""The functions by the names that SQL has for them: a closed list."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import NoReturn

from sqlglot import exp

from discreet.errors import InvalidQuery
from discreet.tables.expressions import Call, Expression, when
from discreet.tables.kinds import Value
from discreet.tables.sql.constants import value
from discreet.tables.sql.refusals import named, understood

__all__ = ["AGGREGATES", "EXTRACTS", "ROW", "arguments_of", "substring", "unknown"]

Read = Callable[[object], Expression]
Make = Callable[[Read, Sequence[exp.Expr]], Expression]

AGGREGATES = (
    "APPROX_QUANTILE",
    "AVG",
    "CORR",
    "COUNT",
    "COVAR_POP",
    "MAX",
    "MEDIAN",
    "MIN",
    "PERCENTILE_CONT",
    "QUANTILE_CONT",
    "STDDEV",
    "STDDEV_POP",
    "SUM",
    "VARIANCE",
    "VAR_POP",
)
"""Functions of a group."""

EXTRACTS = {"DAY": "day", "HOUR": "hour", "ISODOW": "weekday", "MONTH": "month", "YEAR": "year"}
"""Parts of a date, and the functions that give them."""

HINTS = {
    "ANY_VALUE": "ANY_VALUE shows the value of one row. Use MEDIAN for a typical one.",
    "ARRAY_AGG": "ARRAY_AGG shows the values of rows. Count them with GROUP BY.",
    "STRING_AGG": "STRING_AGG shows the values of rows. Count them with GROUP BY.",
    "VAR_SAMP": "VAR_SAMP is not released. Write VAR_POP, and correct it by the count if you must.",
    "STDDEV_SAMP": "STDDEV_SAMP is not released. Write STDDEV_POP, and correct it by the count if you must.",
    "COVAR_SAMP": "COVAR_SAMP is not released. Write COVAR_POP, and correct it by the count if you must.",
    "COUNTIF": "COUNTIF is not on the list. Write COUNT(*) FILTER (WHERE condition).",
    "COUNT_IF": "COUNT_IF is not on the list. Write COUNT(*) FILTER (WHERE condition).",
    "PERCENTILE_DISC": "PERCENTILE_DISC shows the value of one row. Write PERCENTILE_CONT.",
    "APPROX_COUNT_DISTINCT": "APPROX_COUNT_DISTINCT is not on the list. Write COUNT(DISTINCT x).",
    "IF": "IF is not on the list. Write CASE WHEN condition THEN x ELSE y END.",
    "LEFT": "LEFT is not on the list. Write SUBSTRING(x, 1, 3).",
    "MOD": "MOD is not on the list. Write x - FLOOR(x / 10) * 10.",
    "POWER": "POWER is not on the list. Write x * x.",
    "POW": "POW is not on the list. Write x * x.",
    "SAFE_DIVIDE": "every division by 0 is null already. Write x / y.",
    "DATE_DIFF": "DATE_DIFF is not on the list. Subtract the dates to get days.",
    "DATEDIFF": "DATEDIFF is not on the list. Subtract the dates to get days.",
    "CURRENT_DATE": "the time of day is no part of a query. Write DATE '2026-01-31'.",
    "NOW": "the time of day is no part of a query. Write TIMESTAMP '2026-01-31 12:30:00'.",
}


def arguments_of(node: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """Return the name of a function in capitals, and its arguments."""
    understood(node, "this", "expressions")
    name = node.this
    if not isinstance(name, str):
        raise InvalidQuery("a function is named without quotes. Leave them out.")
    return name.upper(), list(node.expressions)


def unknown(name: str) -> NoReturn:
    """Refuse a function that is not on the list."""
    if hint := HINTS.get(name):
        raise InvalidQuery(hint)
    raise InvalidQuery(
        f"there is no function {named(name)}: each must be known to answer for every row by itself. "
        f"There are: {', '.join(sorted({*ROW, 'CASE', 'CAST', 'EXTRACT', 'TRY_CAST'}))}, "
        f"and of groups {', '.join(AGGREGATES)}."
    )


def _plain(name: str, function: str) -> Make:
    def make(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
        _count(name, arguments, 1)
        return Call(function, (read(arguments[0]),))

    return make


def _optioned(name: str, function: str, *kinds: type) -> Make:
    """Return a function whose arguments after the first are constants of given types."""

    def make(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
        _count(name, arguments, 1 + len(kinds))
        return Call(function, (read(arguments[0]),), _values(name, arguments[1:], kinds))

    return make


def _folded(name: str, function: str, most: int | None = None) -> Make:
    """Return a function of two or more arguments that takes the first two together, then the next, and so on."""

    def make(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
        if len(arguments) < 2 or (most is not None and len(arguments) > most):
            raise InvalidQuery(f"{name} takes {'two' if most else 'at least two'} arguments. Write {name}(x, y).")
        return reduce(lambda left, right: Call(function, (left, right)), map(read, arguments))

    return make


def _nullif(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
    _count("NULLIF", arguments, 2)
    first, second = map(read, arguments)
    return when(first == second, None).otherwise(first)


def substring(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
    """Return a part of a text: all of it from a position on where no length is given."""
    if not 2 <= len(arguments) <= 3:
        raise InvalidQuery("SUBSTRING takes a text, a start and a length. Write SUBSTRING(x, 1, 3).")
    start, length = (*_values("SUBSTRING", arguments[1:], [int] * (len(arguments) - 1)), 2**31 - 1)[:2]
    if not isinstance(start, int) or not isinstance(length, int) or start < 1 or not 0 <= length < 2**31:
        raise InvalidQuery("SUBSTRING starts at 1 or later and has no negative length. Write SUBSTRING(x, 1, 3).")
    return read(arguments[0]).slice(start, length)


def _date_trunc(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
    _count("DATE_TRUNC", arguments, 2)
    part = arguments[0]
    if not isinstance(part, exp.Literal) or part.name.lower() != "month":
        raise InvalidQuery("DATE_TRUNC is to months alone. Write DATE_TRUNC('month', x).")
    return read(arguments[1]).month_start()


def _bin(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
    if len(arguments) < 3:
        raise InvalidQuery("BIN takes a number and at least two edges. Write BIN(x, 0, 10, 20).")
    edges = _numbers("BIN", arguments[1:])
    if any(a >= b for a, b in pairwise(edges)):
        raise InvalidQuery("the edges of BIN ascend. Write BIN(x, 0, 10, 20).")
    return read(arguments[0]).bin(edges)


def _clip(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
    _count("CLIP", arguments, 3)
    low, high = _numbers("CLIP", arguments[1:])
    if low > high:
        raise InvalidQuery("the lower bound of CLIP comes first. Write CLIP(x, 0, 100).")
    return read(arguments[0]).clip(low, high)


def _ends(outer: str, inner: str) -> Make:
    """Return ``LEAST(GREATEST(x, low), high)``, or the other way round, as the clip that it is; all else is refused."""

    def make(read: Read, arguments: Sequence[exp.Expr]) -> Expression:
        within = arguments[0] if len(arguments) == 2 else None
        while isinstance(within, exp.Paren):
            within = within.this
        if isinstance(within, exp.Anonymous):
            name, nested = arguments_of(within)
            if name == inner and len(nested) == 2:
                first, second = _numbers(inner, nested[1:])[0], _numbers(outer, arguments[1:])[0]
                low, high = (first, second) if outer == "LEAST" else (second, first)
                if low <= high:
                    return read(nested[0]).clip(low, high)
        raise InvalidQuery(
            f"{outer} alone leaves the other end open. Write CLIP(x, 0, 100), which is LEAST(GREATEST(x, 0), 100)."
        )

    return make


def _count(name: str, arguments: Sequence[object], wanted: int) -> None:
    if len(arguments) != wanted:
        told = ("one argument", "two arguments", "three arguments")[wanted - 1]
        raise InvalidQuery(f"{name} takes {told}, got {len(arguments)}. Leave the others out, or add what is missing.")


def _values(name: str, nodes: Sequence[exp.Expr], kinds: Sequence[type]) -> tuple[Value, ...]:
    values = tuple(value(node, name) for node in nodes)
    for one, kind in zip(values, kinds, strict=True):
        if type(one) is not kind:
            wanted = "a text" if kind is str else "a whole number"
            raise InvalidQuery(f"{name} takes {wanted} here. Write it in {'quotes' if kind is str else 'digits'}.")
    return values


def _numbers(name: str, nodes: Sequence[exp.Expr]) -> list[int | float]:
    values = [value(node, name) for node in nodes]
    numbers = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) < len(values):
        raise InvalidQuery(f"{name} takes numbers here. Write them in digits.")
    return numbers


ROW: dict[str, Make] = {
    "ABS": _plain("ABS", "absolute"),
    "BIN": _bin,
    "CEIL": _plain("CEIL", "ceiling"),
    "CEILING": _plain("CEILING", "ceiling"),
    "CLIP": _clip,
    "COALESCE": _folded("COALESCE", "coalesce"),
    "CONCAT": _folded("CONCAT", "concat"),
    "CONTAINS": _optioned("CONTAINS", "contains", str),
    "DATE_TRUNC": _date_trunc,
    "DAY": _plain("DAY", "day"),
    "ENDS_WITH": _optioned("ENDS_WITH", "ends_with", str),
    "FLOOR": _plain("FLOOR", "floor"),
    "GREATEST": _ends("GREATEST", "LEAST"),
    "HOUR": _plain("HOUR", "hour"),
    "IFNULL": _folded("IFNULL", "coalesce", 2),
    "LEAST": _ends("LEAST", "GREATEST"),
    "LENGTH": _plain("LENGTH", "length"),
    "LOWER": _plain("LOWER", "lower"),
    "MONTH": _plain("MONTH", "month"),
    "NULLIF": _nullif,
    "REPLACE": _optioned("REPLACE", "replace", str, str),
    "ROUND": _plain("ROUND", "round"),
    "SQRT": _plain("SQRT", "square_root"),
    "STARTS_WITH": _optioned("STARTS_WITH", "starts_with", str),
    "SUBSTR": substring,
    "SUBSTRING": substring,
    "TRIM": _plain("TRIM", "trim"),
    "UPPER": _plain("UPPER", "upper"),
    "YEAR": _plain("YEAR", "year"),
}
"""Functions of a row."""
