"""Spark, for data that one machine cannot hold.

In ANSI mode, the default since Spark 4, casts and divisions raise: whatever might is guarded inside of the operand,
where no optimiser can take the guard away.
"""

from datetime import datetime
from typing import Literal

from discreet.tables.dialects.dialect import MASK, Dialect
from discreet.tables.kinds import Kind, Value

__all__ = ["Spark"]


class Spark(Dialect):
    """Spark 4, with sessions in UTC whose text constants process backslashes."""

    name = "Spark"
    text = "STRING"
    joins_digests = True

    def identifier(self, name: str) -> str:
        """In backticks."""
        return "`" + name.replace("`", "``") + "`"

    def string(self, value: str) -> str:
        """With backslashes and quotes escaped; two texts side by side would be joined instead."""
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def constant(self, value: Value, kind: Kind | None) -> str:
        """Timestamps have no time zone."""
        said = super().constant(value, kind)
        return said.replace("TIMESTAMP", "TIMESTAMP_NTZ", 1) if isinstance(value, datetime) else said

    def type(self, kind: Kind) -> str:
        """Timestamps have no time zone."""
        return "TIMESTAMP_NTZ" if kind == "timestamp" else super().type(kind)

    def clean_timestamp(self, x: str) -> str:
        """Without its time zone, which is that of the session."""
        start, end = "TIMESTAMP_NTZ '0001-01-01 00:00:00'", "TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'"
        plain = f"CAST({x} AS TIMESTAMP_NTZ)"
        return f"CASE WHEN {plain} BETWEEN {start} AND {end} THEN {plain} END"

    def is_nan(self, x: str) -> str:
        """NaN equals itself here."""
        return f"({x} = CAST('NaN' AS DOUBLE))"

    def matches(self, text: str, pattern: str) -> str:
        """Anchored on both sides; a dollar would also stand before a last line break."""
        anchored = rf"\A(?:{pattern})\z"
        return f"({text} RLIKE {self.string(anchored)})"

    def digest(self, text: str) -> str:
        """The first eight hexadecimal digits of md5, the pairs put in reverse order, read in base 16."""
        digits = f"translate('GHEFCDAB', 'ABCDEFGH', substr(md5(CAST({text} AS BINARY)), 1, 8))"
        return f"(CAST(conv({digits}, 16, 10) AS BIGINT) & CAST({MASK} AS BIGINT))"

    def salted(self, salt: str, text: str) -> str:
        """A missing text would make all of it missing."""
        return f"CONCAT({self.string(salt)}, COALESCE({text}, ''))"

    def xor(self, a: str, b: str) -> str:
        """As in C."""
        return f"({a} ^ {b})"

    def shift(self, a: str, bits: int) -> str:
        """As documented."""
        return f"shiftright({a}, {bits})"

    def part(self, name: Literal["year", "month", "day", "weekday", "hour"], x: str) -> str:
        """Functions of the same names; weekdays count from 0."""
        return f"CAST({f'(weekday({x}) + 1)' if name == 'weekday' else f'{name}({x})'} AS BIGINT)"

    def month_start(self, x: str) -> str:
        """Truncation gives a date."""
        return f"trunc({x}, 'MM')"

    def days_between(self, later: str, earlier: str) -> str:
        """As documented."""
        return f"CAST(datediff({later}, {earlier}) AS BIGINT)"

    def starts_with(self, x: str, text: str) -> str:
        """As documented."""
        return f"startswith({x}, {self.string(text)})"

    def ends_with(self, x: str, text: str) -> str:
        """As documented."""
        return f"endswith({x}, {self.string(text)})"

    def contains(self, x: str, text: str) -> str:
        """As documented."""
        return f"contains({x}, {self.string(text)})"

    def position(self, x: str, sought: str) -> str:
        """As documented."""
        return f"instr({x}, {sought})"

    def first(self, x: str, pattern: str) -> str:
        """All of the first match."""
        return f"regexp_extract({x}, {self.string(pattern)}, 0)"

    def quotient(self, a: str, b: str) -> str:
        """An operator of its own; by 0 it is null."""
        return f"({a} div NULLIF({b}, 0))"

    def exact_sum(self, x: str, most: int | None = None) -> str:
        """In 64 bits if that holds the parts of 2^33 persons, who do not exist; else decimals of 28 digits."""
        return f"SUM({x})" if most is not None and most <= 2**30 else f"SUM(CAST({x} AS DECIMAL(28, 0)))"
