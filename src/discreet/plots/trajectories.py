"""Paths over a landscape: where an optimisation went, on the contour lines of what it makes small."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.contours import contours
from discreet.plots.theme import ACCENT, INK, MUTED, altair, panels

__all__ = ["Landscape", "Paths", "trajectories"]

SIZE = 330
HILL, FAINT = "#c3ccd6", "#86aedb"
Path = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Landscape:
    """Heights on a grid, a row for each y, the levels that are drawn as lines, and where the lowest point is."""

    xs: Sequence[float]
    ys: Sequence[float]
    heights: Sequence[Sequence[float]]
    levels: Sequence[float]
    lowest: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """One panel: the first path is strong, others are its repeats; ``ring`` is a closed line, such as an ellipse."""

    name: str
    paths: Sequence[Path]
    ring: Path = ()


def trajectories(
    below: Landscape, shown: Sequence[Paths], *, title: str, subtitle: str = "", axes: tuple[str, str]
) -> Any:  # noqa: ANN401  an altair chart
    """Draw panels side by side on the same landscape. Paths begin at a circle; a cross is the lowest point.

    >>> bowl = Landscape(xs=[-1, 0, 1], ys=[-1, 0, 1], heights=[[2, 1, 2], [1, 0, 1], [2, 1, 2]], levels=[0.5],
    ...                  lowest=(0, 0))
    >>> one = Paths(name="downhill", paths=[[(-1, 1), (0, 0)]])
    >>> chart = trajectories(bowl, [one], title="A way down", axes=("first", "second"))
    """
    if not shown or not all(panel.paths and all(panel.paths) for panel in shown):
        raise InvalidParameter("a picture needs at least one panel, and a path with a point in each.")
    alt = altair()
    drawn = [
        _panel(alt, below, panel, (axes[0], axes[1] if place == 0 else ""), place) for place, panel in enumerate(shown)
    ]
    return panels(alt.hconcat(*drawn, spacing=36), title=title, subtitle=subtitle)


def _panel(alt: Any, below: Landscape, panel: Paths, axes: tuple[str, str], place: int) -> Any:  # noqa: ANN401
    ends = [(float(line[0]), float(line[-1])) for line in (below.xs, below.ys)]
    x, y = (
        kind(
            f"{name}:Q",
            title=title or None,
            scale=alt.Scale(domain=list(end), nice=False, zero=False),
            axis=alt.Axis(grid=False, tickCount=5, format=",~r", domain=False, ticks=False),
        )
        for kind, name, title, end in zip((alt.X, alt.Y), "xy", axes, ends, strict=True)
    )

    def rows(lines: Sequence[Path]) -> Any:  # noqa: ANN401
        points = [
            {"x": round(float(a), 4), "y": round(float(b), 4), "step": step, "line": line}
            for line, path in enumerate(lines)
            for step, (a, b) in enumerate(path)
        ]
        base = alt.Chart(alt.Data(values=points)).encode(x=x, y=y)
        return base.encode(detail="line:N", order="step:Q")

    def dot(at: tuple[float, float], **mark: Any) -> Any:  # noqa: ANN401
        base = alt.Chart(alt.Data(values=[{"x": float(at[0]), "y": float(at[1])}])).encode(x=x, y=y)
        return base.mark_point(opacity=1, **mark)

    strong, *others = panel.paths
    hills = [line for level in below.levels for line in contours(below.xs, below.ys, below.heights, level)]
    layers = [rows(hills).mark_line(color=HILL, strokeWidth=1, clip=True)]
    if others:
        layers.append(rows(others).mark_line(color=FAINT, strokeWidth=1, strokeJoin="round", clip=True))
        layers += [dot(path[-1], shape="circle", size=34, filled=True, color=FAINT) for path in others]
    if panel.ring:
        ring = rows([[*panel.ring, panel.ring[0]]])
        layers.append(ring.mark_line(color=MUTED, strokeDash=[4, 3], strokeWidth=1.5, clip=True))
    colour = ACCENT if place else INK
    layers.append(rows([strong]).mark_line(color=colour, strokeWidth=2.25, strokeJoin="round", clip=True))
    layers.append(dot(strong[0], shape="circle", size=80, filled=False, strokeWidth=2, color=INK))
    layers.append(dot(strong[-1], shape="circle", size=70, filled=True, color=colour))
    layers.append(dot(below.lowest, shape="cross", size=110, filled=True, color=INK))
    name = {"text": panel.name, "fontSize": 14, "fontWeight": 600, "offset": 8, "anchor": "start", "color": INK}
    return alt.layer(*layers).properties(width=SIZE, height=SIZE, title=name)
