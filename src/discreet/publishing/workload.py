"""A workload: tables by several choices among columns, answered together so that they agree."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Annotated, ClassVar

from pydantic import Field, PlainValidator, WithJsonSchema

from discreet.publishing.entry import Entry, Wrong
from discreet.publishing.table import GroupBy
from discreet.publishing.text import grouped, quoted
from discreet.publishing.written import Name, Text, refuse

__all__ = ["Groupings", "Workload"]

MOST = 100
"""More columns than any table is by."""


def _groupings(value: object) -> list[list[str]] | int:
    if isinstance(value, int | Decimal) and not isinstance(value, bool) and value in range(MOST):
        return int(value)
    if not isinstance(value, list) or not value:
        refuse("groupings are lists of columns, or how many columns each has.", "Write [[age, sex], [sex], []], or 2.")
    if not all(isinstance(one, list) and all(isinstance(name, str) for name in one) for one in value):
        refuse("each grouping is a list of columns.", "Write [[age, sex], [sex], []]; [] is the total.")
    return [list(one) for one in value]


Groupings = Annotated[
    list[list[str]] | int,
    PlainValidator(_groupings),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "array", "minItems": 1, "items": {"type": "array", "items": {"type": "string"}}},
            ]
        }
    ),
]
"""Groupings by columns, or all of a number of columns."""


class Workload(Entry):
    """Counts by ``groupings`` of ``columns``: listed, or all pairs (2), all triples (3), ..."""

    kind: ClassVar[str] = "workload"

    workload: Name = Field(description="The name of its files", examples=["by_age_and_sex"])
    columns: GroupBy = Field(description="The columns that there are tables of", examples=[["age_group", "sex"]])
    groupings: Groupings = Field(description="By which of them each table is", examples=[[["age_group", "sex"], []]])
    where: Text | None = Field(default=None, description="Which rows count", examples=["day >= '2026-01-01'"])

    def sets(self) -> list[list[str]]:
        """Return the groupings, written out."""
        if isinstance(self.groupings, int):
            return [list(one) for one in combinations(self.columns, self.groupings)]
        return self.groupings

    def sql(self, table: str, bounds: dict[str, tuple[Fraction, Fraction]]) -> str:
        """Return all tables as grouping sets."""
        sets = ", ".join(f"({', '.join(quoted(name) for name in one)})" for one in self.sets())
        return grouped(table, self.columns, f"GROUPING SETS ({sets})", self.where)

    def wrong(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> Iterator[Wrong]:
        """Yield what is wrong about its fields together."""
        yield from super().wrong(bounds)
        if isinstance(self.groupings, int) and not 1 <= self.groupings <= len(self.columns):
            fix = f"Write a number from 1 to {len(self.columns)}."
            yield ("groupings",), "each table has at least one of the columns, and at most all.", fix
            return
        unknown = [name for one in self.sets() for name in one if name not in self.columns]
        if unknown:
            yield ("groupings",), f"{unknown[0]} is none of the columns.", "Add it to columns, or write another."
        unused = [name for name in self.columns if not any(name in one for one in self.sets())]
        if unused:
            yield ("columns",), f"no grouping is by {unused[0]}.", "Remove it, or add a grouping."
