"""How an answer looks: a text table in a terminal, an HTML table in a notebook."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.session.cost import NOT_PRIVATE, SILENT, cost, interval, promise
from discreet.session.digits import Shown, above, aligned, shown
from discreet.session.html_table import Cell, html_table
from discreet.session.picture import said
from discreet.session.text_table import columns_of, shortened, text_table, visible

if TYPE_CHECKING:
    from discreet.session.answer import Answer

__all__ = ["answer_html", "answer_text"]

WIDEST = 40
"""Columns of a terminal for one key; longer ones are cut."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which rows are shown: all, or the first and the last."""

    first: range
    last: range

    @classmethod
    def of(cls, rows: int, first: int, last: int, most: int) -> "Window":
        """Return all rows if there are few, else some from each end.

        >>> Window.of(100, 2, 1, 20).rows
        [0, 1, 99]
        """
        return cls(range(rows), range(0)) if rows <= most else cls(range(first), range(rows - last, rows))

    @property
    def rows(self) -> list[int]:
        """The positions of rows shown."""
        return [*self.first, *self.last]


def answer_text(answer: "Answer") -> str:
    """Return the table in text: keys, then each estimate as ``1,234 ± 6``, then cost, methods and notes."""
    window = Window.of(len(answer), 12, 4, 20)
    cells = [[shortened(said(values[i], answer.empty), WIDEST) for i in window.rows] for values in answer.keys.values()]
    cells += [_text_column(_shown(answer, name, window)) for name in answer.columns]
    names = [shortened(visible(name), WIDEST) for name in (*answer.keys, *answer.columns)]
    units = [""] * len(answer.keys) + [shortened(visible(e.unit_note), WIDEST) for e in answer.columns.values()]
    right = [_is_number(values) for values in answer.keys.values()]
    right += [not estimates.is_text for estimates in answer.columns.values()]
    rows = [list(row) for row in zip(*cells, strict=True)]
    if window.last:
        rows.insert(len(window.first), ["..."] * len(names))
    lines = text_table([names, units] if any(units) else [names], rows, right) if names else []
    if not answer.private:
        lines.insert(0, NOT_PRIVATE + "\n")
    return "\n".join([*lines, "", _footer(answer), *(visible(text) for text in (*_methods(answer), *answer.notes))])


def answer_html(answer: "Answer") -> str:
    """Return the table for a notebook: values, ± and intervals, with cost in the caption and notes below."""
    window = Window.of(len(answer), 30, 10, 60)
    head = [Cell(name, "right" if _is_number(answer.keys[name]) else "", heads=True) for name in answer.keys]
    columns = [
        [Cell(said(v[i], answer.empty), cell.style, heads=True) for i in window.rows]
        for v, cell in zip(answer.keys.values(), head, strict=True)
    ]
    for name, estimates in answer.columns.items():
        listed = _shown(answer, name, window)
        if estimates.is_text:
            head.append(Cell(name, small=estimates.unit_note, heads=True))
            columns.append([Cell(one.value, "value") for one in listed])
            continue
        head.append(Cell(name, "right", small=estimates.unit_note, heads=True))
        columns.append([Cell(_signed(text), "right value") for text in _padded([one.value for one in listed])])
        if any(one.plus_minus or one.span for one in listed):
            head[-1] = Cell(name, small=estimates.unit_note, span=2, heads=True)
            head.append(Cell(interval(answer.level), "quiet", heads=True))
            sizes = _filled(_padded([one.plus_minus for one in listed]))
            signs = [f"± {size}" if one.plus_minus else "" for one, size in zip(listed, sizes, strict=True)]
            columns.append([Cell(sign, "spread") for sign in signs])
            columns.append([Cell(_signed(one.span), "quiet") for one in listed])
    rows = [list(row) for row in zip(*columns, strict=True)]
    if window.last:
        left_out = len(answer) - len(window.rows)
        rows.insert(len(window.first), [Cell(f"… {left_out:,} more rows …", "quiet", span=max(len(columns), 1))])
    count = f"{len(answer):,} released row{'' if len(answer) == 1 else 's'}"
    return html_table(
        count,
        _cost_and_promise(answer),
        head,
        rows,
        code=str(answer.parameters.get("query") or ""),
        notes=[*_methods(answer), *answer.notes],
        alarm="" if answer.private else NOT_PRIVATE,
    )


def _shown(answer: "Answer", name: str, window: Window) -> list[Shown]:
    e = answer.columns[name]
    return [shown(e.value[i], e.low[i], e.high[i]) for i in window.rows]


def _text_column(listed: list[Shown]) -> list[str]:
    """Return cells in which points stand below points and ± below ±."""
    values = aligned([visible(one.value) for one in listed])
    most = max(map(columns_of, values), default=0)
    sizes = aligned([one.plus_minus for one in listed])
    longest = max((len(size) for size in sizes), default=0)
    spreads = [
        f"± {size.rjust(longest)}" if one.plus_minus else f"({one.span})" * bool(one.span)
        for one, size in zip(listed, sizes, strict=True)
    ]
    widest = max(map(len, spreads), default=0)
    if not widest:
        return [value.rstrip() if one.value == "—" else value for one, value in zip(listed, values, strict=True)]
    return [
        " " * (most - columns_of(value)) + value + " " + spread.ljust(widest)
        for value, spread in zip(values, spreads, strict=True)
    ]


def _padded(texts: list[str]) -> list[str]:
    return aligned(texts, point="\N{PUNCTUATION SPACE}", figure="\N{FIGURE SPACE}")


def _filled(texts: list[str]) -> list[str]:
    """Fill numbers up on the left with blanks as wide as the digits and commas that the longest has there."""
    longest = max(texts, key=len, default="")
    blanks = "".join("\N{FIGURE SPACE}" if c.isdigit() else "\N{PUNCTUATION SPACE}" for c in longest)
    return [blanks[: len(longest) - len(text)] + text for text in texts]


def _signed(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _is_number(values: tuple[object, ...]) -> bool:
    return any(type(value) is int for value in values)


def _footer(answer: "Answer") -> str:
    return f"{len(answer):,} row{'' if len(answer) == 1 else 's'}. {_cost_and_promise(answer)}"


def _cost_and_promise(answer: "Answer") -> str:
    price = f"Costs {cost(answer.loss, answer.parameters.get('delta'))}."
    if answer.stored:
        price = f"From the ledger: nothing was charged now. {price.replace('Costs', 'Cost', 1)}"
    if not any(end is not None for e in answer.columns.values() for end in (*e.low, *e.high)):
        return price
    return f"{price} Each {interval(answer.level)} covers the noise {promise(answer.level)}."


def _methods(answer: "Answer") -> list[str]:
    """Return a line for each column that says how it was made."""
    lines = []
    for name, estimates in answer.columns.items():
        error = f"within ±{above(float(estimates.error))}" if estimates.error is not None else ""
        if estimates.error == 0:
            error = f"{SILENT} {promise(answer.level)}" if estimates.method else "exact: public"
        parts = [part for part in (estimates.method, error) if part]
        if parts:
            lines.append(f"{name}: {', '.join(parts)}")
    return lines
