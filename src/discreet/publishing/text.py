"""SQL from fields: names in quotes where they need them, the rest as it was written."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.tables.sql.dialect import Private

__all__ = ["decimal", "grouped", "quoted", "select"]

WORDS = frozenset(word for words in Private.Tokenizer.KEYWORDS for word in words.split())
"""Words that mean something in SQL, alone or with others."""


def quoted(name: str) -> str:
    """Return a name as SQL has it.

    >>> quoted("city"), quoted("order"), quoted("zip code")
    ('city', '"order"', '"zip code"')
    """
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.upper() not in WORDS
    return name if plain else '"' + name.replace('"', '""') + '"'


def decimal(number: Fraction) -> str:
    """Return a number that was read from a decimal as the decimal it is.

    >>> decimal(Fraction(1, 8)), decimal(Fraction(-40)), decimal(Fraction(1, 10**9))
    ('0.125', '-40', '0.000000001')
    """
    places = 0
    while number.denominator != 1 and (number * 10**places).denominator != 1:
        places += 1
        if places > 400:
            raise InvalidParameter("this number has no end in decimals.")
    whole = abs(number * 10**places).numerator
    digits = str(whole).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{text}" if number < 0 else text


def select(
    table: str, keys: Mapping[str, str], columns: Mapping[str, str], where: str | None = None, order: Sequence[str] = ()
) -> str:
    """Return a query; the keys and columns map names to what they are.

    >>> select("visits", {"city": "city"}, {"n": "COUNT(*)"}, "day >= '2026-01-01'")
    "SELECT city, COUNT(*) AS n FROM visits WHERE (day >= '2026-01-01') GROUP BY city"
    """
    shown = [
        what if what == quoted(name) else f"{what} AS {quoted(name)}" for name, what in {**keys, **columns}.items()
    ]
    text = f"SELECT {', '.join(shown)} FROM {quoted(table)}"  # noqa: S608  it is parsed again before it is used
    if where:
        text += f" WHERE ({where})"
    if keys:
        text += f" GROUP BY {', '.join(keys.values())}"
    return text + (f" ORDER BY {', '.join(map(quoted, order))}" if order else "")


def grouped(
    table: str, keys: Mapping[str, str], by: str, where: str | None = None, options: Mapping[str, str] | None = None
) -> str:
    """Return a query that counts by several groupings, with options that say how they are answered together.

    >>> grouped("people", {"sex": "sex"}, "GROUPING SETS ((sex), ())")
    'SELECT sex, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((sex), ())'
    """
    shown = [what if what == quoted(name) else f"{what} AS {quoted(name)}" for name, what in keys.items()]
    told = ", ".join(f"{name} = {_text(value)}" for name, value in (options or {}).items())
    start = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({told})" if told else "SELECT"
    text = f"{start} {', '.join([*shown, 'COUNT(*) AS n'])} FROM {quoted(table)}"
    return f"{text}{f' WHERE ({where})' if where else ''} GROUP BY {by}"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
