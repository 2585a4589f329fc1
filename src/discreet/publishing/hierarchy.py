"""A hierarchy: counts in areas within areas, whole and adding up on every level."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from pydantic import Field

from discreet.publishing.entry import Entry, Wrong
from discreet.publishing.table import GroupBy
from discreet.publishing.text import decimal, grouped, quoted
from discreet.publishing.workload import Groupings
from discreet.publishing.written import Identifier, Name, Positive, Text
from discreet.session import Request

__all__ = ["HierarchyEntry"]


class HierarchyEntry(Entry):
    """Tables on all ``levels``; ``exact`` tells what is published as it is, outside the guarantee."""

    kind: ClassVar[str] = "hierarchy"

    hierarchy: Name = Field(description="The name of its files", examples=["people_by_area"])
    levels: list[Text] = Field(
        min_length=1, description="Columns of areas, the largest first", examples=[["state", "county"]]
    )
    columns: GroupBy | None = Field(default=None, description="Columns of the tables", examples=[["sex", "age_group"]])
    tables: Groupings = Field(description="The tables in every area", examples=[[[], ["sex"], ["sex", "age_group"]]])
    exact: dict[str, list[Text]] | None = Field(
        default=None,
        description="Levels whose table by these columns is published without noise, outside the guarantee",
        examples=[{"state": []}],
    )
    rules: list[Text] | None = Field(
        default=None,
        description="Conditions that hold for everybody; what breaks them is impossible",
        examples=[["relation <> 'spouse' OR age_group <> '0-14'"]],
    )
    areas: Identifier | None = Field(
        default=None,
        description="A public table that lists areas; all combinations unless said",
        examples=["areas"],
    )
    shares: list[list[Positive]] | None = Field(
        default=None,
        description="Parts of the cost: a row for everybody and for each level, a number for each table",
        examples=[[[1, 1, 2], [1, 1, 2], [1, 1, 4]]],
    )
    deadline: Positive | None = Field(
        default=None,
        description="Seconds after which the fit is cut short, once everything is measured",
        examples=[3600],
    )
    where: Text | None = Field(default=None, description="Which rows count", examples=["day >= '2026-01-01'"])

    @property
    def publishes_exactly(self) -> bool:
        """Whether the file lists exact tables."""
        return bool(self.exact)

    def listed(self) -> list[list[str]]:
        """Return the tables, written out."""
        return [] if isinstance(self.tables, int) else self.tables

    def sql(self, table: str, bounds: dict[str, tuple[Fraction, Fraction]]) -> str:
        """Return levels as a rollup, tables as grouping sets, and the rest as options."""
        options = {"method": "hierarchy"}
        if self.exact:
            exact = {level: ", ".join(names) for level, names in self.exact.items()}
            options["exact"] = "; ".join(f"{level}: {names}" if names else level for level, names in exact.items())
        if self.rules:
            options["rules"] = "; ".join(self.rules)
        if self.areas:
            options["areas"] = self.areas
        if self.shares:
            options["shares"] = "; ".join(" ".join(map(decimal, row)) for row in self.shares)
        keys = {name: quoted(name) for name in self.levels} | (self.columns or {})
        sets = ", ".join(f"({', '.join(quoted(name) for name in one)})" for one in self.listed())
        by = f"ROLLUP ({', '.join(quoted(name) for name in self.levels)}), GROUPING SETS ({sets})"
        return grouped(table, keys, by, self.where, options)

    def request(
        self,
        table: str,
        bounds: dict[str, tuple[Fraction, Fraction]],
        level: Fraction,
        *,
        epsilon: Fraction | None,
        weight: Fraction,
        group: float | None = None,
    ) -> Request:
        """Return what the session is asked for, with the deadline."""
        asked = super().request(table, bounds, level, epsilon=epsilon, weight=weight, group=group)
        return asked if self.deadline is None else replace(asked, deadline=float(self.deadline))

    def wrong(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> Iterator[Wrong]:
        """Yield what is wrong about its fields together."""
        yield from super().wrong(bounds)
        columns = self.columns or {}
        if isinstance(self.tables, int):
            yield ("tables",), "the tables of a hierarchy are listed.", "Write [[], [sex]]; [] is the total."
            return
        if unknown := [name for one in self.tables for name in one if name not in columns]:
            yield ("tables",), f"{unknown[0]} is none of the columns.", "Add it to columns, or write another."
        if unused := [name for name in columns if not any(name in one for one in self.tables)]:
            yield ("columns",), f"no table is by {unused[0]}.", "Remove it, or add a table."
        if both := [name for name in self.levels if name in columns]:
            yield ("columns",), f"{both[0]} is a level already.", "Remove it here."
        for level, names in (self.exact or {}).items():
            if level != "*" and level not in self.levels:
                yield (
                    ("exact",),
                    f"{level} is no level.",
                    f"Write one of {', '.join(self.levels)}, or '*' for everybody.",
                )
            if wrong := [name for name in names if name not in columns]:
                yield ("exact",), f"{wrong[0]} is none of the columns.", "Write [] for the number of rows."
        if self.rules and any(";" in rule for rule in self.rules):
            yield ("rules",), "a rule has no semicolon.", "Write each rule as an entry of the list."
        rows = [len(row) for row in self.shares or []]
        if self.shares is not None and rows != [len(self.tables)] * (len(self.levels) + 1):
            fix = f"Write {len(self.levels) + 1} rows of {len(self.tables)} numbers."
            yield ("shares",), "shares have a row for everybody and for each level, and a number for each table.", fix
