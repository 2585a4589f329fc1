"""Answer: a released table, and everything one needs to read it."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, UnknownKind
from discreet.session import frames
from discreet.session.answer_faces import answer_html, answer_text
from discreet.session.answer_record import read_answer, write_answer
from discreet.session.cost import checked_level, checked_notes
from discreet.session.estimates import Estimates, column_names
from discreet.session.order import sorted_rows
from discreet.session.picture import bars
from discreet.session.values import Key, Number, key, parameter

__all__ = ["Answer"]

Row = dict[str, Key | Number]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Answer:
    """A released table: group columns, estimates with intervals, the loss it was charged, how it was made.

    It holds what was released and nothing else, so whatever is done with it costs nothing more: ``where``, ``sort`` and
    ``head`` return answers of the same loss. Each interval holds by itself at ``level``; among rows that were picked
    because their released value is large, more than ``1 - level`` may miss. ``stored`` marks what a ledger returned: it
    was released and charged before, and cost nothing now.

    >>> answer = Answer(
    ...     keys={"city": ("Oslo", "Bergen")},
    ...     columns={"n": Estimates(value=(1234, 310), low=(1228, 304), high=(1240, 316))},
    ...     level=0.95,
    ...     loss=PrivacyLoss.laplace(0.5),
    ... )
    >>> answer
    city          n
    ──────  ─────────
    Oslo    1,234 ± 6
    Bergen    310 ± 6
    <BLANKLINE>
    2 rows. Costs epsilon 0.5. Each 95% interval covers the noise in 19 of 20 releases.
    >>> answer.row(city="Bergen")
    {'city': 'Bergen', 'n': 310, 'n_low': 304, 'n_high': 316}
    >>> answer.sort("n").head(1)["n"].tolist()
    [310]
    """

    keys: dict[str, tuple[Key, ...]]
    columns: dict[str, Estimates]
    level: float
    loss: PrivacyLoss
    parameters: dict[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    private: bool = True
    stored: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.loss, PrivacyLoss):
            raise InvalidParameter(f"loss must be a PrivacyLoss, got {type(self.loss).__name__}.")
        for name in ("private", "stored"):
            if type(getattr(self, name)) is not bool:
                raise InvalidParameter(f"{name} must be True or False, got {type(getattr(self, name)).__name__}.")
        column_names(self.keys, self.columns)
        for name, estimates in self.columns.items():
            if not isinstance(estimates, Estimates):
                raise InvalidParameter(f"column {name!r} must be Estimates, got {type(estimates).__name__}.")
        object.__setattr__(self, "level", checked_level(self.level))
        object.__setattr__(self, "keys", {name: tuple(map(key, values)) for name, values in self.keys.items()})
        object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "parameters", parameter(self.parameters))
        object.__setattr__(self, "notes", checked_notes(self.notes))
        lengths = sorted({*map(len, self.keys.values()), *map(len, self.columns.values())})
        if len(lengths) > 1:
            raise InvalidParameter(f"all columns must have the same length, got {', '.join(map(str, lengths))}.")
        if not self.keys and len(self) > 1:
            raise InvalidParameter(f"a table without group columns has one row, got {len(self)}.")

    # What it holds -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return max((*map(len, self.keys.values()), *map(len, self.columns.values())), default=0)

    def __iter__(self) -> Iterator[Row]:
        columns = {name: self.column(name) for name in self.names}
        for i in range(len(self)):
            yield {name: values[i] for name, values in columns.items()}

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a column as an array; for an estimate also its ends, ``answer["n_low"]``."""
        return frames.numpy_column(self.column(name))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns in order: keys, then each estimate with its low and high end."""
        return column_names(self.keys, self.columns)

    @property
    def empty(self) -> str:
        """How an empty key is shown: where several groupings are answered together it stands for all values."""
        return "(all)" if self.parameters.get("together") in ("margins", "hierarchy") else "(none)"

    @property
    def rows(self) -> list[Row]:
        """All rows, each a dict by the names of columns."""
        return list(self)

    def column(self, name: str) -> tuple[Key | Number, ...]:
        """Return a column as plain Python values, None where there is none."""
        if name in self.keys:
            return self.keys[name]
        for estimate, parts in self.columns.items():
            ends = {estimate: parts.value, f"{estimate}_low": parts.low, f"{estimate}_high": parts.high}
            if name in ends:
                return ends[name]
        raise InvalidParameter(f"there is no column {name!r}. The table has {', '.join(self.names)}.")

    def row(self, **keys: Key) -> Row:
        """Return the one row with these keys; a group that was not released is refused like one that never was."""
        wanted = {name: _told_apart(key(value)) for name, value in keys.items()}
        for name in wanted:
            if name not in self.keys:
                raise InvalidParameter(f"{name!r} is no group column. The table has {', '.join(self.keys) or 'none'}.")
        found = [
            i
            for i in range(len(self))
            if all(_told_apart(self.keys[name][i]) == value for name, value in wanted.items())
        ]
        if len(found) != 1:
            raise InvalidParameter(
                f"these keys must name one released row, and name {len(found)}. Group columns are "
                f"{', '.join(self.keys) or 'none'}."
            )
        return self._take(found).rows[0]

    # What one may do with it ---------------------------------------------------------------------------------

    def where(self, predicate: Callable[[Row], object]) -> "Answer":
        """Return the rows for which a function of the row is true: ``answer.where(lambda row: row["n"] > 100)``."""
        return self._take(i for i, row in enumerate(self) if predicate(row))

    def sort(self, by: str | Sequence[str], *, descending: bool = False) -> "Answer":
        """Return the rows in order of a column, or of several; None comes last, and rows that tie keep their order."""
        names = [by] if isinstance(by, str) else list(by)
        if not names:
            raise InvalidParameter(f"sort needs a column. The table has {', '.join(self.names)}.")
        return self._take(sorted_rows([self.column(name) for name in names], descending=descending))

    def head(self, n: int = 5) -> "Answer":
        """Return the first rows."""
        if type(n) is not int or n < 0:
            raise InvalidParameter(f"head takes a whole number of rows, got {n!r}.")
        return self._take(range(min(n, len(self))))

    def _take(self, rows: Iterable[int]) -> "Answer":
        chosen = list(rows)
        return replace(
            self,
            keys={name: tuple(values[i] for i in chosen) for name, values in self.keys.items()},
            columns={name: estimates.take(chosen) for name, estimates in self.columns.items()},
        )

    def microdata(self, column: str | None = None) -> dict[str, list[Key]]:
        """Return one row for each unit that a column counts, with the keys alone: rows that name all keys, so often.

        For whole counts none of which is negative, as a hierarchy has them. Rows with an empty key, which stand for
        sums of others, are left out.

        >>> Answer(
        ...     keys={"city": ("Oslo", "Bergen")},
        ...     columns={"n": Estimates(value=(2, 1), low=(0, 0), high=(4, 3))},
        ...     level=0.95,
        ...     loss=PrivacyLoss.laplace(0.5),
        ... ).microdata()
        {'city': ['Oslo', 'Oslo', 'Bergen']}
        """
        name = column or next(iter(self.columns), "")
        counts = self.columns[name].value if name in self.columns else ()
        if not self.keys or not counts or not all(type(count) is int and count >= 0 for count in counts):
            raise InvalidParameter(
                "microdata is made of whole counts of groups, none below 0: release a hierarchy, or round them first."
            )
        full = [i for i in range(len(self)) if all(values[i] is not None for values in self.keys.values())]
        return {
            key_name: [values[i] for i in full for _ in range(int(counts[i] or 0))]
            for key_name, values in self.keys.items()
        }

    # Where it may go -----------------------------------------------------------------------------------------

    def to_arrow(self) -> Any:  # noqa: ANN401
        """Return a pyarrow table; the metadata of its schema carries the loss and the parameters."""
        return frames.arrow_table(self)

    def to_pandas(self) -> Any:  # noqa: ANN401
        """Return a pandas frame; its ``attrs`` carry the loss and the parameters."""
        return frames.pandas_frame(self)

    def to_polars(self) -> Any:  # noqa: ANN401
        """Return a Polars frame."""
        return frames.polars_frame(self)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a file that is either complete or not there."""
        frames.write_csv(self, path)

    def to_json(self) -> str:
        """Return the answer as JSON, exact and readable by every later version."""
        return write_answer(self)

    @classmethod
    def from_json(cls, text: str) -> "Answer":
        """Read what ``to_json`` wrote; anything else is refused."""
        parts = read_answer(text)
        try:
            return cls(**parts)
        except InvalidParameter as error:
            raise UnknownKind(f"this serialised answer does not hold a table: {error}") from None

    # How it looks --------------------------------------------------------------------------------------------

    def plot(self, column: str | None = None) -> Any:  # noqa: ANN401  an altair chart
        """Draw a column of numbers, by default the first, as bars with their intervals: at most 40 rows."""
        return bars(self, column)

    def __repr__(self) -> str:
        return answer_text(self)

    def _repr_html_(self) -> str:
        return answer_html(self)


def _told_apart(value: Key) -> tuple[type, Key]:
    """Return a key with its type: True is no 1."""
    return type(value), value
