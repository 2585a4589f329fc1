"""Quantiles: values with a given share of the rows below them, for everybody or by group."""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from pydantic import Field

from discreet.publishing.entry import Entry, Wrong
from discreet.publishing.table import GroupBy
from discreet.publishing.text import decimal, quoted, select
from discreet.publishing.written import Name, Probability, Text
from discreet.tables.aggregates import QuantileMethod

__all__ = ["Quantiles"]


class Quantiles(Entry):
    """Quantiles of a ``column`` at some shares, perhaps ``by`` group."""

    kind: ClassVar[str] = "quantiles"

    quantiles: Name = Field(description="The name of its files", examples=["amounts"])
    column: Text = Field(description="The column whose quantiles are asked for", examples=["amount"])
    at: list[Probability] = Field(min_length=1, description="Shares between 0 and 1", examples=[[0.25, 0.5, 0.75]])
    by: GroupBy | None = Field(default=None, description="Quantiles for each group", examples=[["city"]])
    where: Text | None = Field(default=None, description="Which rows count", examples=["day >= '2026-01-01'"])
    method: QuantileMethod | None = Field(default=None, description="By which mechanism", examples=["smooth"])

    def sql(self, table: str, bounds: dict[str, tuple[Fraction, Fraction]]) -> str:
        """Return all of them in one column of the query, so that one tree may serve them all."""
        shares = ", ".join(map(decimal, self.at))
        name = quoted(self.column)
        by = "" if self.method is None else f", '{self.method}'"
        made = f"QUANTILE_CONT({name}, {f'[{shares}]' if len(self.at) > 1 else shares}{by})"
        return select(table, self.by or {}, {self.column: made}, self.where)

    def wrong(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> Iterator[Wrong]:
        """Yield what is wrong about its fields together."""
        yield from super().wrong(bounds)
        if len(set(self.at)) < len(self.at):
            yield ("at",), "each share is asked for once.", "Remove the one that stands there twice."
