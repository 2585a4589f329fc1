"""Synthesis: a released model of a table. It answers counts by any columns and makes rows, at no further cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, UnknownKind
from discreet.session.answer import Answer
from discreet.session.cost import NOT_PRIVATE, cost
from discreet.session.digits import above
from discreet.session.estimates import Estimates
from discreet.session.html_table import Cell, html_table
from discreet.session.joint import half_width
from discreet.session.synthesis.counted import counted, singles_told
from discreet.session.synthesis.frames import Rows, write_rows
from discreet.session.synthesis.keyed import COUNT
from discreet.session.synthesis.rows import possible_codes, table_of
from discreet.session.synthesis.rules import Masks, masks_of, rules_of
from discreet.session.text_table import shortened, text_table, visible
from discreet.tables.kinds import Value
from discreet.tables.synthetic import Coding, Numbers, Synthetic

if TYPE_CHECKING:
    import os

__all__ = ["Synthesis"]

MOST_ENTRIES = 4_000_000
WIDEST = 48


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Synthesis:
    """A model that was released, what was charged for it, and rows that are made of it.

    ``marginal`` answers counts by any columns, with an interval where measured tables certify one. ``rows``,
    ``to_pandas``, ``to_arrow``, ``to_polars`` and ``write`` give synthetic rows: the same ones each time, unless a
    number of rows is said. ``steps`` says what was charged for what. Numbers in bins are drawn evenly between public
    edges (``numbers="uniform"``), or are the middle of their bin (``"middle"``).
    """

    table: str
    asked: Synthetic
    model: Any
    measured: tuple[Any, ...]
    gaussian: bool
    loss: PrivacyLoss
    method: str
    reason: str
    steps: tuple[tuple[str, float, float], ...]
    level: float
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    private: bool = True
    stored: bool = False
    numbers: Numbers = "uniform"
    _drawn: dict[str, Rows] = field(default_factory=dict)
    _codes: dict[str, Any] = field(default_factory=dict)

    # What it answers -----------------------------------------------------------------------------------------

    @property
    def codings(self) -> tuple[Coding, ...]:
        """How each column was cut."""
        return self.asked.codings

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.codings)

    @property
    def total(self) -> float:
        """How many rows the model stands for: a noisy number."""
        return float(self.model.total)

    def marginal(self, *columns: str, level: float | None = None) -> Answer:
        """Return the counts by some columns, as an answer: values of the model, intervals of what was measured.

        Each interval is for one count, and holds at ``level`` whatever the model is. Where no measured table tells the
        count there is none.
        """
        if not columns or len(set(columns)) < len(columns):
            raise InvalidParameter("name one column or more, each once: synthesis.marginal('age', 'sex').")
        if unknown := [name for name in columns if name not in self.columns]:
            raise InvalidParameter(f"there is no column {unknown[0]!r}. There are: {', '.join(self.columns)}.")
        places = tuple(sorted(self.columns.index(name) for name in columns))
        sizes = [self.codings[place].size for place in places]
        if float(np.prod([float(size) for size in sizes])) > MOST_ENTRIES:
            raise InvalidParameter(f"these columns have more than {MOST_ENTRIES:,} combinations. Name fewer.")
        held = self.level if level is None else level
        values, low, high, note = self._bounds(places, 1 - held)
        cells = np.indices(sizes).reshape(len(places), -1)
        keys = {
            self.columns[place]: tuple(self.codings[place].labels[code] for code in cells[axis].tolist())
            for axis, place in enumerate(places)
        }
        estimates = Estimates(
            value=tuple(values.reshape(-1).tolist()),
            low=(None,) * values.size if low is None else tuple(low.reshape(-1).tolist()),
            high=(None,) * values.size if high is None else tuple(high.reshape(-1).tolist()),
            method=str(self.parameters.get("told", "")),
        )
        name = "n" if "n" not in keys else "number_of_rows"
        return Answer(
            keys={column: keys[column] for column in columns},
            columns={name: estimates},
            level=held,
            loss=self.loss,
            parameters={"delta": self.parameters.get("delta")},
            notes=(f"Read from the model, at no cost: {note}.",),
            private=self.private,
            stored=self.stored,
        )

    def _bounds(self, places: tuple[int, ...], beta: float) -> tuple[Any, Any, Any, str]:
        """Return counts of the model, the ends of their intervals, and what these are."""
        values = np.asarray(self.model.marginal(places), dtype=np.float64)
        if self.gaussian:
            from discreet.synthetic.model_answers import ModelAnswers

            answer = ModelAnswers(self.model, self.measured).marginal(places, beta)
            return values, answer.low, answer.high, answer.note
        for one in self.measured:
            if set(places) <= set(one.attributes):
                gone = tuple(axis for axis, place in enumerate(one.attributes) if place not in places)
                told = one.counts.sum(axis=gone)
                off = half_width("laplace", beta) * one.sigma * (one.counts.size / told.size) ** 0.5 + 1
                return values, np.maximum(told - off, 0.0), told + off, "each entry lies in its interval"
        return values, None, None, "not measured: model bias unknown, so there is no interval"

    # Rows ----------------------------------------------------------------------------------------------------

    @property
    def impossible(self) -> Masks:
        """Combinations of codes that no row has."""
        return masks_of(self.asked, self.codings)

    def rows(self, n: int | None = None) -> Rows:
        """Return synthetic rows: as many as were asked for or as the model stands for, and the same each time.

        With ``n``, so many new ones.
        """
        if n is None and "rows" in self._drawn:
            return self._drawn["rows"]
        codes = possible_codes(self.model, self.impossible, self.asked.rows if n is None else n)
        values: dict[str, list[Value]] = table_of(codes, self.codings, rules_of(self.asked, self.codings), self.numbers)
        kinds = {one.name: one.kind for one in self.codings}
        made = Rows(values, kinds, {"discreet.loss": self.loss.to_json(), "discreet.method": self.method})
        if n is None:
            self._drawn["rows"], self._codes["rows"] = made, codes
        return made

    @property
    def codes(self) -> Any:  # noqa: ANN401  an array
        """The rows as codes, one column for each."""
        self.rows()
        return self._codes["rows"]

    def counted(self) -> Answer:
        """Return the rows as a released table: each once, with how many there are. Bins are told by their names."""
        count = next(name for name in COUNT if name not in self.columns)
        labels = {one.name: one.labels for one in self.codings}
        keys, columns = counted(self.codes, labels, count, str(self.parameters.get("told", "")))
        return Answer(
            keys=keys,
            columns=columns,
            level=self.level,
            loss=self.loss,
            parameters={
                **self.parameters,
                "together": "synthesis",
                "method": self.method,
                "reason": self.reason,
                "types": {one.name: one.kind for one in self.codings},
                "edges": {one.name: [float(edge) for edge in one.edges] for one in self.codings if one.edges},
                "labels": {one.name: list(one.labels) for one in self.codings},
                "rules": list(self.asked.rules),
                "measured": singles_told(self.columns, self.measured),
            },
            notes=self.notes,
            private=self.private,
            stored=self.stored,
        )

    def to_arrow(self, n: int | None = None) -> Any:  # noqa: ANN401  pyarrow is optional
        """Return synthetic rows as a pyarrow table, with the types of the original columns."""
        return self.rows(n).to_arrow()

    def to_pandas(self, n: int | None = None) -> Any:  # noqa: ANN401  pandas is optional
        """Return synthetic rows as a pandas frame."""
        return self.rows(n).to_pandas()

    def to_polars(self, n: int | None = None) -> Any:  # noqa: ANN401  polars is optional
        """Return synthetic rows as a Polars frame."""
        return self.rows(n).to_polars()

    def write(self, path: "str | os.PathLike[str]", n: int | None = None) -> None:
        """Write synthetic rows to a Parquet or CSV file, which is either complete or not there."""
        write_rows(self.rows(n), path)

    # In writing ----------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return everything that was released as JSON, exact and readable by every later version."""
        from discreet.session.synthesis.record import write_synthesis

        return write_synthesis(self)

    @classmethod
    def from_json(cls, text: str) -> "Synthesis":
        """Read what ``to_json`` wrote; anything else is refused."""
        from discreet.session.synthesis.record import read_synthesis

        try:
            return cls(**read_synthesis(text))
        except InvalidParameter as error:
            raise UnknownKind(f"this serialised synthesis does not hold a model: {error}") from None

    def marked_stored(self) -> "Synthesis":
        """Return the same, marked as something that a ledger returned."""
        return replace(self, stored=True)

    # How it looks --------------------------------------------------------------------------------------------

    def _lines(self) -> list[str]:
        held = cost(self.loss, self.parameters.get("delta"))
        return [f"Cost {held}.", f"Method {self.method}: {self.reason}.", *self.notes]

    @property
    def _heads(self) -> list[str]:
        return ["column", "type", "cut into", "from"]

    @property
    def _table(self) -> list[list[str]]:
        return [
            [
                shortened(visible(one.name), WIDEST),
                one.kind,
                one.told,
                "the schema" if one.source == "declared" else one.source,
            ]
            for one in self.codings
        ]

    def __repr__(self) -> str:
        columns = text_table([self._heads], self._table, [False] * 4)
        steps = text_table(
            [["charged for", "epsilon", "delta"]],
            [
                [shortened(visible(what), 64), above(epsilon), above(delta) if delta else "0"]
                for what, epsilon, delta in self.steps
            ],
            [False, True, True],
        )
        first = f"Synthesis of {visible(self.table)}: {len(self.codings)} columns, about {self.total:,.0f} rows."
        lines = [first, "", *columns, "", *steps, "", *map(visible, self._lines())]
        return "\n".join([] if self.private else [NOT_PRIVATE, ""]) + "\n".join(lines)

    def _repr_html_(self) -> str:
        head = [Cell(name, heads=True) for name in self._heads]
        rows = [[Cell(row[0], heads=True), *(Cell(text) for text in row[1:])] for row in self._table]
        steps = [
            f"{what}: epsilon {above(epsilon)}" + (f" at delta {above(delta)}" if delta else "")
            for what, epsilon, delta in self.steps
        ]
        title = f"Synthesis of {self.table}: about {self.total:,.0f} rows"
        notes = [*([] if self.private else [NOT_PRIVATE]), *steps, *self.notes]
        return html_table(title, " ".join(self._lines()[:2]), head, rows, notes=notes)
