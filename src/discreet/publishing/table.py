"""A table: counts, sums, means and more, for everybody or by group. In SQL, or the same as fields."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, ClassVar

from pydantic import Field, PlainValidator, WithJsonSchema

from discreet.errors import DiscreetError
from discreet.publishing.entry import Entry, Wrong
from discreet.publishing.text import quoted, select
from discreet.publishing.written import Name, Text, refuse
from discreet.tables.sql.options import options
from discreet.tables.sql.words import words

__all__ = ["GroupBy", "Table"]


def _groups(value: object) -> dict[str, str]:
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
        return {name: quoted(name) for name in names}
    if not isinstance(names, dict) or not names or not all(isinstance(what, str) for what in names.values()):
        refuse("groups are a list of columns, or names and what they are.", "Write [city] or {month: MONTH(day)}.")
    return {str(name): what for name, what in names.items()}


GroupBy = Annotated[
    dict[str, str],
    PlainValidator(_groups),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
            ]
        }
    ),
]
"""Columns to group by, or names and the SQL that makes them."""


def _costs(query: str) -> bool:
    """Whether a query says an epsilon or a delta itself."""
    try:
        told, _ = options(words(query))
    except DiscreetError:  # it is refused when it is planned, in its own words
        return False
    return told.epsilon is not None or told.delta is not None


class Table(Entry):
    """A table in SQL (``sql``), or by ``columns``, ``group_by`` and ``where``."""

    kind: ClassVar[str] = "table"

    table: Name = Field(description="The name of its files", examples=["by_city"])
    query: Text | None = Field(
        default=None,
        alias="sql",
        description="What is asked, in SQL",
        examples=["SELECT city, COUNT(*) AS n FROM visits GROUP BY city"],
    )
    columns: dict[str, Text] | None = Field(
        default=None, description="Instead of sql: names and aggregates", examples=[{"n": "COUNT(*)"}]
    )
    group_by: GroupBy | None = Field(default=None, description="Columns to group by", examples=[["city"]])
    where: Text | None = Field(default=None, description="Which rows count", examples=["day >= '2026-01-01'"])

    def sql(self, table: str, bounds: dict[str, tuple[Fraction, Fraction]]) -> str:
        """Return the query as it was written, or made of the fields."""
        if self.query is not None:
            return self.query
        return select(table, self.group_by or {}, self.columns or {}, self.where)

    def wrong(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> Iterator[Wrong]:
        """Yield what is wrong about its fields together."""
        yield from super().wrong(bounds)
        if self.query is None and not self.columns:
            yield (), "a table says what is asked.", "Write sql: SELECT ..., or columns: {n: COUNT(*)}."
        if self.query is not None and (self.spend is not None or self.error is not None) and _costs(self.query):
            said = "spend" if self.spend is not None else "error"
            yield (said,), f"the SQL says what it costs in OPTIONS(...), and {said} says it too.", "Remove one of them."
        for name in ("columns", "group_by", "where"):
            if self.query is not None and getattr(self, name) is not None:
                yield (name,), f"a table has sql, or {name} and other fields, not both.", f"Put {name} into the SQL."
