"""Forecast: what a release would cost and how accurate it would be, computed without data."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, UnknownKind
from discreet.session.cost import checked_level, checked_notes, promise
from discreet.session.digits import above, percent
from discreet.session.html_table import Cell, html_table
from discreet.session.text_table import shortened, text_table, visible
from discreet.session.values import read_object

__all__ = ["Expected", "Forecast"]

KIND = "forecast"
VERSION = 1
FIELDS = frozenset({"query", "columns", "keys", "threshold", "loss", "epsilon", "delta", "level", "remaining", "notes"})
WIDEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One column to come: what it measures, how far off it will be, by which mechanism, for which share of the cost.

    ``error`` is exceeded with probability ``1 - level`` at most, under what ``error_note`` assumes; None where nobody
    can say without data.

    >>> Expected(name="n", measures="count", error=6, mechanism="geometric noise, scale 2", share=1.0).error
    6.0
    """

    name: str
    measures: str
    error: float | None = None
    error_note: str = ""
    mechanism: str = ""
    share: float = 0.0

    def __post_init__(self) -> None:
        _texts(self, "name", "measures", "error_note", "mechanism")
        if self.error is not None:
            object.__setattr__(self, "error", _not_negative(self.error, "error"))
        object.__setattr__(self, "share", _not_negative(self.share, "share"))
        if self.share > 1 + 1e-9:
            raise InvalidParameter("share is the part of the loss that one column costs, at most 1.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Forecast:
    """What ``preview`` returns: the columns to come, which groups will be shown, and what all of it would cost.

    It is computed from the query, the schema and the budget alone, so asking for it costs nothing.

    >>> forecast = Forecast(
    ...     query="SELECT COUNT(*) AS n FROM visits",
    ...     columns=(Expected(name="n", measures="count", error=6, mechanism="geometric noise, scale 2", share=1.0),),
    ...     loss=PrivacyLoss.laplace(0.5),
    ...     epsilon=0.5,
    ...     level=0.95,
    ... )
    >>> forecast["n"].error
    6.0
    >>> forecast
    Forecast: no data was read and nothing was spent.
    SELECT COUNT(*) AS n FROM visits
    <BLANKLINE>
    column  measures  error  mechanism                 share
    ──────  ────────  ─────  ────────────────────────  ─────
    n       count     ± 6    geometric noise, scale 2   100%
    <BLANKLINE>
    Would cost epsilon 0.5. Each error holds in 19 of 20 releases.
    """

    query: str
    columns: tuple[Expected, ...]
    loss: PrivacyLoss
    epsilon: float
    delta: float = 0.0
    level: float
    keys: str = ""
    threshold: int | None = None
    remaining: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _texts(self, "query", "keys", "remaining")
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "notes", checked_notes(self.notes))
        if not isinstance(self.loss, PrivacyLoss):
            raise InvalidParameter(f"loss must be a PrivacyLoss, got {type(self.loss).__name__}.")
        if not all(isinstance(column, Expected) for column in self.columns):
            raise InvalidParameter("columns of a forecast are Expected.")
        if len({column.name for column in self.columns}) < len(self.columns):
            raise InvalidParameter("the columns of a forecast must have different names.")
        object.__setattr__(self, "epsilon", _not_negative(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", _not_negative(self.delta, "delta"))
        object.__setattr__(self, "level", checked_level(self.level))
        if self.threshold is not None and (type(self.threshold) is not int or self.threshold < 0):
            raise InvalidParameter("threshold is a whole number of people, or None where all groups are public.")

    def __getitem__(self, name: str) -> Expected:
        for column in self.columns:
            if column.name == name:
                return column
        raise InvalidParameter(
            f"there is no column {name!r}. The forecast has {', '.join(c.name for c in self.columns) or 'none'}."
        )

    def to_json(self) -> str:
        """Return the forecast as JSON, exact and readable by every later version."""
        plain = {name: getattr(self, name) for name in FIELDS - {"loss", "columns", "notes"}}
        record = {
            "kind": KIND,
            "version": VERSION,
            **dict(sorted(plain.items())),
            "columns": [asdict(column) for column in self.columns],
            "loss": json.loads(self.loss.to_json()),
            "notes": list(self.notes),
        }
        return json.dumps(record, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Forecast":
        """Read what ``to_json`` wrote; anything else is refused."""
        parts: dict[str, Any] = read_object(text, KIND, VERSION, FIELDS)
        loss = PrivacyLoss.from_json(json.dumps(parts["loss"]))
        if not isinstance(parts["columns"], list) or not isinstance(parts["notes"], list):
            raise UnknownKind("a serialised forecast has lists of columns and notes.")
        try:
            columns = [Expected(**column) for column in parts["columns"]]
            return cls(**{**parts, "columns": columns, "loss": loss})
        except (InvalidParameter, TypeError):
            raise UnknownKind("this serialised forecast does not hold what a forecast has.") from None

    def __repr__(self) -> str:
        heads = ["column", "measures", "error", "mechanism", "share"]
        rows = [
            [c.name, c.measures, f"{_error(c)} {c.error_note}".rstrip(), c.mechanism, percent(c.share)]
            for c in self.columns
        ]
        rows = [[shortened(visible(cell), WIDEST) for cell in row] for row in rows]
        query = "\n".join(visible(line) for line in self.query.splitlines())
        table = text_table([heads], rows, [False, False, False, False, True])
        return "\n".join([f"{SPENT}\n{query}\n", *table, "", *map(visible, self._lines())])

    def _repr_html_(self) -> str:
        heads = ["column", "measures", "expected error", "mechanism", "share of the cost"]
        styles = ["", "", "value", "quiet wrap", "right"]
        head = [Cell(name, "right" * (style == "right"), heads=True) for name, style in zip(heads, styles, strict=True)]
        rows = []
        for column in self.columns:
            texts = [column.name, column.measures, _error(column), column.mechanism, percent(column.share)]
            cells = [Cell(text, style) for text, style in zip(texts, styles, strict=True)]
            cells[0], cells[2] = Cell(column.name, heads=True), Cell(texts[2], "value", small=column.error_note)
            rows.append(cells)
        first, *rest = self._lines()
        return html_table(first, SPENT, head, rows, notes=rest, code=self.query)

    def _lines(self) -> list[str]:
        """Return what it would cost, which groups would be shown, what would be left, and the notes."""
        at = f" at delta {above(self.delta)}" if self.delta else ""
        held = f" Each error holds {promise(self.level)}." if any(c.error is not None for c in self.columns) else ""
        lines = [f"Would cost epsilon {above(self.epsilon)}{at}.{held}"]
        lines += [f"Keys are {self.keys}"] if self.keys else []
        return [*lines, *([f"Afterwards: {self.remaining}"] if self.remaining else []), *self.notes]


SPENT = "Forecast: no data was read and nothing was spent."


def _error(column: Expected) -> str:
    if column.error is None:
        return "not known without data"
    if not column.error:
        return "exact: public" if column.mechanism == "public" else "± 0: hardly any noise"
    return f"± {above(column.error, 3)}"


def _texts(record: object, *names: str) -> None:
    for name in names:
        if not isinstance(getattr(record, name), str):
            raise InvalidParameter(f"{name} is a text, got {type(getattr(record, name)).__name__}.")


def _not_negative(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InvalidParameter(f"{name} must be a finite number of at least 0.")
    return float(value)
