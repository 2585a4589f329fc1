"""What an engine must be able to say.

Plans are written in the common core of SQL; here is everything that engines spell differently, or that one of them
would answer with an exception. Each piece is total: no row makes it fail, and every engine gives the same value.
Doubles are added, multiplied and compared by IEEE 754 alike everywhere; what is not (logarithms, locale-dependent
letters, decimals as text) is not here.
"""

from abc import ABC, abstractmethod
from datetime import UTC, date, datetime
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.tables.kinds import LIMIT, LONGEST, TINY, Kind, Value

__all__ = ["Dialect", "Stored"]

Stored = Literal["bool", "date", "decimal", "float", "int", "milliseconds", "other", "str", "timestamp"]
"""How a column is stored; decimals are read as floats, others cannot be read.

Timestamps in milliseconds of a Parquet file cannot be read either: DuckDB fails on those that are none in microseconds.
"""

NUMBER = r"[+-]?([0-9]{1,15}(\.[0-9]{0,15})?|\.[0-9]{1,15})([eE][+-]?[0-9]{1,2})?"
INTEGER = r"[+-]?[0-9]{1,18}"
YEAR = r"([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
LEAP = r"([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
DATE = rf"{YEAR}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|{LEAP}-02-29"
"""Exactly the days of the years 1 to 9999, so that a cast of what matches never fails."""
MASK = 2**31 - 1


class Dialect(ABC):
    """The base, in words that most engines share."""

    name: str
    double = "DOUBLE"
    whole = "BIGINT"
    text = "VARCHAR"
    total_doubles = True
    """Whether arithmetic of doubles never raises, so that a column may be clamped without cleaning it first."""
    barrier = ""
    """What ends a subquery whose values are computed once, instead of wherever their names are used."""

    joins_digests = False
    """Whether digests cost so much that a join is cheaper."""

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        return '"' + name.replace('"', '""') + '"'

    def string(self, value: str) -> str:
        """Return a text constant."""
        return "'" + value.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """Return a double constant: parsed from text, which every engine rounds correctly."""
        return f"CAST('{value!r}' AS {self.double})"

    def constant(self, value: Value, kind: Kind | None) -> str:
        """Return a constant of a kind."""
        if value is None:
            return "NULL" if kind is None else f"CAST(NULL AS {self.type(kind)})"
        if kind == "bool":
            return "TRUE" if value else "FALSE"
        if kind == "int":
            return f"CAST({int(value)} AS {self.whole})"  # type: ignore[arg-type]
        if kind == "float":
            number = float(value)  # type: ignore[arg-type]
            return self.number(number if abs(number) >= TINY else 0.0)
        if kind == "str":
            return self.string(str(value))
        if kind == "date" and isinstance(value, date):
            return f"DATE '{value.isoformat()}'"
        if kind == "timestamp" and isinstance(value, datetime):
            value = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        raise InvalidParameter(f"no constant of type {kind}.")

    def type(self, kind: Kind) -> str:
        """Return the engine's type for a kind."""
        return {
            "bool": "BOOLEAN",
            "date": "DATE",
            "float": self.double,
            "int": self.whole,
            "str": self.text,
            "timestamp": "TIMESTAMP",
        }[kind]

    # Reading columns.

    def read(
        self, column: str, stored: Stored, kind: Kind, *, longest: int = LONGEST, whole: bool = False
    ) -> str | None:
        """Return a column as a value of a kind, null where it is none; None if it cannot be read as that kind.

        Longer texts are cut, or missing if they count as a whole alone: two persons must not become one.
        """
        if stored == "str":
            text = self.read_text(column, longest, whole=whole)
            return text if kind == "str" else self.parse(text, kind)
        readers = {
            ("bool", "bool"): column,
            ("int", "int"): self.read_whole(column),
            ("int", "float"): self.limited_whole(self.read_whole(column)),
            ("bool", "int"): self.from_bool(column),
            ("decimal", "float"): self.clean(self.decimal_to_double(column)),
            ("decimal", "int"): self.to_whole(self.clean(self.decimal_to_double(column))),
            ("float", "float"): self.clean(f"CAST({column} AS {self.double})"),
            ("float", "int"): self.to_whole(self.clean(f"CAST({column} AS {self.double})")),
            ("int", "str"): f"CAST({column} AS {self.text})",
            ("date", "date"): self.clean_date(column),
            ("timestamp", "date"): self.date_of(self.clean_timestamp(column)),
            ("timestamp", "timestamp"): self.clean_timestamp(column),
        }
        return readers.get((stored, kind))

    def read_whole(self, column: str) -> str:
        """Return a column of whole numbers of at most 64 bits."""
        return f"CAST({column} AS {self.whole})"

    def read_text(self, column: str, longest: int = LONGEST, *, whole: bool = False) -> str:
        """Return a column of text, compared byte by byte, cut or missing where it is too long to calculate with."""
        text = f"CAST({column} AS {self.text})"
        return f"CASE WHEN {self.octets(text)} <= {longest} THEN {text} END" if whole else self.cut(text, longest)

    def cut(self, x: str, longest: int = LONGEST) -> str:
        """Return the first characters of a text; those of few bytes are not counted."""
        return f"CASE WHEN {self.octets(x)} <= {longest} THEN {x} ELSE SUBSTRING({x}, 1, {longest}) END"

    def octets(self, x: str) -> str:
        """Return how many bytes a text has in UTF-8."""
        return f"OCTET_LENGTH({x})"

    def parse(self, text: str, kind: Kind) -> str | None:
        """Return a text as a value of a kind; null where it is not written exactly so."""
        if kind == "float":
            return self.clean(f"CAST(CASE WHEN {self.matches(text, NUMBER)} THEN {text} END AS {self.double})")
        if kind == "int":
            return f"CAST(CASE WHEN {self.matches(text, INTEGER)} THEN {text} END AS {self.whole})"
        if kind == "bool":
            yes, no = "('true', 'True', 'TRUE')", "('false', 'False', 'FALSE')"
            return f"CASE WHEN {text} IN {yes} THEN TRUE WHEN {text} IN {no} THEN FALSE END"
        if kind == "date":
            return self.parse_date(text)
        return None

    def clean(self, x: str) -> str:
        """Return a double without NaN, infinities, and numbers too small to multiply."""
        limit, tiny = self.number(float(LIMIT)), self.number(TINY)
        return (
            f"CASE WHEN {self.is_nan(x)} THEN NULL WHEN {x} > {limit} THEN {limit} WHEN {x} < -{limit} THEN -{limit} "
            f"WHEN ABS({x}) < {tiny} THEN {self.number(0.0)} ELSE {x} END"
        )

    def limited(self, x: str) -> str:
        """Return a double that is no NaN, clamped to what can be calculated with; null stays null."""
        limit = self.number(float(LIMIT))
        return f"CASE WHEN {x} IS NOT NULL THEN LEAST(GREATEST({x}, -{limit}), {limit}) END"

    def limited_whole(self, x: str) -> str:
        """Return a whole number as a double, clamped to what doubles hold exactly."""
        limit = self.number(float(LIMIT))
        return (
            f"CASE WHEN {x} BETWEEN -{LIMIT} AND {LIMIT} THEN CAST({x} AS {self.double}) "
            f"WHEN {x} < 0 THEN -{limit} WHEN {x} > 0 THEN {limit} END"
        )

    def to_whole(self, x: str) -> str:
        """Return a clean double cut to a whole number, towards 0."""
        return f"CAST(CASE WHEN {x} < 0 THEN CEIL({x}) ELSE FLOOR({x}) END AS {self.whole})"

    def from_bool(self, x: str) -> str:
        """Return 1 for true and 0 for false."""
        return f"CASE WHEN {x} THEN CAST(1 AS {self.whole}) WHEN NOT {x} THEN CAST(0 AS {self.whole}) END"

    def decimal_to_double(self, x: str) -> str:
        """Return a decimal as a double."""
        return f"CAST({x} AS {self.double})"

    def clean_date(self, x: str) -> str:
        """Return a date of the years 1 to 9999."""
        return f"CASE WHEN {x} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {x} END"

    def clean_timestamp(self, x: str) -> str:
        """Return a timestamp of the years 1 to 9999, without a time zone (that of UTC)."""
        start, end = "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"
        return f"CASE WHEN {x} BETWEEN {start} AND {end} THEN {x} END"

    def date_of(self, x: str) -> str:
        """Return the date of a timestamp of the years 1 to 9999."""
        return f"CAST({x} AS DATE)"

    # Pieces that engines spell differently.

    @abstractmethod
    def is_nan(self, x: str) -> str:
        """Whether a double is NaN."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Whether a whole text matches a regular expression."""

    def parse_date(self, text: str) -> str:
        """Return a text written YYYY-MM-DD as a date; null where there is no such day."""
        return f"CAST(CASE WHEN {self.matches(text, DATE)} THEN {text} END AS DATE)"

    @abstractmethod
    def digest(self, text: str) -> str:
        """Return 31 bits of a text's MD5: of its first four bytes, the first being lowest, all but the highest bit."""

    def salted(self, salt: str, text: str) -> str:
        """Return a constant and a text behind it, nothing standing for a missing one."""
        return f"CONCAT({self.string(salt)}, {text})"

    @abstractmethod
    def xor(self, a: str, b: str) -> str:
        """Return the exclusive or of two whole numbers, bit by bit; negative ones are in two's complement."""

    @abstractmethod
    def shift(self, a: str, bits: int) -> str:
        """Return a whole number without its lowest bits; its sign stays."""

    @abstractmethod
    def part(self, name: Literal["year", "month", "day", "weekday", "hour"], x: str) -> str:
        """Return a part of a date or timestamp as a whole number; Monday is weekday 1."""

    @abstractmethod
    def month_start(self, x: str) -> str:
        """Return the first day of a date's month."""

    @abstractmethod
    def days_between(self, later: str, earlier: str) -> str:
        """Return the days between two dates as a whole number."""

    @abstractmethod
    def starts_with(self, x: str, text: str) -> str:
        """Whether a text begins with a constant."""

    @abstractmethod
    def ends_with(self, x: str, text: str) -> str:
        """Whether a text ends with a constant."""

    @abstractmethod
    def contains(self, x: str, text: str) -> str:
        """Whether a text holds a constant."""

    @abstractmethod
    def position(self, x: str, sought: str) -> str:
        """Return the place of a text in another one, counted in characters from 1; 0 if it is not there."""

    def right(self, x: str, count: int) -> str:
        """Return the last characters of a text."""
        return f"RIGHT({x}, {count})"

    @abstractmethod
    def first(self, x: str, pattern: str) -> str:
        """Return the first part of a text that a regular expression matches; empty or null if there is none."""

    any_character = "(?s:.)"
    """A regular expression of one character, which may be a line break."""

    def ordered(self, x: str) -> str:
        """Return a text so that comparisons go code point by code point."""
        return x

    def quotient(self, a: str, b: str) -> str:
        """Return the quotient of whole numbers, cut towards 0; null if the divisor is 0."""
        return f"({a} // {b})"

    def exact_sum(self, x: str, most: int | None = None) -> str:
        """Return the sum of whole numbers of at most some size, in a type that cannot overflow."""
        return f"SUM({x})"
