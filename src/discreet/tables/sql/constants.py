"""Constants: numbers, texts, true and false, dates and timestamps, and null."""

import math
import re
from datetime import date, datetime
from typing import cast

from sqlglot import exp

from discreet.errors import InvalidQuery
from discreet.tables.kinds import LIMIT, Value
from discreet.tables.sql.refusals import named, understood

__all__ = ["constant", "is_constant", "moment", "number", "value"]

NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?", re.ASCII)


def number(text: str) -> int | float:
    """Return a number as it is written: whole numbers exactly, others as floats.

    >>> number("12"), number("1e-6")
    (12, 1e-06)
    >>> number("9007199254740993")
    Traceback (most recent call last):
    discreet.errors.InvalidQuery: numbers lie within plus or minus 2^53. Write a smaller one.
    """
    if len(text) > 400 or not NUMBER.fullmatch(text):
        raise InvalidQuery("a number is written in digits, as in 1000 or 0.5 or 1e6. Write it so.")
    if text.isdigit():
        whole = int(text)
        if whole > LIMIT:
            raise InvalidQuery("numbers lie within plus or minus 2^53. Write a smaller one.")
        return whole
    decimal = float(text)
    if not math.isfinite(decimal) or decimal > LIMIT:
        raise InvalidQuery("numbers lie within plus or minus 2^53. Write a smaller one.")
    if decimal == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        raise InvalidQuery("a number is too close to 0 for any engine. Write 0.")
    return decimal


def moment(text: str, kind: str) -> date | datetime:
    """Return the date or timestamp of a literal.

    >>> moment("2026-01-31", "date")
    datetime.date(2026, 1, 31)
    """
    try:
        if kind == "date" and DAY.fullmatch(text):
            return date.fromisoformat(text)
        if kind == "timestamp" and MOMENT.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    form = "DATE '2026-01-31'" if kind == "date" else "TIMESTAMP '2026-01-31 12:30:00'"
    raise InvalidQuery(f"there is no such {kind}: {named(text)}. Write {form}, without a time zone.")


def is_constant(node: object) -> bool:
    """Return whether a part of a tree is a constant, null included."""
    return isinstance(node, exp.Literal | exp.Boolean | exp.Null) or _negative(node) or _moment(node) is not None


def constant(node: exp.Expr) -> Value:
    """Return the value of a part for which ``is_constant`` holds."""
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if kind := _moment(node):
        return moment(str(node.this.this), kind)
    if _negative(node):
        return -cast("int | float", constant(cast("exp.Expr", node.this)))
    return str(node.this) if node.args.get("is_string") else number(str(node.this))


def value(node: object, what: str) -> Value:
    """Return the value of a constant that is not null, or say that one is needed."""
    if isinstance(node, exp.Paren):
        understood(node, "this")
        return value(node.this, what)
    if not isinstance(node, exp.Expr) or not is_constant(node) or isinstance(node, exp.Null):
        raise InvalidQuery(f"{what} takes plain values that are the same in every row. Write a number or a text there.")
    return constant(node)


def _negative(node: object) -> bool:
    return isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.args.get("is_string")


def _moment(node: object) -> str | None:
    """Return the kind of ``DATE '2026-01-31'``, which is a cast of a text."""
    if type(node) is not exp.Cast or not isinstance(node.this, exp.Literal) or not node.this.args.get("is_string"):
        return None
    understood(node, "this", "to")
    kind = node.args["to"]
    if not isinstance(kind, exp.DataType):
        return None
    understood(kind, "this", "nested")
    return {"DATE": "date", "TIMESTAMP": "timestamp", "DATETIME": "timestamp"}.get(getattr(kind.this, "name", ""))
