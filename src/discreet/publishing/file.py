"""The curator's file ``release.yaml``: what is protected, what may be spent, and what is published."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from discreet.accounting import Budget
from discreet.accounting.budget import FilterName
from discreet.publishing.entry import Entry
from discreet.publishing.kinds import OfAKind
from discreet.publishing.spending import Amount
from discreet.publishing.written import (
    Delta,
    Filling,
    Finite,
    Identifier,
    Key,
    Part,
    Positive,
    Probability,
    Text,
    Whole,
)
from discreet.tables.kinds import LONGEST, Kind
from discreet.tables.schema import Column, Schema, keys_of
from discreet.units import Person, Relation, Row

__all__ = ["BudgetPart", "ColumnPart", "Dataset", "PersonUnit", "ReleaseFile", "RowUnit"]


class Dataset(Part):
    """The private table."""

    name: Identifier = Field(description="Its account in the ledger, and the table's name in SQL", examples=["visits"])
    source: Text = Field(
        description="Where it is, relative to this file: Parquet, CSV, JSON, a glob, or postgresql://...#schema.table",
        examples=["visits.parquet"],
    )
    size: Whole | None = Field(default=None, description="About how many people, declared and public", examples=[20000])
    version: Text = Field(
        default="1",
        description="The same query on the same version is answered from the ledger for free",
        examples=["2026-01"],
    )
    timeout: Positive | None = Field(
        default=None, description="Seconds after which a query is stopped; it stays charged", examples=[3600]
    )


class PersonUnit(Part):
    """All rows of a person are protected together."""

    person: Text = Field(description="The column that tells persons apart", examples=["user_id"])
    groups: Whole = Field(description="In how many groups of a table a person may count", examples=[3])
    rows: Whole = Field(description="How many rows of a person may count in each group", examples=[5])
    relation: Relation = Field(default="add_remove", description="What neighbours differ in", examples=["add_remove"])

    @property
    def person_column(self) -> str | None:
        """The column that tells persons apart, where there is one."""
        return self.person

    @property
    def unit(self) -> Person:
        """Who is protected."""
        return Person(self.person, groups=self.groups, rows=self.rows, relation=self.relation)


class RowUnit(Part):
    """Each row is protected by itself."""

    row: Relation = Field(description="What neighbours differ in", examples=["replace_one"])
    size: Whole | None = Field(default=None, description="The public number of rows", examples=[20000])

    @property
    def person_column(self) -> str | None:
        """The column that tells persons apart, where there is one."""
        return None

    @property
    def unit(self) -> Row:
        """What is protected."""
        return Row(relation=self.row, size=self.size)


def _unit(value: Any) -> str:  # noqa: ANN401  whatever the file holds
    if isinstance(value, dict):
        return "<rows>" if "row" in value and "person" not in value else "<person>"
    return "<word>"


Unit = Annotated[
    Annotated[Literal["row"], Tag("<word>")]
    | Annotated[PersonUnit, Tag("<person>")]
    | Annotated[RowUnit, Tag("<rows>")],
    Discriminator(_unit),
]


class ColumnPart(Part):
    """What is declared about a column, all of it public."""

    type: Kind | None = Field(default=None, description="What its values are", examples=["float"])
    min: Finite | None = Field(default=None, description="Smaller numbers are moved to this one", examples=[0])
    max: Finite | None = Field(default=None, description="Larger numbers are moved to this one", examples=[500])
    step: Positive | None = Field(default=None, description="How far apart possible numbers are", examples=[5])
    values: list[Key] | None = Field(
        default=None, min_length=1, description="The groups that there are, with or without rows", examples=[["Oslo"]]
    )
    nulls: Filling = Field(default="skip", description="What a missing value means; skip leaves it out", examples=[0])
    max_length: Whole | None = Field(
        default=None, le=LONGEST, description="Texts are cut after so many characters", examples=[200]
    )

    @property
    def column(self) -> Column:
        """The declaration as a session has it."""
        return Column(
            self.type,
            bounds=None if self.min is None or self.max is None else (self.min, self.max),
            step=self.step,
            values=None if self.values is None else keys_of(self.values),
            nulls=self.nulls,
            max_length=self.max_length,
        )


def _column(value: Any) -> str:  # noqa: ANN401  whatever the file holds
    return "<column>" if isinstance(value, dict) else "<kind>"


Declared = Annotated[Annotated[Kind, Tag("<kind>")] | Annotated[ColumnPart, Tag("<column>")], Discriminator(_column)]


class BudgetPart(Part):
    """What may ever be spent on the data set."""

    epsilon: Positive = Field(description="The most that may ever be spent", examples=[1])
    delta: Delta = Field(
        default=Fraction(0),
        description="Far below one over the number of people",
        examples=[1e-7],
        json_schema_extra={"default": 0},
    )
    filter: FilterName | None = Field(default=None, description="What is added up", examples=["zcdp"])

    @property
    def budget(self) -> Budget:
        """The budget as an account has it."""
        return Budget(self.epsilon, self.delta, filter=self.filter)


class ReleaseFile(Part):
    """Everything that a release needs, declared before anything is read or spent."""

    model_config = ConfigDict(title="release.yaml")

    title: Text = Field(description="Heads the report", examples=["Visits to clinics, 2026"])
    description: Text | None = Field(
        default=None, description="One paragraph for readers", examples=["Visits of registered users."]
    )
    dataset: Dataset = Field(description="The private table", examples=[{"name": "visits", "source": "visits.parquet"}])
    public: dict[str, Text] | None = Field(
        default=None, description="Public tables that may be joined", examples=[{"regions": "regions.csv"}]
    )
    unit: Unit = Field(
        description="Who is protected: a person with several rows, or each row",
        examples=[{"person": "user_id", "groups": 3, "rows": 5}],
    )
    columns: dict[str, Declared] | None = Field(
        default=None,
        description="What is declared about columns; never read from the data",
        examples=[{"amount": {"min": 0, "max": 500}}],
    )
    budget: BudgetPart = Field(
        description="What may ever be spent on this data set", examples=[{"epsilon": 1, "delta": 1e-7}]
    )
    spend: Amount | None = Field(
        default=None, description="What this file may spend of it; everything unless said", examples=[{"epsilon": 0.5}]
    )
    ledger: Text = Field(
        default="ledger.sqlite",
        description="Where spending is written down: a file beside this one, or postgresql+psycopg://...",
        examples=["ledger.sqlite"],
    )
    anchor: Text | None = Field(
        default=None, description="Where the head of the ledger is kept besides", examples=["ledger.anchor"]
    )
    level: Probability = Field(
        default=Fraction(19, 20),
        description="How often the stated errors hold",
        examples=[0.95],
        json_schema_extra={"default": 0.95},
    )
    releases: list[Annotated[Entry, OfAKind()]] = Field(
        min_length=1,
        description="What is published",
        examples=[[{"table": "by_city", "sql": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"}]],
    )

    @property
    def protected(self) -> Person | Row:
        """Who is protected."""
        return Row() if isinstance(self.unit, str) else self.unit.unit

    @property
    def declared(self) -> dict[str, Kind | ColumnPart]:
        """What is declared, by column."""
        return dict(self.columns or {})

    @property
    def tables(self) -> dict[str, str]:
        """Where the public tables are, by name."""
        return dict(self.public or {})

    @property
    def schema_of_table(self) -> Schema:
        """What is declared about the columns."""
        return Schema(
            {name: Column(one) if isinstance(one, str) else one.column for name, one in self.declared.items()}
        )

    @property
    def bounds(self) -> dict[str, tuple[Fraction, Fraction]]:
        """The declared bounds of columns."""
        return {
            name: (one.min, one.max)
            for name, one in self.declared.items()
            if isinstance(one, ColumnPart) and one.min is not None and one.max is not None
        }

    @property
    def total(self) -> Fraction:
        """The epsilon that this file may spend."""
        return self.budget.epsilon if self.spend is None else self.spend.epsilon

    @property
    def takes_all(self) -> bool:
        """Whether this file may use up the whole budget: it says so, or says nothing."""
        return self.total >= self.budget.epsilon

    @property
    def delta(self) -> Fraction:
        """The delta that goes with it: of the budget's, in proportion, unless said."""
        if self.spend is not None and self.spend.delta is not None:
            return self.spend.delta
        return self.budget.delta * min(Fraction(1), self.total / self.budget.epsilon)
