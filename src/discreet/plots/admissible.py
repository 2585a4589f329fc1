"""What admissible means: a density, its slide and its dilation, and how far their logarithms part."""

import math
from collections.abc import Sequence
from typing import Any

from discreet.plots.theme import ACCENT, INK, MUTED, altair, panels, same_length

__all__ = ["slide_and_dilation"]

NAMES = ("the density", "slid", "dilated")
STYLES = ((INK, 2.5, [1, 0]), (ACCENT, 2.0, [7, 4]), (MUTED, 2.0, [2, 3]))


def slide_and_dilation(
    places: Sequence[float],
    plain: Sequence[float],
    slid: Sequence[float],
    dilated: Sequence[float],
    limit: float,
    *,
    title: str = "A slide and a dilation of the noise",
    subtitle: str = "Admissible noise keeps both log-ratios between the lines, or lets them leave where little mass is",
) -> Any:  # noqa: ANN401  an altair chart
    """Draw three densities on the left, and the log-ratios of the first to the others within ``±limit`` on the right.

    >>> chart = slide_and_dilation([-1, 0, 1], [0.2, 0.5, 0.2], [0.15, 0.45, 0.3], [0.25, 0.4, 0.25], 0.5)
    """
    same_length(places=places, plain=plain, slid=slid, dilated=dilated)
    alt = altair()
    densities = [_rows(name, places, ys) for name, ys in zip(NAMES, (plain, slid, dilated), strict=True)]
    left = _frame(alt, densities, "density", [0.0, 1.08 * max(*plain, *slid, *dilated)], NAMES)
    ratios = [
        _rows(name, places, [_log_ratio(p, q) for p, q in zip(plain, other, strict=True)])
        for name, other in zip(NAMES[1:], (slid, dilated), strict=True)
    ]
    span = max(1.6 * limit, min(3 * limit, 1.1 * max(abs(row["y"]) for rows in ratios for row in rows)))
    right = _frame(alt, ratios, "log-ratio of the density to each", [-span, span], NAMES)
    lines = alt.Chart(alt.Data(values=[{"y": limit}, {"y": -limit}])).mark_rule(color=INK, strokeWidth=1.25)
    words = alt.Chart(alt.Data(values=[{"x": max(places), "y": limit}])).mark_text(
        align="right", dy=-9, text=f"half of epsilon: {limit:.3g}"
    )
    right = alt.layer(right, lines.encode(y="y:Q"), words.encode(x="x:Q", y="y:Q"))
    size = {"width": 340, "height": 280}
    return panels(
        alt.hconcat(left.properties(**size), right.properties(**size), spacing=44), title=title, subtitle=subtitle
    )


def _rows(name: str, xs: Sequence[float], ys: Sequence[float]) -> list[dict[str, Any]]:
    return [{"name": name, "x": float(x), "y": float(y)} for x, y in zip(xs, ys, strict=True)]


def _log_ratio(p: float, q: float) -> float:
    return math.log(p / q) if p > 0 and q > 0 else 0.0


def _frame(alt: Any, lines: list[list[dict[str, Any]]], axis: str, domain: list[float], names: Sequence[str]) -> Any:  # noqa: ANN401
    """Return one frame; a line is known by its dashes as well as by its colour."""
    rows = [row for line in lines for row in line]
    scale = alt.Scale(domain=list(names), range=[colour for colour, _, _ in STYLES])
    dashes = alt.Scale(domain=list(names), range=[dash for _, _, dash in STYLES])
    chart = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=2.2, clip=True)
    return chart.encode(
        x=alt.X(
            "x:Q",
            title="noise, in units of its scale",
            scale=alt.Scale(domain=[min(row["x"] for row in rows), max(row["x"] for row in rows)], nice=False),
            axis=alt.Axis(grid=False, tickCount=5),
        ),
        y=alt.Y("y:Q", title=axis, scale=alt.Scale(domain=domain), axis=alt.Axis(tickCount=5, grid=False)),
        color=alt.Color("name:N", scale=scale, sort=list(names), title=None),
        strokeDash=alt.StrokeDash("name:N", scale=dashes, sort=list(names), title=None),
    )
