"""A table as codes: which cells are equal, and nothing of what stands in them.

A file is read once, as a stream, and locally; each cell becomes the number of its value in the order of appearance.
What is kept of the values themselves is whether a column holds numbers, dates or words, and the order of numbers.
"""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.auditing.attacks.csv_file import Opened, open_csv
from discreet.errors import InvalidInput

__all__ = ["Column", "Progress", "Table", "quiet", "table_of"]

CHUNK = 20_000
NUMBER = re.compile(r"\s*[-+]?\d[\d ,'_]*([.,]\d+)?(e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)
DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T].*)?\s*")
LOOK = 200
"""How many different values are looked at to tell what a column holds."""

Progress = Callable[[str, float], object]
"""Called with a few words and the share of the work that is done."""

Codes = NDArray[np.int32]


def quiet(words: str, share: float, /) -> None:
    """Tell nobody about the progress."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: equal codes for equal cells, ``values`` different ones; ``ranks`` orders them if they are numbers."""

    name: str
    codes: Codes
    values: int
    kind: str
    ranks: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of one length, and what was noticed while reading them."""

    columns: tuple[Column, ...]
    rows: int
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> Column:
        """Return the column of a name."""
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.columns[:30])
        raise InvalidInput(f"there is no column {name!r}. The columns are: {known}.")


def table_of(source: object, *, header: bool | None = None, progress: Progress = quiet) -> Table:
    """Read a table from a CSV file, from a mapping of columns, or from rows that are mappings.

    >>> table_of({"age": [31, 31, 40], "sex": ["f", "f", "m"]}).column("age").codes.tolist()
    [0, 0, 1]
    >>> table_of([{"age": 31}, {"age": None}]).rows
    2
    """
    if isinstance(source, str | Path):
        return _from_file(Path(source), header, progress)
    if isinstance(source, Mapping):
        columns = [(str(name), _cells(column)) for name, column in source.items()]
        lengths = {len(cells) for _, cells in columns}
        if len(lengths) != 1 or lengths == {0}:
            raise InvalidInput("a table needs columns of one length, with at least one row.")
        coders = [_Coder() for _ in columns]
        codes = [coder.encode(cells) for coder, (_, cells) in zip(coders, columns, strict=True)]
        return _finish(list(zip([name for name, _ in columns], coders, codes, strict=True)), lengths.pop(), ())
    if isinstance(source, Iterable):
        rows = list(source)
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            raise InvalidInput("rows must be mappings from column name to cell, and at least one of them.")
        names = dict.fromkeys(name for row in rows for name in row)
        return table_of({name: [row.get(name) for row in rows] for name in names}, progress=progress)
    raise InvalidInput(
        f"a table is a path to a CSV file, a mapping from name to column, or rows, got {type(source).__name__}."
    )


class _Coder(dict[str, int]):
    """Numbers values in the order in which they appear."""

    def __missing__(self, value: str) -> int:
        code = self[value] = len(self)
        return code

    def encode(self, cells: Sequence[str]) -> Codes:
        return np.fromiter(map(self.__getitem__, cells), dtype=np.int32, count=len(cells))


def _cells(column: Any) -> list[str]:  # noqa: ANN401  any sequence of cells
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return ["" if value is None or value != value else str(value) for value in values]


def _from_file(path: Path, header: bool | None, progress: Progress) -> Table:
    try:
        return _read(open_csv(path), header, progress)
    except UnicodeDecodeError:
        note = "The file is not UTF-8; it was read as Latin-1, which changes no count."
        return _read(open_csv(path, encoding="latin-1"), header, progress, note)
    except csv.Error as error:
        raise InvalidInput(f"{path.name} is no CSV file that can be read ({error}). Save it as CSV again.") from None
    except MemoryError:
        raise InvalidInput(f"{path.name} does not fit into memory. Cut it to the columns in question first.") from None


def _read(opened: Opened, header: bool | None, progress: Progress, *notes: str) -> Table:
    with opened:
        rows = opened.rows()
        first = next((row for row in rows if row), None)
        if first is None:
            raise InvalidInput(f"{opened.name} is empty. A table needs a line of column names and at least one row.")
        width = len(first)
        coders: list[_Coder] = [_Coder() for _ in first]
        parts: list[list[Codes]] = [[] for _ in first]
        total = ragged = 0
        looks_like_data = any(NUMBER.fullmatch(cell) or DATE.fullmatch(cell) or "@" in cell for cell in first)
        chunk = [first] if header is False or (header is None and looks_like_data) else []
        headless = bool(chunk)
        for row in rows:
            if len(row) != width:
                if not row:
                    continue
                ragged += 1
                row = (row + [""] * width)[:width]  # noqa: PLW2901
            chunk.append(row)
            if len(chunk) == CHUNK:
                total += _encode(chunk, coders, parts)
                progress("reading", opened.share())
                chunk = []
        total += _encode(chunk, coders, parts)
    again = any(name.strip() and name in coder for name, coder in zip(first, coders, strict=True))
    if header is None and not headless and again:
        headless = True
        total += _encode([first], coders, parts)
    if not total:
        raise InvalidInput(f"{opened.name} holds column names but no row. There is nothing to measure.")
    words = list(notes)
    if ragged:
        words.append(f"{ragged:,} rows have another number of cells than the first line; they were filled up or cut.")
    if headless and header is None:
        words.append("The first line looks like data, so columns are called by their place. Say --header if it is not.")
    names = [f"column {place + 1}" for place in range(width)] if headless else _names(first, words)
    codes = [np.concatenate(pieces) for pieces in parts]
    return _finish(list(zip(names, coders, codes, strict=True)), total, words)


def _encode(chunk: list[list[str]], coders: list[_Coder], parts: list[list[Codes]]) -> int:
    if chunk:
        for coder, pieces, cells in zip(coders, parts, zip(*chunk, strict=True), strict=True):
            pieces.append(coder.encode(cells))
    return len(chunk)


def _names(first: list[str], notes: list[str]) -> list[str]:
    """Return names that can be printed and told apart."""
    names: list[str] = []
    for place, cell in enumerate(first, start=1):
        clean = " ".join("".join(c if c.isprintable() else " " for c in cell).split())[:40] or f"column {place}"
        names.append(clean if clean not in names else f"{clean} ({place})")
    if len(set(map(str.strip, first))) < len(first):
        notes.append("Some columns have the same name; the later ones carry their place behind it.")
    return names


def _finish(parts: list[tuple[str, _Coder, Codes]], rows: int, notes: Sequence[str]) -> Table:
    columns = []
    for name, coder, codes in parts:
        kind = _kind(coder)
        columns.append(Column(name, codes, len(coder), kind, _ranks(coder) if kind == "number" else None))
    return Table(tuple(columns), rows, tuple(notes))


def _kind(coder: _Coder) -> str:
    """Tell whether a column holds numbers, dates or words, from its first different values."""
    some = [value for value, _ in zip(coder, range(LOOK), strict=False) if value.strip()]
    if some and all(DATE.fullmatch(value) for value in some):
        return "date"
    return "number" if some and all(NUMBER.fullmatch(value) for value in some) else "words"


def _ranks(coder: _Coder) -> NDArray[np.int64] | None:
    """Return the place of each code in the order of the numbers, equal numbers apart; None if one is no number."""
    try:
        numbers = [float(value) if value.strip() else -np.inf for value in coder]
    except ValueError:
        return None
    ranks = np.empty(len(numbers), dtype=np.int64)
    ranks[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    return ranks
