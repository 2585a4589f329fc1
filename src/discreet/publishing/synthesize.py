"""A synthetic copy of the table: rows that nobody stands behind, made of noisy counts."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from discreet.errors import InvalidParameter
from discreet.publishing.entry import Entry, Wrong
from discreet.publishing.text import decimal
from discreet.publishing.workload import Groupings
from discreet.publishing.written import Key, Name, Part, Positive, Text, Whole, refuse
from discreet.session import Request
from discreet.tables.query import Query
from discreet.tables.synthetic import Cut, Determined, Synthetic, cut_of

__all__ = ["Cuts", "Follows", "Synthesize"]

RECORDS = "_records"
HOW = "Write {age: {bins: 10}, income: {edges: [0, 10, 100]}, sex: {values: [f, m]}, city: {}}, or a list of names."


def _cuts(value: object) -> dict[str, Cut]:
    if isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        return {name: Cut() for name in value}
    if not isinstance(value, dict) or not value or not all(isinstance(name, str) for name in value):
        refuse("columns are named, or each says how it is cut.", HOW)
    return {name: _cut(name, how) for name, how in value.items()}


def _cut(name: str, how: object) -> Cut:
    try:
        cut = cut_of(name, _plain(how) or None)
    except InvalidParameter as error:
        refuse(str(error), HOW)
    if cut.quantiles is not None or cut.categories is not None:
        refuse(
            f"{name}: a file declares values and bins, and nothing is found privately here.",
            "Write its values, or bins between bounds; or release a table of it first.",
        )
    return cut


def _plain(how: Any) -> Any:  # noqa: ANN401  whatever the file holds
    """Return what was written with plain whole numbers: the file's are exact decimals."""
    if isinstance(how, Mapping):
        return {str(word): _plain(one) for word, one in how.items()}
    if isinstance(how, list):
        return [_plain(one) for one in how]
    if isinstance(how, bool | str) or how is None or not hasattr(how, "as_integer_ratio"):
        return how
    exact = Fraction(*how.as_integer_ratio())
    return int(exact) if exact.denominator == 1 else exact


CUT = {
    "anyOf": [
        {"type": "null"},
        {"type": "integer", "minimum": 1},
        {"type": "array", "items": {"type": "number"}},
        {
            "type": "object",
            "properties": {
                "bins": {"type": "integer", "minimum": 1},
                "edges": {"type": "array", "items": {"type": "number"}},
                "values": {"type": "array"},
                "nulls": {"type": "boolean"},
            },
            "additionalProperties": False,
        },
    ]
}
Cuts = Annotated[
    dict[str, Cut],
    PlainValidator(_cuts),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "minItems": 1, "items": {"type": "string"}},
                {"type": "object", "minProperties": 1, "additionalProperties": CUT},
            ]
        }
    ),
]
"""Columns, and how each is cut into few values."""


class Follows(Part):
    """A column that follows from another by a public list."""

    by: Text = Field(description="The column that it follows from", examples=["city"])
    values: dict[str, Key] = Field(description="What follows from which value", examples=[{"Oslo": "N", "Ulm": "D"}])


class Synthesize(Entry):
    """Synthetic rows by ``columns``; without these, by all columns with declared values or bounds."""

    kind: ClassVar[str] = "synthesize"

    synthesize: Name = Field(description="The name of its files", examples=["people_copy"])
    columns: Cuts | None = Field(
        default=None,
        description="The columns of the copy, and how each is cut; all that are declared unless said",
        examples=[{"age": {"bins": 10}, "sex": {}}],
    )
    method: Literal["auto", "table", "independent", "tree", "adaptive", "bayes"] = Field(
        default="auto", description="The synthesizer; chosen from public facts unless said", examples=["tree"]
    )
    rows: Whole | None = Field(
        default=None, description="How many rows; as many as there are, with noise, unless said", examples=[10000]
    )
    groupings: Groupings | None = Field(
        default=None, description="Sets of columns that shall be most accurate", examples=[[["age", "sex"]]]
    )
    rules: list[Text] | None = Field(
        default=None,
        description="Conditions that hold for every row; what breaks them is impossible",
        examples=[["role <> 'spouse' OR age >= 15"]],
    )
    follows: dict[str, Follows] | None = Field(
        default=None,
        description="Columns that follow from another by a public list",
        examples=[{"state": {"by": "city", "values": {"Oslo": "N", "Ulm": "D"}}}],
    )
    deadline: Positive | None = Field(
        default=None,
        description="Seconds after which the fit is cut short, once everything is measured",
        examples=[3600],
    )
    where: Text | None = Field(default=None, description="Which rows count", examples=["day >= '2026-01-01'"])

    @property
    def file_names(self) -> tuple[str, ...]:
        """The names of its files: the table of different rows, and the rows themselves."""
        return self.name, f"{self.name}{RECORDS}"

    @property
    def asked(self) -> Synthetic:
        """What the session is asked for."""
        sets = self.groupings if isinstance(self.groupings, list) else None
        return Synthetic(
            columns=None if self.columns is None else tuple(self.columns.items()),
            method=self.method,
            workload=None if sets is None else tuple(tuple(one) for one in sets),
            rules=tuple(self.rules or ()),
            determined=tuple(
                Determined(column, one.by, tuple(one.values.items())) for column, one in (self.follows or {}).items()
            ),
            where=self.where,
            rows=self.rows,
        )

    def sql(self, table: str, bounds: dict[str, tuple[Fraction, Fraction]]) -> str:
        """Return what is asked in words that resemble SQL: there are none in SQL for it."""
        columns = (
            "*" if self.columns is None else ", ".join(f"{name}{_told(cut)}" for name, cut in self.columns.items())
        )
        parts = [f"SYNTHESIZE {columns} FROM {table}"]
        parts += [f"WHERE ({self.where})"] if self.where else []
        parts += [f"CHECK ({rule})" for rule in self.rules or ()]
        parts += [f"WITH {column} FOLLOWING {one.by}" for column, one in (self.follows or {}).items()]
        parts += [f"FOR {self.groupings}"] if self.groupings else []
        parts += [f"METHOD {self.method}"]
        return " ".join([*parts, *([f"ROWS {self.rows}"] if self.rows else [])])

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
        """Return what the session is asked for."""
        return Request(
            Query(table, together=self.asked, text=self.sql(table, bounds)),
            epsilon=epsilon,
            weight=weight,
            level=float(self.level or level),
            group_size=self.group_of(group),
            noise=self.noise,
            deadline=None if self.deadline is None else float(self.deadline),
        )

    def wrong(self, bounds: dict[str, tuple[Fraction, Fraction]]) -> Iterator[Wrong]:
        """Yield what is wrong about its fields together."""
        yield from super().wrong(bounds)
        if self.error is not None:
            yield ("error",), "no error can be promised for single synthetic rows.", "Write spend: 40% instead."
        if isinstance(self.groupings, int):
            yield ("groupings",), "the groupings of a synthetic copy are listed.", "Write [[age, sex], [sex, city]]."
            return
        named = self.columns
        known = [name for one in self.groupings or () for name in one] + list(self.follows or {})
        if named is not None and (unknown := [name for name in known if name not in named]):
            place = "groupings" if any(unknown[0] in one for one in self.groupings or ()) else "follows"
            yield (place,), f"{unknown[0]} is none of the columns.", "Add it to columns, or write another."


def _told(cut: Cut) -> str:
    missing = "" if cut.nulls else " NOT NULL"
    if cut.bins is not None:
        return f" IN {cut.bins} BINS{missing}"
    if cut.edges is not None:
        return f" BETWEEN {', '.join(map(decimal, cut.edges))}{missing}"
    return f" IN ({', '.join(map(repr, cut.values))}){missing}" if cut.values is not None else missing
