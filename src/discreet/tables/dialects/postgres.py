"""PostgreSQL, where much of the world's data lives.

Its doubles raise when they overflow or underflow, and so do casts of what cannot be cast: whatever might is guarded
inside of the operand, where no planner can take the guard away.
"""

from typing import Literal

from discreet.tables.dialects.dialect import MASK, Dialect
from discreet.tables.kinds import LIMIT, LONGEST

__all__ = ["PostgreSQL"]


class PostgreSQL(Dialect):
    """PostgreSQL 14 and later, with databases in UTF-8 and sessions in UTC."""

    name = "PostgreSQL"
    double = "DOUBLE PRECISION"
    text = "TEXT"
    total_doubles = False
    barrier = " OFFSET 0"

    def read_text(self, column: str, longest: int = LONGEST, *, whole: bool = False) -> str:
        """As text, without the blanks of CHAR(n), and compared byte by byte whatever the column's collation is."""
        return f'({super().read_text(column, longest, whole=whole)} COLLATE "C")'

    def decimal_to_double(self, x: str) -> str:
        """Cast once it is known to be neither NaN nor infinite, neither huge nor tiny."""
        inside = f"{x} BETWEEN -{LIMIT} AND {LIMIT} AND NOT {x} BETWEEN -1e-200 AND 1e-200"
        return (
            f"CASE WHEN {x} = CAST('NaN' AS NUMERIC) THEN NULL WHEN {x} > {LIMIT} THEN {self.number(float(LIMIT))} "
            f"WHEN {x} < -{LIMIT} THEN {self.number(float(-LIMIT))} WHEN {x} BETWEEN -1e-200 AND 1e-200 "
            f"THEN {self.number(0.0)} ELSE CAST(CASE WHEN {inside} THEN {x} END AS {self.double}) END"
        )

    def clean_timestamp(self, x: str) -> str:
        """Without its time zone, which is that of the session."""
        return super().clean_timestamp(f"CAST({x} AS TIMESTAMP)")

    def is_nan(self, x: str) -> str:
        """NaN equals itself here."""
        return f"({x} = CAST('NaN' AS {self.double}))"

    def matches(self, text: str, pattern: str) -> str:
        """Anchored on both sides; a dollar stands for the very end."""
        return f"({text} ~ {self.string(f'^({pattern})$')})"

    def digest(self, text: str) -> str:
        """The first eight hexadecimal digits of md5, the pairs put in reverse order, read as bits."""
        digits = f"translate('GHEFCDAB', 'ABCDEFGH', substr(md5({text}), 1, 8))"
        return f"(CAST(CAST(('x' || {digits}) AS BIT(32)) AS BIGINT) & {MASK})"

    def xor(self, a: str, b: str) -> str:
        """An operator of its own, since ^ is a power."""
        return f"({a} # {b})"

    def shift(self, a: str, bits: int) -> str:
        """As in C."""
        return f"({a} >> {bits})"

    def part(self, name: Literal["year", "month", "day", "weekday", "hour"], x: str) -> str:
        """Extraction, which gives a decimal."""
        return f"CAST(EXTRACT({'isodow' if name == 'weekday' else name} FROM {x}) AS BIGINT)"

    def month_start(self, x: str) -> str:
        """Truncation of a timestamp without a time zone."""
        return f"CAST(date_trunc('month', CAST({x} AS TIMESTAMP)) AS DATE)"

    def days_between(self, later: str, earlier: str) -> str:
        """A difference of dates."""
        return f"CAST(({later} - {earlier}) AS BIGINT)"

    def starts_with(self, x: str, text: str) -> str:
        """As documented."""
        return f"starts_with({x}, {self.string(text)})"

    def ends_with(self, x: str, text: str) -> str:
        """Compare as many characters of the end."""
        return f"(right({x}, {len(text)}) = {self.string(text)})"

    def contains(self, x: str, text: str) -> str:
        """A position, which is 0 for none."""
        return f"({self.position(x, self.string(text))} > 0)"

    def position(self, x: str, sought: str) -> str:
        """As documented."""
        return f"strpos({x}, {sought})"

    any_character = "."

    def first(self, x: str, pattern: str) -> str:
        """A substring, in which a dot is any character."""
        return f"substring({x} FROM {self.string(pattern)})"

    def ordered(self, x: str) -> str:
        """Compared byte by byte, which for UTF-8 is code point by code point."""
        return f'({x} COLLATE "C")'

    def quotient(self, a: str, b: str) -> str:
        """The quotient of whole numbers is whole; by 0 it is null."""
        return f"({a} / NULLIF({b}, 0))"
