# ruff: noqa: DTZ001, DTZ901, RUF001 - timestamps have no zone here, and odd letters are the point
"""Hostile values, and what the pieces of SQL mean, in plain Python."""

import math
import re
from datetime import date, datetime, timedelta
from itertools import product

LIMIT = 2**53
SMALLEST, LARGEST = -(2**63), 2**63 - 1

FLOATS = [
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1,
    0.49999999999999994, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 1e-310, 1e-100, 9.99e-101,
    -1e-100, 1e-99, 1e-20, 123456.789, float(LIMIT), float(-LIMIT), float(LIMIT - 1), float(LIMIT + 2),
    1e15 + 0.5, 2.0**63, -(2.0**63), 3.14159, -7.0,
]  # fmt: skip

INTEGERS = [
    None, 0, 1, -1, 2, 3, 7, -7, 10, -10, 127, 2**31 - 1, 2**31, -(2**31), 2**53 - 1, 2**53, 2**53 + 1,
    -(2**53) - 1, LARGEST, SMALLEST, SMALLEST + 1, 10**15, 999_999_999_999,
]  # fmt: skip

TEXTS = [
    None, "", " ", "  a b  ", "a", "A", "b", "ab", "AB", "abc", "cab", "\n", "\t", "a\n", "\na", "a\r\n", "'",
    "''", '"', "`", "\\", "\\n", "\\\\", "a\\", "%", "_", "a%", "a_b", "!", "!!", "!%", "${x}", "$", "{}",
    "{0}", ":x", "?", "%s", "--", ";", "/*", "é", "e\u0301", "É", "ß", "ẞ", "ſ", "İ", "ı", "Σ", "ς", "日本",
    "😀", "a😀b", "\uffff", "\U00010000", "\U0010ffff", "\u200b", "\u00a0x\u00a0", "\u3000y", "\ufeffz",
    "x" * 10_000, "true", "True", "TRUE", "tRUE", "t", "1", "false", "False", "FALSE", "no", "null", "NULL",
    "NaN", "nan", "Infinity", "inf", "-inf", "0", "-0", "+0", "1", "+1", "-1", "01", "1.", ".5", "-.5e3",
    "1.5", "1e5", "1E-5", "1e99", "-1e99", "1e-99", "1e100", "1e400", "1e-400", "0x10", "1_000", "1,000",
    " 1", "1 ", "1\n", "\n1", "1d", "1f", "1L", "--1", "+-1", ".", "e5", "1e", "١", "１", "123456789012345678",
    "-123456789012345678", "1234567890123456789", "999999999999999999", "9" * 400, "0." + "0" * 14 + "1",
    "1." + "3" * 15, "1." + "3" * 16, "123456789012345", "1234567890123456", "9007199254740993", "0.1",
    "179.769313486231570e99", "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2024-02-30",
    "2024-04-31", "2024-12-31", "2024-13-01", "2024-00-10", "2024-01-00", "2024-01-32", "0000-01-01",
    "0001-01-01", "9999-12-31", "10000-01-01", "2024-1-1", "2024-01-01 00:00:00", "2024-01-01\n",
    " 2024-01-01", "2024-01-01Z", "20240101", "2024/01/01", "infinity", "epoch", "now", "today",
    "+2024-01-01", "-2024-01-01", "2024-W01-1", "１９９９-01-01",
]  # fmt: skip

DATES = [
    None, date.min, date.max, date(1, 1, 31), date(4, 2, 29), date(1582, 10, 4), date(1582, 10, 15),
    date(1600, 2, 29), date(1899, 12, 31), date(1900, 2, 28), date(1969, 12, 31), date(1970, 1, 1),
    date(2000, 2, 29), date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(2024, 3, 31),
    date(2100, 3, 1),
]  # fmt: skip

TIMESTAMPS = [
    None, datetime.min, datetime.max, datetime(1, 1, 1, 23, 59, 59, 999_999), datetime(1582, 10, 10, 12),
    datetime(1883, 11, 18, 12, 3, 58), datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1970, 1, 1),
    datetime(2000, 2, 29, 0, 0, 0, 1), datetime(2024, 3, 10, 2, 30), datetime(2024, 10, 27, 1, 30),
    datetime(9999, 1, 1, 7),
]  # fmt: skip

BOOLEANS = [None, True, False]


def pairs(values):
    """Return all pairs, as two columns."""
    return [list(column) for column in zip(*product(values, values), strict=True)]


def clean(x):
    if x is None or math.isnan(x):
        return None
    return 0.0 if abs(x) < 1e-100 else limited(float(x))


def limited(x):
    return None if x is None else min(max(x, -float(LIMIT)), float(LIMIT))


def limited_whole(x):
    return None if x is None else float(min(max(x, -LIMIT), LIMIT))


def whole(x):
    return None if x is None else math.trunc(x)


def quotient(a, b):
    if a is None or not b:
        return None
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def parsed_float(text):
    grammar = r"[+-]?([0-9]{1,15}(\.[0-9]{0,15})?|\.[0-9]{1,15})([eE][+-]?[0-9]{1,2})?"
    return clean(float(text)) if text is not None and re.fullmatch(grammar, text) else None


def parsed_int(text):
    return int(text) if text is not None and re.fullmatch(r"[+-]?[0-9]{1,18}", text) else None


def parsed_bool(text):
    return {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}.get(text)


def parsed_date(text):
    if text is None or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return date(*map(int, text.split("-")))
    except ValueError:
        return None


def month_start(day):
    return None if day is None else day - timedelta(days=day.day - 1)


def lift(function):
    """Return the function that is null wherever an argument is."""
    return lambda *arguments: None if any(argument is None for argument in arguments) else function(*arguments)
