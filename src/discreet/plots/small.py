"""Small curves in panels of their own, on a common axis below them: how several things went at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.theme import ACCENT, GRID, INK, WIDTH, altair, panels, same_length

__all__ = ["Small", "small_curves"]

HEIGHT = 130
GAP = 56


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """One panel: a name and a line; ``markers`` shows where it was measured."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    markers: bool = False


def small_curves(shown: Sequence[Small], *, axis: str, title: str, subtitle: str = "", columns: int = 2) -> Any:  # noqa: ANN401  an altair chart
    """Draw each line in a panel of its own, all with the same first and last x, each from 0 up.

    >>> chart = small_curves([Small(name="epsilon", xs=[1, 2], ys=[0.5, 0.7])], axis="step", title="A training")
    """
    for one in shown:
        same_length(xs=one.xs, ys=one.ys)
    places = [float(x) for one in shown for x in one.xs]
    if not places:
        raise InvalidParameter("a picture needs at least one panel with a point.")
    alt = altair()
    ends = [min(places), max(places)] if min(places) < max(places) else [min(places) - 0.5, max(places) + 0.5]
    width = (WIDTH - GAP * (columns - 1)) // columns
    drawn = [
        _panel(alt, one, axis if place >= len(shown) - columns else "", ends, width) for place, one in enumerate(shown)
    ]
    return panels(alt.concat(*drawn, columns=columns, spacing=GAP // 2), title=title, subtitle=subtitle)


def _panel(alt: Any, one: Small, axis: str, ends: list[float], width: int) -> Any:  # noqa: ANN401
    rows = [{"x": float(x), "y": float(y)} for x, y in zip(one.xs, one.ys, strict=True)]
    top = max([0.0, *(row["y"] for row in rows)]) or 1.0
    x = alt.X(
        "x:Q",
        title=axis or None,
        scale=alt.Scale(domain=ends, nice=False, zero=False),
        axis=alt.Axis(tickCount=5, tickMinStep=1, format=",~r", grid=False),
    )
    y = alt.Y(
        "y:Q",
        title=None,
        scale=alt.Scale(domain=[min([0.0, *(row["y"] for row in rows)]), 1.05 * top], nice=False),
        axis=alt.Axis(tickCount=4, format=",~r", gridColor=GRID, domain=False, ticks=False),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y)
    layers = [base.mark_line(color=ACCENT, strokeWidth=2, clip=True)]
    if one.markers or len(rows) == 1:
        layers.append(base.mark_point(color=INK, filled=True, opacity=1, size=30))
    name = {"text": one.name, "fontSize": 13, "fontWeight": 600, "offset": 8, "anchor": "start", "color": INK}
    return alt.layer(*layers).properties(width=width, height=HEIGHT, title=name)
