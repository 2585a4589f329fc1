"""DuckDB, the engine at home."""

from typing import Literal

from discreet.tables.dialects.dialect import MASK, Dialect
from discreet.tables.kinds import LONGEST

__all__ = ["DuckDB"]


class DuckDB(Dialect):
    """DuckDB 1.x."""

    name = "DuckDB"

    def read_whole(self, column: str) -> str:
        """A cast to more bits: those that hold more are no whole numbers here but decimals."""
        return f"CAST({column} AS BIGINT)"

    def read_text(self, column: str, longest: int = LONGEST, *, whole: bool = False) -> str:
        """Compared byte by byte, whatever the column's collation is."""
        return f"({super().read_text(column, longest, whole=whole)} COLLATE C)"

    def octets(self, x: str) -> str:
        """Under a name that elsewhere counts characters."""
        return f"strlen({x})"

    def decimal_to_double(self, x: str) -> str:
        """By way of text: a direct cast of more than 15 digits rounds twice."""
        return f"CAST(CAST({x} AS VARCHAR) AS DOUBLE)"

    def is_nan(self, x: str) -> str:
        """As documented."""
        return f"isnan({x})"

    def matches(self, text: str, pattern: str) -> str:
        """RE2, over the whole text."""
        return f"regexp_full_match({text}, {self.string(pattern)})"

    def digest(self, text: str) -> str:
        """The lowest bits of md5_number, which reads the digest from its first byte upwards."""
        return f"CAST(md5_number({text}) & {MASK} AS BIGINT)"

    def xor(self, a: str, b: str) -> str:
        """A function, since ^ is a power."""
        return f"xor({a}, {b})"

    def shift(self, a: str, bits: int) -> str:
        """As in C."""
        return f"({a} >> {bits})"

    def part(self, name: Literal["year", "month", "day", "weekday", "hour"], x: str) -> str:
        """Functions of the same names."""
        return f"{'isodow' if name == 'weekday' else name}({x})"

    def month_start(self, x: str) -> str:
        """Truncation gives a date for a date."""
        return f"CAST(date_trunc('month', {x}) AS DATE)"

    def days_between(self, later: str, earlier: str) -> str:
        """A difference of dates."""
        return f"CAST({later} - {earlier} AS BIGINT)"

    def starts_with(self, x: str, text: str) -> str:
        """As documented."""
        return f"starts_with({x}, {self.string(text)})"

    def ends_with(self, x: str, text: str) -> str:
        """As documented."""
        return f"ends_with({x}, {self.string(text)})"

    def contains(self, x: str, text: str) -> str:
        """As documented."""
        return f"contains({x}, {self.string(text)})"

    def position(self, x: str, sought: str) -> str:
        """As documented."""
        return f"strpos({x}, {sought})"

    def first(self, x: str, pattern: str) -> str:
        """RE2, which never goes back."""
        return f"regexp_extract({x}, {self.string(pattern)})"
