"""Curves in one frame, each named where it ends: no legend to look up, nothing told by colour alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from discreet.errors import InvalidParameter
from discreet.plots.theme import ACCENT, INK, MUTED, altair, dress, same_length

__all__ = ["Axis", "Curve", "Mark", "curves"]

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASH = [6, 4]
FRAME = 440
ROOM = 0.1
"""Part of the height that is kept free below all lines where words stand at the foot."""

GAP = 17.0
"""Pixels between the base lines of two names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line: ``strong`` for the one that matters, ``dashed`` for what proves nothing or only compares."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    strong: bool = False
    dashed: bool = False
    markers: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What an axis measures, in words, and whether it is logarithmic.

    ``power`` writes 1e-5 instead of 0.00001; ``whole`` has ticks at whole numbers alone.
    """

    title: str
    log: bool = False
    power: bool = False
    whole: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point of the picture with words: right above it, left below it, at the foot of its line, or in the corner."""

    x: float
    y: float
    text: str
    place: Literal["right", "left", "foot", "corner"] = "right"


def curves(
    lines: Sequence[Curve],
    x: Axis,
    y: Axis,
    *,
    title: str,
    subtitle: str = "",
    marks: Sequence[Mark] = (),
    height: int = 320,
) -> Any:  # noqa: ANN401  an altair chart
    """Draw lines with their names at their right ends. What a logarithm cannot show is left out.

    >>> steps = Curve(name="basic", xs=[1, 10, 100], ys=[0.1, 1, 10])
    >>> chart = curves([steps], Axis(title="steps", log=True), Axis(title="epsilon", log=True), title="Growth")
    """
    for line in lines:
        same_length(xs=line.xs, ys=line.ys)
    kept = {line.name: _points(line, x, y) for line in lines}
    if len(kept) < len(lines) or not any(kept.values()):
        raise InvalidParameter("a picture needs lines with different names, and points that can be drawn.")
    if len(lines) > len(SHAPES):
        raise InvalidParameter(f"at most {len(SHAPES)} lines stay readable in one picture, got {len(lines)}.")
    alt = altair()
    across = _domain([p for points in kept.values() for p, _ in points], x)
    up = _domain([p for points in kept.values() for _, p in points], y)
    if y.low is None and any(mark.place == "foot" for mark in marks):
        up = _value((1 + ROOM) * height, up, y.log, height), up[1]
    places = {
        "x": alt.X("x:Q", title=x.title, scale=_scale(alt, x, across), axis=_axis(alt, x, across)),
        "y": alt.Y("y:Q", title=y.title, scale=_scale(alt, y, up), axis=_axis(alt, y, up)),
    }
    layers = [_drop(alt, mark, across, up, places) for mark in marks]
    plain = 0
    for line in sorted(lines, key=lambda line: line.strong):
        rows = [{"x": a, "y": b} for a, b in kept[line.name]]
        if not rows:
            continue
        shape = SHAPES[plain % len(SHAPES)]
        plain += not line.strong
        layers += _line(alt, line, rows, shape, places)
    layers += _names(alt, kept, {line.name: line.strong for line in lines}, (across, up), y.log, height, places)
    for mark in marks:
        point = alt.Chart(alt.Data(values=[{"x": mark.x, "y": mark.y}])).encode(**places)
        layers.append(point.mark_point(size=90, filled=True, opacity=1, color=INK))
        layers.append(_words(alt, mark, across, up, x.log, places))
    return dress(alt.layer(*layers), title=title, subtitle=subtitle, height=height, width=FRAME)


def _words(
    alt: Any,  # noqa: ANN401
    mark: Mark,
    across: tuple[float, float],
    up: tuple[float, float],
    log: bool,
    places: dict[str, Any],
) -> Any:  # noqa: ANN401
    """Return the words of a mark where nothing else stands."""
    at, align, dx, dy = {
        "right": ((mark.x, mark.y), "left", 9, -11),
        "left": ((mark.x, mark.y), "right", -9, 14),
        "foot": ((mark.x, up[0]), "left", 7, -9),
        "corner": ((across[1], up[1]), "right", -8, 16),
    }[mark.place]
    if mark.place == "foot" and _part(mark.x, across, log) > 0.65:
        align, dx = "right", -7
    base = alt.Chart(alt.Data(values=[{"x": at[0], "y": at[1]}])).encode(**places)
    return base.mark_text(align=align, dx=dx, dy=dy, fontWeight=600, text=mark.text)


def _points(line: Curve, x: Axis, y: Axis) -> list[tuple[float, float]]:
    """Return the points that can be drawn, in order of x."""
    pairs = sorted((float(a), float(b)) for a, b in zip(line.xs, line.ys, strict=True))
    return [
        (a, b)
        for a, b in pairs
        if math.isfinite(a)
        and math.isfinite(b)
        and (a > 0 or not x.log)
        and (b > 0 or not y.log)
        and (y.low is None or b >= y.low)
        and (y.high is None or b <= y.high)
    ]


def _domain(values: list[float], axis: Axis) -> tuple[float, float]:
    low = min(values) if axis.low is None else axis.low
    high = max(values) if axis.high is None else axis.high
    if low == high:
        low, high = (low / 2, high * 2) if axis.log else (low - 0.5, high + 0.5)
    return low, high


def _scale(alt: Any, axis: Axis, domain: tuple[float, float]) -> Any:  # noqa: ANN401
    return alt.Scale(type="log" if axis.log else "linear", domain=list(domain), nice=False, zero=False)


def _axis(alt: Any, axis: Axis, domain: tuple[float, float]) -> Any:  # noqa: ANN401
    if not axis.log:
        return alt.Axis(tickCount=6, format=",~r", **({"tickMinStep": 1} if axis.whole else {}))
    decades = math.log10(domain[1] / domain[0])
    factors = (1, 2, 5) if decades < 2.5 else (1,)
    every = max(1, math.ceil(decades / 8))
    first, last = math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1]))
    ticks = [m * 10.0**k for k in range(first, last + 1) if k % every == 0 or decades < 2.5 for m in factors]
    if axis.power:
        words = "datum.value == 1 ? '1' : format(datum.value, '~e')"
        return alt.Axis(labelExpr=words, values=ticks, labelOverlap=True)
    return alt.Axis(format=",~r", values=ticks, labelOverlap=True)


def _line(alt: Any, line: Curve, rows: list[dict[str, float]], shape: str, places: dict[str, Any]) -> list[Any]:  # noqa: ANN401
    base = alt.Chart(alt.Data(values=rows)).encode(**places)
    colour, width = (ACCENT, 3.25) if line.strong else (MUTED, 1.5)
    dash = DASH if line.dashed else [1, 0]
    drawn = [base.mark_line(color=colour, strokeWidth=width, strokeDash=dash, clip=True)]
    if line.markers and not line.strong:
        some = rows[:: max(1, len(rows) // 5)]
        points = alt.Chart(alt.Data(values=some)).encode(**places)
        drawn.append(points.mark_point(shape=shape, size=46, filled=True, opacity=1, color=colour, clip=True))
    return drawn


def _drop(alt: Any, mark: Mark, across: tuple[float, float], up: tuple[float, float], places: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return thin lines from a mark to both axes."""
    corner = [
        {"x": across[0], "y": mark.y, "x2": mark.x, "y2": mark.y},
        {"x": mark.x, "y": up[0], "x2": mark.x, "y2": mark.y},
    ]
    rules = alt.Chart(alt.Data(values=corner)).encode(**places, x2="x2:Q", y2="y2:Q")
    return rules.mark_rule(color=MUTED, strokeDash=[2, 3])


def _names(
    alt: Any,  # noqa: ANN401
    kept: dict[str, list[tuple[float, float]]],
    strong: dict[str, bool],
    domains: tuple[tuple[float, float], tuple[float, float]],
    log: bool,
    height: int,
    places: dict[str, Any],
) -> list[Any]:
    """Return the names beside the frame, apart from each other, and a thin line from each to where its curve ends."""
    ends = [(name, *points[-1]) for name, points in kept.items() if points]
    wanted = [height * (1 - _part(b, domains[1], log)) for _, _, b in ends]
    found = apart(wanted, GAP, height)
    leaders, names = [], []
    for (name, end, value), place in zip(ends, found, strict=True):
        level = _value(place, domains[1], log, height)
        leaders.append({"x": end, "y": value, "x2": domains[0][1], "y2": level})
        names.append((name, {"x": domains[0][1], "y": level}))
    rules = alt.Chart(alt.Data(values=leaders)).encode(**places, x2="x2:Q", y2="y2:Q")
    layers = [rules.mark_rule(color=MUTED, strokeWidth=0.75, xOffset=3, x2Offset=12)]
    for name, row in names:
        text = alt.Chart(alt.Data(values=[row])).encode(**places)
        weight, colour = (700, ACCENT) if strong[name] else (400, INK)
        layers.append(text.mark_text(align="left", dx=16, fontWeight=weight, color=colour, text=name))
    return layers


def apart(wanted: Sequence[float], gap: float, size: float) -> list[float]:
    """Return places at least a gap apart and inside ``0..size``, near those wanted and in their order.

    >>> apart([10, 11, 50], 15, 100)
    [3.0, 18.0, 50.0]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups: list[list[float]] = []  # each: sum of the wanted starts, members
    for rank, i in enumerate(order):
        groups.append([wanted[i] - gap * rank, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, members = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += members
    starts = [group[0] / group[1] for group in groups for _ in range(int(group[1]))]
    most = size - gap * (len(order) - 1)
    placed = [0.0] * len(order)
    for rank, i in enumerate(order):
        placed[i] = min(max(starts[rank], 0.0), max(most, 0.0)) + gap * rank
    return placed


def _part(value: float, domain: tuple[float, float], log: bool) -> float:
    """Return where a value lies between the ends of an axis, as a part of its length."""
    low, high, at = (math.log(v) if log else v for v in (*domain, value))
    return (at - low) / (high - low)


def _value(pixel: float, domain: tuple[float, float], log: bool, height: int) -> float:
    low, high = (math.log(v) if log else v for v in domain)
    at = high - pixel / height * (high - low)
    return math.exp(at) if log else at
