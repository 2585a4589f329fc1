"""A histogram: how many rows lie in each bin of a column."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Literal

from pydantic import Field

from discreet.publishing.entry import Entry, Wrong
from discreet.publishing.table import GroupBy
from discreet.publishing.text import decimal, grouped, quoted, select
from discreet.publishing.written import Finite, Name, Positive, Text

__all__ = ["Histogram"]

MOST_BINS = 10_000
ADAPTIVE, CDF = "adaptive", "cdf"


class Histogram(Entry):
    """Counts between the edges ``bins``, or in bins of a ``width`` from the lower bound of the column to the upper.

    With ``bins: adaptive`` bins are small where many rows are, also of two columns together; with ``sums: cdf`` rows
    are counted below each edge of a fine grid. Both are between the bounds of the columns.
    """

    kind: ClassVar[str] = "histogram"

    histogram: Name = Field(description="The name of its files", examples=["ages"])
    column: Text = Field(description="The column that is counted", examples=["age"])
    bins: list[Finite] | Literal["adaptive"] | None = Field(
        default=None,
        description="Edges, in ascending order, or adaptive: small bins where many rows are",
        examples=[[0, 18, 65, 120]],
    )
    second: Text | None = Field(
        default=None, description="With adaptive bins: another column, for bins of both", examples=["income"]
    )
    width: Positive | None = Field(default=None, description="Instead of bins: the width of each", examples=[10])
    sums: Literal["prefixes", "ranges", "cdf"] | None = Field(
        default=None,
        description="Which sums of bins shall be accurate besides; cdf: how many rows are below each edge of a grid",
        examples=["ranges"],
    )
    by: GroupBy | None = Field(default=None, description="A histogram for each group", examples=[["city"]])
    where: Text | None = Field(default=None, description="Which rows count", examples=["day >= '2026-01-01'"])

    def edges(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> list[Fraction]:
        """Return the edges of the bins."""
        if self.width is None:
            return list(self.bins) if isinstance(self.bins, list) else []
        low, high = bounds[self.column]
        count = -(-(high - low) // self.width)
        return [*(low + self.width * place for place in range(count)), high]

    def sql(self, table: str, bounds: dict[str, tuple[Fraction, Fraction]]) -> str:
        """Return a count for each bin."""
        if self.bins == ADAPTIVE or self.sums == CDF:
            columns = {name: quoted(name) for name in (self.column, self.second) if name is not None}
            options = {"method": "tree"} if self.bins == ADAPTIVE else {"sums": CDF}
            return grouped(table, columns, ", ".join(columns.values()), self.where, options)
        binned = f"BIN({quoted(self.column)}, {', '.join(map(decimal, self.edges(bounds)))})"
        keys = {**(self.by or {}), f"{self.column}_bin": binned}
        if self.sums is not None:
            return grouped(table, keys, ", ".join(keys.values()), self.where, {"sums": self.sums})
        return select(table, keys, {"n": "COUNT(*)"}, self.where)

    def wrong(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> Iterator[Wrong]:
        """Yield what is wrong about its fields together."""
        yield from super().wrong(bounds)
        if self.bins == ADAPTIVE or self.sums == CDF:
            yield from self._wrong_spread(bounds)
            return
        if self.second is not None:
            yield ("second",), "a second column is for adaptive bins.", "Write bins: adaptive, or remove it."
        if (self.bins is None) == (self.width is None):
            yield (), "a histogram has bins or a width.", "Write bins: [0, 18, 65, 120], or width: 10."
            return
        if isinstance(self.bins, list) and (len(self.bins) < 2 or any(a >= b for a, b in pairwise(self.bins))):
            yield ("bins",), "bins are at least two edges, each larger than the one before.", "Write [0, 18, 65, 120]."
        if self.width is not None and self.column not in bounds:
            fix = f"Write {self.column}: {{min: 0, max: 120}} under columns, with your own numbers, or bins here."
            yield ("width",), f"a width divides the bounds of a column, and {self.column} has none.", fix
        elif self.width is not None and (bounds[self.column][1] - bounds[self.column][0]) / self.width > MOST_BINS:
            yield ("width",), f"this makes more than {MOST_BINS:,} bins.", "Write a larger width."
        elif self.width is not None and bounds[self.column][0] == bounds[self.column][1]:
            yield ("width",), f"the bounds of {self.column} are equal.", "Write bins here, or wider bounds."

    def _wrong_spread(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> Iterator[Wrong]:
        """Yield what is wrong about adaptive bins, or about counts below edges."""
        said: dict[str, object] = {"width": self.width, "by": self.by}
        if self.bins == ADAPTIVE:
            said["sums"] = self.sums
        else:
            said |= {"bins": self.bins, "second": self.second}
        for name, value in said.items():
            if value is not None:
                chosen = "bins: adaptive" if self.bins == ADAPTIVE else "sums: cdf"
                yield (name,), f"{chosen} finds its own places and stands alone.", "Remove this."
        for place, column in {"column": self.column, "second": self.second}.items():
            if column is not None and column not in bounds:
                fix = f"Write {column}: {{min: 0, max: 120}} under columns, with your own numbers."
                yield (place,), f"a grid lies between the bounds of a column, and {column} has none.", fix
