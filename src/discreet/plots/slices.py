"""Distributions cut into slices of equal width, one panel for each, every panel on a scale of its own."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.theme import ACCENT, INK, MUTED, PALE, WIDTH, altair, dress, panels

__all__ = ["Slices", "slices"]

ROOM = 1.2
"""The frame's height over the highest column: words stand above all columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Probabilities between edges; ``line`` is a value to mark with words, such as an epsilon."""

    name: str
    edges: Sequence[float]
    probabilities: Sequence[float]
    line: float | None = None
    words: str = ""


def slices(
    shown: Sequence[Slices], *, title: str, subtitle: str = "", axis: str, height: int = 260, columns: int = 2
) -> Any:  # noqa: ANN401  an altair chart
    """Draw each distribution as columns without gaps; several stand side by side.

    >>> one = Slices(name="1 step", edges=[-1, 0, 1], probabilities=[0.4, 0.6])
    >>> chart = slices([one], title="The loss of one step", axis="privacy loss")
    """
    if not shown:
        raise InvalidParameter("a picture needs at least one distribution.")
    for one in shown:
        if len(one.edges) != len(one.probabilities) + 1 or not all(a < b for a, b in pairwise(one.edges)):
            raise InvalidParameter("edges must rise, and be one more than the probabilities between them.")
    alt = altair()
    if len(shown) == 1:
        return dress(_panel(alt, shown[0], axis), title=title, subtitle=subtitle, height=height)
    width = (WIDTH - 70 * (columns - 1)) // columns
    drawn = [
        _panel(alt, one, axis if place >= len(shown) - columns else "").properties(
            width=width, height=height, title={"text": one.name, "fontSize": 14, "offset": 8}
        )
        for place, one in enumerate(shown)
    ]
    return panels(alt.concat(*drawn, columns=columns, spacing=44), title=title, subtitle=subtitle)


def _panel(alt: Any, one: Slices, axis: str) -> Any:  # noqa: ANN401
    low, high = float(one.edges[0]), float(one.edges[-1])
    if one.line is not None:
        high = max(high, one.line + 0.04 * (one.line - low))
    rows = [
        {"low": float(a), "high": float(b), "chance": float(p)}
        for (a, b), p in zip(pairwise(one.edges), one.probabilities, strict=True)
    ]
    x = alt.X(
        "low:Q",
        title=axis or None,
        scale=alt.Scale(domain=[low, high], nice=False, zero=False),
        axis=alt.Axis(grid=False, tickCount=5, format=",~r"),
    )
    top = max(row["chance"] for row in rows)
    y = alt.Y(
        "chance:Q",
        title="probability of each slice",
        scale=alt.Scale(domain=[0, ROOM * top], nice=False),
        axis=alt.Axis(tickCount=4, format=_percent(top), grid=False),
    )
    zeros = [{**row, "zero": 0.0} for row in rows]
    columns = alt.Chart(alt.Data(values=zeros)).encode(x=x, x2="high:Q", y=y, y2="zero:Q")
    layers = [columns.mark_rect(color=PALE, stroke=PALE, strokeWidth=0.5)]
    outline = [point for row in rows for point in ({"low": row["low"], **_at(row)}, {"low": row["high"], **_at(row)})]
    layers.append(alt.Chart(alt.Data(values=outline)).encode(x=x, y=y).mark_line(color=ACCENT, strokeWidth=1.5))
    if one.line is not None:
        place = [{"low": one.line, "chance": ROOM * top, "zero": 0.0}]
        rule = alt.Chart(alt.Data(values=place)).encode(x=x, y=y)
        layers.append(rule.mark_rule(color=INK, strokeDash=[5, 3], strokeWidth=1.5).encode(y2="zero:Q"))
        layers.append(rule.mark_text(align="right", baseline="top", dx=-6, dy=1, color=INK, text=one.words))
    zero = alt.Chart(alt.Data(values=[{"low": 0.0, "chance": ROOM * top, "zero": 0.0}])).encode(x=x, y=y, y2="zero:Q")
    if low < 0 < high:
        layers.insert(0, zero.mark_rule(color=MUTED, strokeWidth=0.75))
    return alt.layer(*layers)


def _at(row: dict[str, float]) -> dict[str, float]:
    return {"chance": row["chance"]}


def _percent(top: float) -> str:
    """Return a format with as many decimals as the slices need."""
    return f".{max(0, 1 - math.floor(math.log10(100 * top)))}%" if top < 0.1 else ".0%"
