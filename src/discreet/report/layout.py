"""A released table as cells: values with what stands beside them, cut into parts that fit on paper."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.session.answer import Answer
from discreet.session.digits import aligned, shown
from discreet.session.picture import said
from discreet.session.text_table import columns_of, shortened, visible

__all__ = ["Block", "Cell", "Head", "Layout", "Part"]

ROWS = 200
"""Rows of a table that a page shows; the files have all."""

LETTERS = 82
"""Characters that stand side by side on paper; wider tables are cut into parts."""

UNBROKEN = 16
KEY = 30
LONGEST = 200
"""Characters of a key that stay in one line, that count for the width of a table, and that are shown."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column, over so many cells."""

    text: str
    note: str = ""
    span: int = 1
    style: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, and what it is: a key, a value, the spread beside it, or a true value."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """Columns that fit beside each other, with the keys before them; ``widths`` are percentages of the page."""

    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    widths: tuple[float, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Block:
    """The cells of one column of a released table, side by side below common heads."""

    heads: list[Head]
    columns: list[list[Cell]]

    @property
    def widths(self) -> list[float]:
        """About how many characters wide each column of cells is, with the space beside it."""
        widths = [max((columns_of(cell.text) for cell in cells), default=0) + 1.0 for cells in self.columns]
        words = [word for head in self.heads for word in head.text.replace("_", " ").split()]
        widths[-1] = max(widths[-1], max(map(columns_of, words), default=0) + 1 - sum(widths[:-1])) + 2
        return widths

    @property
    def width(self) -> float:
        """About how many characters wide all of it is."""
        return sum(self.widths)


class Layout:
    """The cells of a table. ``drawn`` are the columns of the picture above it, below whose panels they shall stand.

    ``exact`` holds rows with true values, for invented data alone.

    >>> from discreet.accounting import PrivacyLoss
    >>> from discreet.session.estimates import Estimates
    >>> n = Estimates(value=(1234, 310), low=(1228, 304), high=(1240, 316))
    >>> loss = PrivacyLoss.laplace(0.5)
    >>> layout = Layout(Answer(keys={"city": ("Oslo", "Bergen")}, columns={"n": n}, level=0.95, loss=loss))
    >>> [cell.text for cell in layout.parts[0].rows[0]]
    ['Oslo', '1,234', '± 6']
    """

    def __init__(
        self,
        answer: Answer,
        *,
        drawn: Sequence[str] = (),
        exact: Iterable[Mapping[str, object]] | None = None,
        most: int = ROWS,
    ) -> None:
        self.answer, self.drawn, self.most = answer, list(drawn), most
        self.exact = None if exact is None else {tuple(row.get(name) for name in answer.keys): row for row in exact}

    @property
    def shown(self) -> int:
        """How many rows the page shows."""
        return min(len(self.answer), self.most)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The table, cut into parts that are narrow enough for paper."""
        made = {name: self._columns(name) for name in self.answer.columns}
        parts: list[list[str]] = []
        left = 0.0
        for name, block in made.items():
            if not parts or block.width > left:
                parts.append([])
                left = LETTERS - self._key_width
            parts[-1].append(name)
            left -= block.width
        return tuple(self._part([made[name] for name in names], parts, i) for i, names in enumerate(parts))

    def _part(self, blocks: list[Block], parts: list[list[str]], place: int) -> Part:
        heads = [head for block in (*self._keys, *blocks) for head in block.heads]
        columns = [cells for block in (*self._keys, *blocks) for cells in block.columns]
        before = sum(len(names) for names in parts[:place])
        words = f"columns {before + 1} to {before + len(parts[place])} of {len(self.answer.columns)}"
        return Part(
            tuple(heads),
            tuple(zip(*columns, strict=True)),
            self._widths(blocks, even=parts[place] == self.drawn),
            words if len(parts) > 1 else "",
        )

    def _widths(self, blocks: list[Block], *, even: bool) -> tuple[float, ...]:
        """Return percentages: those of the picture's panels where the table has the same columns, else by content."""
        room = 100 - self.key_share
        total = sum(block.width for block in blocks)
        widths = [width * self.key_share / self._key_width for block in self._keys for width in block.widths]
        for block in blocks:
            share = room / len(blocks) if even else room * block.width / total
            *first, _ = (100 * width / LETTERS for width in block.widths)
            widths += [*first, max(share - sum(first), 1.0)]
        return tuple(round(width, 2) for width in widths)

    @cached_property
    def _keys(self) -> list[Block]:
        return [Block([Head(visible(name))], [self._key_cells(name)]) for name in self.answer.keys]

    @property
    def _key_width(self) -> float:
        return sum(min(block.width, KEY) for block in self._keys)

    @property
    def key_share(self) -> float:
        """The part of the page for keys, in percent."""
        return min(100 * self._key_width / LETTERS, 45.0)

    def _key_cells(self, name: str) -> list[Cell]:
        cells = [shortened(said(value, self.answer.empty), LONGEST) for value in self.answer.keys[name][: self.shown]]
        return [Cell(text, "key" if columns_of(text) > UNBROKEN else "key unbroken") for text in cells]

    def _columns(self, name: str) -> Block:
        """Return a column of estimates: its values, what is beside them, and true values if there are any."""
        estimates, rows = self.answer.columns[name], range(self.shown)
        listed = [shown(estimates.value[i], estimates.low[i], estimates.high[i]) for i in rows]
        note = visible(estimates.unit_note)
        if estimates.is_text:
            words = [Cell(shortened(visible(one.value), LONGEST), "word") for one in listed]
            heads, columns = [Head(visible(name), note, 1, "word")], [words]
        else:
            values = _padded([one.value for one in listed])
            heads, columns = [Head(visible(name), note, 1, "figure")], [[Cell(_signed(v), "figure") for v in values]]
            if any(one.plus_minus or one.span for one in listed):
                heads = [Head(visible(name), note, 2, "estimate")]
                sizes = _padded([one.plus_minus for one in listed])
                beside = [
                    f"± {size}" if one.plus_minus else _signed(one.span)
                    for one, size in zip(listed, sizes, strict=True)
                ]
                columns.append([Cell(text, "spread") for text in beside])
        if self.exact is not None:
            heads.append(Head("exact", "demo only", 1, "figure exact"))
            columns.append([Cell(self._true(name, i), "figure exact") for i in rows])
        return Block(heads, columns)

    def _true(self, name: str, row: int) -> str:
        group = tuple(values[row] for values in self.answer.keys.values())
        value = (self.exact or {}).get(group, {}).get(name)
        if isinstance(value, int | float) and not math.isfinite(value):
            return "—"
        return _signed(shown(value, None, None).value) if isinstance(value, int | float | str | None) else "—"


def _padded(texts: Sequence[str]) -> list[str]:
    return aligned(texts, point="\N{PUNCTUATION SPACE}", figure="\N{FIGURE SPACE}")


def _signed(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
