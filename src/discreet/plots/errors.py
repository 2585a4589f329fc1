"""Errors of many algorithms: lines against the number of persons, and a map of ratios to the least error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.curves import apart
from discreet.plots.theme import ACCENT, INK, MUTED, altair, dress, same_length

__all__ = ["ErrorLine", "error_against_scale", "ratio_map"]

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 4], [2, 3])
FRAME = 470
GAP = 18.0
MEASURE = "root mean square error of a query, in persons"
CEILING = 30.0
"""The frame ends at so many times the largest error of the best line: what is worse leaves it."""

CELL = 62


GROUNDS = ((1.05, "#1f5fa8", "#ffffff"), (1.5, "#8fb4dd", INK), (3.0, "#cfdff0", INK), (math.inf, "#f1f4f8", MUTED))
"""Up to which ratio, the ground and the ink: near the best is strongest. The number stands in every field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLine:
    """One algorithm: its errors in persons, at the scales."""

    name: str
    scales: Sequence[float]
    errors: Sequence[float]


def error_against_scale(lines: Sequence[ErrorLine], *, title: str, subtitle: str = "", height: int = 380) -> Any:  # noqa: ANN401  an altair chart
    """Draw both on logarithmic axes, every line named where it ends; the least at the largest scale is strong.

    Lines differ by marker and dash, not by colour. Errors of 0 are left out; a line that leaves the frame has its last
    error written beside its name.

    >>> one = ErrorLine(name="identity", scales=[1e3, 1e5], errors=[0.1, 0.001])
    >>> chart = error_against_scale([one], title="Error against scale")
    """
    for line in lines:
        same_length(scales=line.scales, errors=line.errors)
    kept = {
        line.name: [(float(a), float(b)) for a, b in zip(line.scales, line.errors, strict=True) if b > 0]
        for line in lines
    }
    kept = {name: points for name, points in kept.items() if points}
    if not kept or len({line.name for line in lines}) < len(lines):
        raise InvalidParameter("a picture needs lines with different names, and errors above 0.")
    alt = altair()
    xs, ys = ([point[i] for points in kept.values() for point in points] for i in (0, 1))
    across = (min(xs), max(xs)) if min(xs) < max(xs) else (min(xs) / 2, min(xs) * 2)
    ceiling = CEILING * min(max(b for _, b in points) for points in kept.values())
    up = min(ys) / 1.3, min(max(ys), ceiling) * 1.3
    places = {
        "x": alt.X("x:Q", title="persons (scale)", scale=alt.Scale(type="log", domain=across, nice=False),
                   axis=alt.Axis(values=sorted(set(xs)), format=",~s", grid=False, labelFlush=False)),
        "y": alt.Y("y:Q", title=MEASURE, scale=alt.Scale(type="log", domain=up, nice=False),
                   axis=alt.Axis(values=_ticks(up), format=",~g")),
    }  # fmt: skip
    best = min(kept, key=lambda name: (-kept[name][-1][0], kept[name][-1][1]))
    layers, names = [], []
    wanted = [height * (1 - _part(points[-1][1], up)) for points in kept.values()]
    for place, ((name, points), level) in enumerate(zip(kept.items(), apart(wanted, GAP, height), strict=True)):
        dash = DASHES[0] if name == best else DASHES[place // len(SHAPES) % len(DASHES)]
        layers += _line(alt, points, up[1], places, dash=dash, shape=SHAPES[place % len(SHAPES)], strong=name == best)
        at = math.exp(math.log(up[1]) - level / height * (math.log(up[1]) - math.log(up[0])))
        words = name if points[-1][1] <= up[1] else f"{name}, {points[-1][1]:,.0f}"
        names.append((words, name == best, points[-1], at))
    leaders = [
        {"x": end[0], "y": end[1], "x2": across[1], "y2": level} for _, _, end, level in names if end[1] <= up[1]
    ]
    rules = alt.Chart(alt.Data(values=leaders)).encode(**places, x2="x2:Q", y2="y2:Q")
    layers.append(rules.mark_rule(color=MUTED, strokeWidth=0.75, xOffset=4, x2Offset=22))
    for name, strong, _, level in names:
        text = alt.Chart(alt.Data(values=[{"x": across[1], "y": level}])).encode(**places)
        weight, colour = (700, ACCENT) if strong else (400, INK)
        layers.append(text.mark_text(align="left", dx=26, fontWeight=weight, color=colour, text=name))
    return dress(alt.layer(*layers), title=title, subtitle=subtitle, height=height, width=FRAME)


def _line(
    alt: Any,  # noqa: ANN401
    points: Sequence[tuple[float, float]],
    top: float,
    places: dict[str, Any],
    *,
    dash: list[int],
    shape: str,
    strong: bool,
) -> list[Any]:
    """Return a line that ends at the frame, and its markers within the frame."""
    colour, width = (ACCENT, 3.0) if strong else (INK, 1.25)
    rows = [{"x": a, "y": b} for a, b in points]
    whole = alt.Chart(alt.Data(values=rows)).encode(**places)
    inside = alt.Chart(alt.Data(values=[row for row in rows if row["y"] <= top])).encode(**places)
    return [
        whole.mark_line(clip=True, color=colour, strokeWidth=width, strokeDash=dash),
        inside.mark_point(color=colour, shape=shape, size=60, filled=strong, opacity=1),
    ]


def ratio_map(
    rows: Sequence[str], columns: Sequence[str], ratios: Sequence[Sequence[float]], *, title: str, subtitle: str = ""
) -> Any:  # noqa: ANN401
    """Draw a field for each row and column with its ratio written in it; what was not measured (nan) stays empty.

    >>> chart = ratio_map(["dawa", "identity"], ["HEPTH"], [[1.0], [4.2]], title="Ratios")
    """
    same_length(rows=rows, ratios=ratios)
    if not rows or not columns or any(len(line) != len(columns) for line in ratios):
        raise InvalidParameter("a map needs one ratio for each row and column.")
    alt = altair()
    fields = [
        {"row": row, "column": column, "words": _words(ratio), "ground": ground, "ink": ink}
        for row, line in zip(rows, ratios, strict=True)
        for column, ratio in zip(columns, line, strict=True)
        if not math.isnan(ratio)
        for ground, ink in [_ground(ratio)]
    ]
    base = alt.Chart(alt.Data(values=fields)).encode(
        x=alt.X("column:N", sort=list(columns), title=None,
                axis=alt.Axis(orient="top", labelAngle=-40, labelAlign="left", grid=False, domain=False, ticks=False)),
        y=alt.Y("row:N", sort=list(rows), title=None, axis=alt.Axis(grid=False, domain=False, ticks=False)),
    )  # fmt: skip
    squares = base.mark_rect(stroke="white", strokeWidth=2).encode(color=alt.Color("ground:N", scale=None))
    words = base.mark_text(fontSize=12).encode(text="words:N", color=alt.Color("ink:N", scale=None))
    width, height = max(CELL * len(columns), 2 * CELL), 28 * len(rows)
    return dress(alt.layer(squares, words), title=title, subtitle=subtitle, height=height, width=width)


def _ticks(domain: tuple[float, float]) -> list[float]:
    """Return round numbers within a range: powers of ten, and between these where there are few.

    >>> _ticks((3.0, 40.0)), _ticks((0.5, 2000.0))
    ([5.0, 10.0, 20.0], [1.0, 10.0, 100.0, 1000.0])
    """
    low, high = (math.floor(math.log10(end)) for end in domain)
    steps = (1, 2, 5) if math.log10(domain[1] / domain[0]) < 2.5 else (1,)
    round_numbers = [float(f"{step}e{k}") for k in range(low, high + 1) for step in steps]
    return [number for number in round_numbers if domain[0] <= number <= domain[1]]


def _part(value: float, domain: tuple[float, float]) -> float:
    low, high, at = (math.log(v) for v in (*domain, value))
    return (at - low) / (high - low)


def _words(ratio: float) -> str:
    """Return a ratio in as few digits as it needs.

    >>> _words(1.0), _words(1.26), _words(13.4), _words(250.0)
    ('best', '1.26', '13', '250')
    """
    if ratio == 1.0:
        return "best"
    if not math.isfinite(ratio) or ratio >= 1e5:
        return "> 1e5"
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def _ground(ratio: float) -> tuple[str, str]:
    return next((ground, ink) for limit, ground, ink in GROUNDS if ratio <= limit)
