# ruff: noqa: DTZ001 - timestamps have no zone here
"""What each function of the closed list means, in plain Python: expressions over known columns, and their oracles."""

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import NamedTuple

from engines_reference import (
    LIMIT,
    clean,
    lift,
    limited_whole,
    month_start,
    parsed_bool,
    parsed_date,
    parsed_float,
    parsed_int,
    whole,
)

from discreet.tables.expressions import Call, Expression, col, lit, when

STORED = {
    "i": "int", "j": "int", "f": "float", "g": "float", "s": "str", "u": "str",
    "d": "date", "e": "date", "t": "timestamp", "b": "bool", "c": "bool",
}  # fmt: skip
"""The columns of the table that functions are tried on, two of most types."""

KINDS = STORED

i, j, f, g, s, u, d, e, t, b, c = (col(name) for name in STORED)


class Case(NamedTuple):
    """An expression, and what it gives for a row of clean values."""

    expression: Expression
    oracle: Callable


def read(name, value):
    """Return a stored value as expressions see it."""
    return clean(value) if KINDS[name] == "float" else value


def double(x):
    return x if isinstance(x, float) else limited_whole(x)


def limited(x):
    return min(max(x, -float(LIMIT)), float(LIMIT))


def arithmetic(operation, flush):
    @lift
    def calculated(a, b):
        r = operation(double(a), double(b))
        if r is None:
            return None
        if flush(a, b) and abs(r) < 1e-100:
            r = 0.0
        both = isinstance(a, int) and isinstance(b, int) and operation is not divided
        return int(limited(r)) if both else limited(r)

    return calculated


def divided(a, b):
    return None if b == 0 else a / b


def floats(a, b):
    return isinstance(a, float) and isinstance(b, float)


def never(a, b):
    return False


add = arithmetic(lambda a, b: a + b, never)
subtract = arithmetic(lambda a, b: a - b, never)
multiply = arithmetic(lambda a, b: a * b, floats)
divide = arithmetic(divided, lambda a, b: True)
negate = lift(lambda x: int(-double(x)) if isinstance(x, int) else -x)
absolute = lift(lambda x: int(abs(double(x))) if isinstance(x, int) else abs(x))
floor = lift(lambda x: int(limited(math.floor(double(x)))))
ceiling = lift(lambda x: int(limited(math.ceil(double(x)))))
rounded = lift(lambda x: int(limited(math.floor(double(x) + 0.5))))
square_root = lift(lambda x: math.sqrt(double(x)) if double(x) >= 0 else None)


def clip(low, high):
    return lift(lambda x: min(max(x if isinstance(low, int) else double(x), low), high))


def alike(a, b):
    """Return two numbers as they are compared: as doubles, unless both are whole."""
    return (double(a), double(b)) if {type(a), type(b)} == {int, float} else (a, b)


def compared(operation):
    return lift(lambda a, b: operation(*alike(a, b)))


COMPARISONS = {
    "equal": lambda a, b: a == b,
    "unequal": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "at_most": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "at_least": lambda a, b: a >= b,
}


def both(a, b):
    return False if False in (a, b) else None if None in (a, b) else True


def either(a, b):
    return True if True in (a, b) else None if None in (a, b) else False


def binned(x):
    if x is None or not -1 <= double(x) <= 10:
        return None
    return "[-1, 0.5)" if double(x) < 0.5 else "[0.5, 2)" if double(x) < 2 else "[2, 10]"


def ascii_case(letters, turned):
    return lift(lambda x: x.translate(str.maketrans(letters, turned)))


UPPER, LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


PATTERNS = (
    "", "%", "_", "a%", "%a", "%a%", "__", "!", "!%", "\\", "\\%", "'", "é", "a_b", "%\n", "_%_", "a%b",
    "%a%b%", "%a_b%", "%_b", "a_%", "%a__%", "_%b%_", "%😀%", "ab%ba", "a%a", "%b%b", "%.%", "%\\d%", "%_é%",
    "%-%-%", "2024%-_1%", "%${%}%", "%a_b_%", "%(%", "a😀%", "%_\n", "%1_%_%9", "%2_4_%1", "%%a%%", "___%",
    "%___", "a_\n%", "2__4-__-_1%_", "%^%", "%[%]",
)  # fmt: skip
"""Patterns of LIKE; none repeats an x, for which the oracle would take long in a long text of them."""


def like(pattern):
    regex = "".join({"%": ".*", "_": "."}.get(letter, re.escape(letter)) for letter in pattern)
    return lift(lambda x: re.fullmatch(regex, x, re.DOTALL) is not None)


def of(oracle, *names):
    """Return the oracle of a row."""
    return lambda row: oracle(*(row[name] for name in names))


def numeric(function, oracle):
    """Return the cases of a function of one number."""
    return [Case(Call(function, (col(name),)), of(oracle, name)) for name in ("i", "f")]


def binary(function, oracle, names=("ij", "fg", "if", "fi")):
    return [Case(Call(function, (col(p), col(q))), of(oracle, p, q)) for p, q in names]


def parts(name, columns="dt"):
    oracle = lift(lambda x: x.isoweekday() if name == "weekday" else getattr(x, name))
    return [Case(Call(name, (col(column),)), of(oracle, column)) for column in columns]


NEEDLES = ("", "a", "'", "\\", "%", "_", "é", "😀", "\n", "${x}")

CASES = {
    "add": [
        *binary("add", add),
        Case(f + 0.5, of(lambda x: add(x, 0.5), "f")),
        Case(i + 1, of(lambda x: add(x, 1), "i")),
    ],
    "subtract": [
        *binary("subtract", subtract),
        Case(d - e, of(lift(lambda x, y: (x - y).days), "d", "e")),
    ],
    "multiply": [
        *binary("multiply", multiply),
        Case(f * g * f * g, of(lambda x, y: multiply(multiply(multiply(x, y), x), y), "f", "g")),
        Case(f * 1e-100 * g, of(lambda x, y: multiply(multiply(x, 1e-100), y), "f", "g")),
    ],
    "square": numeric("square", lambda x: multiply(x, x)),
    "divide": [
        *binary("divide", divide),
        Case(f / g / f / g, of(lambda x, y: divide(divide(divide(x, y), x), y), "f", "g")),
    ],
    "negate": numeric("negate", negate),
    "absolute": numeric("absolute", absolute),
    "floor": numeric("floor", floor),
    "ceiling": numeric("ceiling", ceiling),
    "round": numeric("round", rounded),
    "square_root": numeric("square_root", square_root),
    "clip": [
        Case(i.clip(-5, 5), of(clip(-5, 5), "i")),
        Case(i.clip(0.5, 2.5), of(clip(0.5, 2.5), "i")),
        Case(f.clip(-1.5, 1e6), of(clip(-1.5, 1e6), "f")),
    ],
    **{
        name: [
            *binary(name, compared(operation), names=("ij", "fg", "if", "su", "de")),
            Case(Call(name, (f, lit(0.5))), of(lambda x, operation=operation: compared(operation)(x, 0.5), "f")),
            Case(Call(name, (s, lit("a"))), of(lambda x, operation=operation: compared(operation)(x, "a"), "s")),
            Case(
                Call(name, (t, lit("2000-02-29"))),
                of(lambda x, operation=operation: compared(operation)(x, datetime(2000, 2, 29)), "t"),
            ),
            Case(
                Call(name, (t, d)),
                of(lift(lambda x, y, operation=operation: operation(x, datetime(y.year, y.month, y.day))), "t", "d"),
            ),
        ]
        + ([Case(Call(name, (b, c)), of(compared(operation), "b", "c"))] if "equal" in name else [])
        for name, operation in COMPARISONS.items()
    },
    "is_in": [
        Case(i.isin([1, -7, 2**53]), of(lift(lambda x: x in (1, -7, 2**53)), "i")),
        Case(s.isin(["a", "'", "\\", "é", "\n"]), of(lift(lambda x: x in ("a", "'", "\\", "é", "\n")), "s")),
        Case(d.isin([date(2000, 2, 29)]), of(lift(lambda x: x == date(2000, 2, 29)), "d")),
    ],
    "is_null": [Case(col(name).is_null(), of(lambda x: x is None, name)) for name in STORED],
    "and": [Case(b & c, of(both, "b", "c"))],
    "or": [Case(b | c, of(either, "b", "c"))],
    "not": [Case(~b, of(lift(lambda x: not x), "b"))],
    "coalesce": [
        Case(f.fill(g).fill(0.25), of(lambda x, y: next((v for v in (x, y, 0.25) if v is not None), None), "f", "g")),
        Case(i.fill(0.5), of(lambda x: 0.5 if x is None else double(x), "i")),
        Case(s.fill("?"), of(lambda x: "?" if x is None else x, "s")),
        Case(d.fill(e), of(lambda x, y: y if x is None else x, "d", "e")),
    ],
    "case": [
        Case(
            when(f < 0, "minus").when(b, s).otherwise(None),
            lambda row: "minus" if row["f"] is not None and row["f"] < 0 else row["s"] if row["b"] else None,
        ),
        Case(when(b, i).otherwise(f), lambda row: limited_whole(row["i"]) if row["b"] else row["f"]),
    ],
    "bin": [Case(col(name).bin([-1, 0.5, 2, 10]), of(binned, name)) for name in "if"],
    "cast": [
        Case(i.cast("float"), of(limited_whole, "i")),
        Case(f.cast("int"), of(whole, "f")),
        Case(s.cast("int"), of(parsed_int, "s")),
        Case(s.cast("float"), of(parsed_float, "s")),
        Case(s.cast("bool"), of(parsed_bool, "s")),
        Case(s.cast("date"), of(parsed_date, "s")),
        Case(b.cast("int"), of(lift(int), "b")),
        Case(i.cast("str"), of(lift(str), "i")),
        Case(d.cast("str"), of(lift(str), "d")),
        Case(t.cast("date"), of(lift(datetime.date), "t")),
        Case(i.cast("str").cast("int") + 1, of(lambda x: add(parsed_int(lift(str)(x)), 1), "i")),
    ],
    "lower": [Case(s.lower(), of(ascii_case(UPPER, LOWER), "s"))],
    "upper": [Case(s.upper(), of(ascii_case(LOWER, UPPER), "s"))],
    "trim": [Case(s.trim(), of(lift(lambda x: x.strip(" ")), "s"))],
    "substring": [
        Case(s.slice(start, length), of(lift(lambda x, a=start, n=length: x[a - 1 : a - 1 + n]), "s"))
        for start, length in ((1, 1), (1, 0), (2, 3), (3, 2**31 - 1), (2**31 - 1, 2**31 - 1))
    ],
    "replace": [
        Case(s.replace(old, new), of(lift(lambda x, old=old, new=new: x.replace(old, new)), "s"))
        for old, new in (("a", "bb"), ("'", "\\"), ("\\", "'"), ("x", ""), ("\n", "é"), ("${x}", "%"), ("aa", "a"))
    ],
    "concat": [
        Case(s.concat(u), of(lift(lambda x, y: x + y), "s", "u")),
        Case(s.concat("\\'").concat(s), of(lift(lambda x: x + "\\'" + x), "s")),
    ],
    "length": [Case(s.length(), of(lift(len), "s"))],
    "starts_with": [Case(s.startswith(n), of(lift(lambda x, n=n: x.startswith(n)), "s")) for n in NEEDLES],
    "ends_with": [Case(s.endswith(n), of(lift(lambda x, n=n: x.endswith(n)), "s")) for n in NEEDLES],
    "contains": [Case(s.contains(n), of(lift(lambda x, n=n: n in x), "s")) for n in NEEDLES],
    "like": [
        Case(Call("like", (s,), (pattern,)), of(like(pattern), "s"))
        for pattern in PATTERNS
    ],
    "year": parts("year"),
    "month": parts("month"),
    "day": parts("day"),
    "weekday": parts("weekday"),
    "hour": parts("hour", "t"),
    "month_start": [Case(d.month_start(), of(month_start, "d"))],
    "days_between": [Case(d.days_since(e), of(lift(lambda x, y: (x - y).days), "d", "e"))],
}  # fmt: skip
"""Of every function, expressions and what they give for a row of clean values."""
