"""A released table drawn: a row for each group, a panel for each column, a whisker from low to high in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.theme import ACCENT, GRID, INK, MUTED, PALE, altair, panels, same_length

__all__ = ["Panel", "intervals"]

WIDE = 800
ROW = 24
CLOSE = 20
MANY = 16
"""How high a row is, and how high where there are more than so many."""

CHARACTER = 7.6
"""The width of a letter of a label: about that of any sans-serif font of 13 pixels."""

LINES = {"grid": True, "gridColor": GRID, "tickBand": "extent", "ticks": False, "labels": False, "domain": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One column: its name, its numbers and the ends of their intervals; None where one is not known.

    Amounts, such as counts, are bars from 0. Others, such as means, are points on a scale of their own. ``mark`` is a
    number that a dashed line shows in all rows.
    """

    name: str
    values: Sequence[float | None]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    amounts: bool = True
    mark: float | None = None


def intervals(
    labels: Sequence[str],
    columns: Sequence[Panel],
    *,
    description: str,
    width: int = WIDE,
    names: float | None = None,
    stacked: bool = False,
) -> Any:  # noqa: ANN401  an altair chart
    """Draw panels side by side on common rows, or below each other with the labels repeated.

    Labels must differ: rows of one name would be drawn on top of each other. ``names`` is the width of the labels; the
    panels share what is left of the width evenly, so that the columns of a table may stand below them.

    >>> people = Panel(name="people", values=[120, 80], lows=[113, 73], highs=[127, 87])
    >>> chart = intervals(["Harbour", "Hill"], [people], description="People by quarter")
    """
    if not columns or not labels:
        raise InvalidParameter("a picture needs at least one row and one column.")
    if len(set(labels)) < len(labels):
        raise InvalidParameter("the labels of a picture must differ.")
    for one in columns:
        same_length(labels=labels, values=one.values, lows=one.lows, highs=one.highs)
    alt = altair()
    widest = max(map(len, labels)) * CHARACTER + 20
    room = round(min(max(widest, 60), 0.34 * width) if names is None else names)
    if stacked:
        rows = [alt.hconcat(_labels(alt, labels, room), _panel(alt, labels, one, width - room)) for one in columns]
        chart = alt.vconcat(*(row.properties(spacing=0, bounds="flush") for row in rows), spacing=28)
    else:
        each = (width - room) // len(columns)
        drawn = [_panel(alt, labels, one, each) for one in columns]
        chart = alt.hconcat(_labels(alt, labels, room), *drawn, spacing=0, bounds="flush")
    margins = {"top": 5, "left": 0, "right": 0, "bottom": 2}
    dressed = panels(chart, title="").properties(description=description, padding=margins)
    dressed.config.aria = False  # one description for the whole picture: the numbers stand in a table
    return dressed


def _labels(alt: Any, labels: Sequence[str], width: int) -> Any:  # noqa: ANN401
    """Return the names of the rows, at the left edge, so that they stand below what is above the picture."""
    rows = alt.Chart(alt.Data(values=[{"label": label} for label in labels]))
    text = rows.mark_text(align="left", limit=width - 12, fontSize=13, color=INK)
    return text.encode(x=alt.value(0), y=_place(alt, labels), text="label:N").properties(
        width=width, height=_height(labels)
    )


def _panel(alt: Any, labels: Sequence[str], column: Panel, width: int) -> Any:  # noqa: ANN401
    known = [
        (label, float(value), _or(low, value), _or(high, value))
        for label, value, low, high in zip(labels, column.values, column.lows, column.highs, strict=True)
        if value is not None
    ]
    rows = [{"label": label, "value": value, "low": low, "high": high} for label, value, low, high in known]
    base = alt.Chart(alt.Data(values=rows)).encode(y=_place(alt, labels))
    lowest, highest = min((one[2] for one in known), default=0.0), max((one[3] for one in known), default=1.0)
    if column.mark is not None:
        lowest, highest = min(lowest, column.mark), max(highest, column.mark)
    if column.amounts:
        lowest, highest = min(lowest, 0.0), max(highest, 0.0)
    if lowest == highest:
        lowest, highest = lowest - 1, highest + 1
    scale = alt.Scale(domain=[lowest, highest], zero=False, nice=lowest >= 0, range=[0, width - 26])
    digits = "~s" if max(-lowest, highest) >= 10_000 else ",~r"
    axis = alt.Axis(
        orient="top",
        tickCount=max(2, min(5, width // 75)),
        labelExpr=f"datum.value == 0 ? '0' : format(datum.value, '{digits}')",
        labelColor=MUTED,
        labelFontSize=12,
        labelFlush=True,
        labelOverlap=True,
        ticks=False,
        domain=False,
    )
    length = alt.X("value:Q", title=None, scale=scale, axis=axis)
    layers = []
    if column.amounts:
        layers.append(base.mark_bar(color=PALE, height={"band": 0.56}).encode(x=length))
    layers.append(base.mark_rule(color=INK, strokeWidth=1.5).encode(x=alt.X("low:Q", title=None), x2="high:Q"))
    ends = base.mark_tick(color=INK, thickness=1.5, height=8)
    layers += [ends.encode(x="low:Q"), ends.encode(x="high:Q")]
    if not column.amounts:
        layers.append(base.mark_point(color=ACCENT, filled=True, opacity=1, size=46).encode(x=length))
    if column.mark is not None:
        line = alt.Chart(alt.Data(values=[{"mark": float(column.mark)}])).mark_rule(color=MUTED, strokeDash=[5, 4])
        layers.append(line.encode(x=alt.X("mark:Q", title=None)))
    name = {"text": column.name, "anchor": "start", "fontSize": 13, "fontWeight": 600, "offset": 8, "color": INK}
    return alt.layer(*layers).properties(
        width=width, height=_height(labels), title=name | {"frame": "group", "limit": width - 26}
    )


def _place(alt: Any, labels: Sequence[str]) -> Any:  # noqa: ANN401
    scale = alt.Scale(type="band", padding=0, domain=list(labels))
    return alt.Y("label:N", sort=None, title=None, axis=alt.Axis(**LINES), scale=scale)


def _height(labels: Sequence[str]) -> int:
    return (CLOSE if len(labels) > MANY else ROW) * len(labels)


def _or(end: float | None, value: float) -> float:
    return float(value if end is None else end)
