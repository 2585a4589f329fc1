"""What every release of a file may say, whatever kind it is."""

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Literal

from pydantic import Field

from discreet.publishing.marked import Path
from discreet.publishing.spending import Amount, Spend
from discreet.publishing.written import Part, Positive, Probability, Text
from discreet.session import Request

__all__ = ["Entry", "Wrong"]

Wrong = tuple[Path, str, str]
"""Where something is wrong inside an entry, what, and what to write."""


class Entry(Part):
    """One release: its name under the name of its kind, what it costs, and how it is made."""

    kind: ClassVar[str]

    title: Text | None = Field(default=None, description="Heads this part of the report", examples=["Visits by city"])
    spend: Spend | None = Field(
        default=None, description="A part of what this file spends, or an epsilon of its own", examples=["40%"]
    )
    error: dict[str, Positive] | None = Field(
        default=None, description="Instead of spend: how far off columns may be", examples=[{"n": 60}]
    )
    level: Probability | None = Field(
        default=None, description="How often the stated errors hold; the file's level unless said", examples=[0.95]
    )
    group_size: Positive = Field(
        default=Fraction(1000),
        description="The size of group for which errors of means are told",
        examples=[1000],
        json_schema_extra={"default": 1000},
    )
    split: dict[str, Positive] | None = Field(
        default=None, description="Shares of the cost by column; equal unless said", examples=[{"n": 1, "spend": 3}]
    )
    noise: Literal["auto", "gaussian", "laplace"] = Field(
        default="auto", description="The noise of counts and sums", examples=["auto"]
    )
    keys: Literal["auto", "gaussian", "laplace", "optimal"] = Field(
        default="auto", description="How private groups are chosen", examples=["optimal"]
    )
    count_groups: bool = Field(
        default=False, description="Tell about how many private groups were left out", examples=[True]
    )

    @property
    def name(self) -> str:
        """The name of its files."""
        return str(getattr(self, self.kind))

    @property
    def file_names(self) -> tuple[str, ...]:
        """The names of its files, each of which has several endings."""
        return (self.name,)

    @property
    def publishes_exactly(self) -> bool:
        """Whether some of its numbers are published without noise, because the file says so."""
        return False

    @property
    def heading(self) -> str:
        """What stands above it in a report."""
        return self.title or self.name

    def group_of(self, group: float | None) -> float:
        """Return how many rows the groups have for which errors are told."""
        size = float(self.group_size)
        return size if group is None or "group_size" in self.model_fields_set else min(size, group)

    @abstractmethod
    def sql(self, table: str, bounds: dict[str, tuple[Fraction, Fraction]]) -> str:
        """Return its query; ``bounds`` are those declared for columns."""

    def wrong(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> Iterator[Wrong]:
        """Yield what is wrong about its fields together."""
        if self.spend is not None and self.error is not None:
            yield ("error",), "a release says spend or error: one follows from the other.", "Remove one of the two."
        if isinstance(self.spend, Amount) and self.spend.delta is not None:
            yield (
                ("spend",),
                "the delta is that of the whole file.",
                "Write it at the top: spend: {epsilon: 0.5, delta: 1e-7}.",
            )

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
        """Return what the session is asked for.

        ``group`` is how many rows a group has by what the file declares: errors are told and kept for groups that
        large, or for those of ``group_size`` rows if that is less or was written.
        """
        return Request(
            self.sql(table, bounds),
            epsilon=epsilon,
            error=None if self.error is None else {name: float(limit) for name, limit in self.error.items()},
            weight=weight,
            level=float(self.level or level),
            group_size=self.group_of(group),
            split=None if self.split is None else {name: float(part) for name, part in self.split.items()},
            noise=self.noise,
            keys=self.keys,
            count_groups=self.count_groups,
        )
