"""A released column drawn: one bar for each row, with the interval of each."""

from typing import TYPE_CHECKING, Any

from discreet import plots
from discreet.errors import InvalidParameter
from discreet.session.cost import NOT_PRIVATE, cost, interval
from discreet.session.text_table import shortened, visible
from discreet.session.values import Key

if TYPE_CHECKING:
    from discreet.session.answer import Answer

__all__ = ["bars"]

MOST = 40
"""Rows that stay readable in one picture."""

LABEL = 60


def bars(answer: "Answer", column: str | None) -> Any:  # noqa: ANN401  an altair chart
    """Draw the first rows of a column of numbers; the subtitle says what was left out."""
    name = _chosen(answer, column)
    estimates = answer.columns[name]
    known = [i for i in range(len(answer)) if estimates.value[i] is not None]
    rows = known[:MOST]
    values = [float(estimates.value[i]) for i in rows]  # type: ignore[arg-type]
    lows = [value if (end := estimates.low[i]) is None else float(end) for i, value in zip(rows, values, strict=True)]
    highs = [value if (end := estimates.high[i]) is None else float(end) for i, value in zip(rows, values, strict=True)]
    said = [f"{interval(answer.level)}s; the table costs {cost(answer.loss, answer.parameters.get('delta'))}"]
    if len(rows) < len(known):
        said.append(f"the first {len(rows)} of {len(known)} rows")
    if len(known) < len(answer):
        said.append("rows without a number are not drawn")
    if not answer.private:
        said.insert(0, NOT_PRIVATE)
    title = f"{name} by {', '.join(answer.keys)}" if answer.keys else name
    axis = f"{name} ({estimates.unit_note})" if estimates.unit_note else name
    return plots.bars_with_error(
        _labels(answer, rows), values, lows, highs, visible(title), visible(axis), subtitle="; ".join(said)
    )


def _chosen(answer: "Answer", column: str | None) -> str:
    drawable = [name for name, estimates in answer.columns.items() if not estimates.is_text]
    if column is None and drawable:
        return drawable[0]
    if column is None or column not in drawable:
        raise InvalidParameter(f"a column of numbers is drawn; this table has {', '.join(drawable) or 'none'}.")
    return column


def _labels(answer: "Answer", rows: list[int]) -> list[str]:
    """Return what names each row, all different: rows of one name would be drawn on top of each other."""
    used: dict[str, int] = {}
    labels = []
    for i in rows:
        text = ", ".join(said(values[i], answer.empty) for values in answer.keys.values()) or "all"
        text = shortened(text, LABEL)
        used[text] = used.get(text, 0) + 1
        labels.append(text if used[text] == 1 else f"{text} ({used[text]})")
    return labels


def said(value: Key, empty: str = "(none)") -> str:
    """Write the value of a group column for people."""
    if value is None:
        return empty
    return visible(str(value)) or "(empty)"
