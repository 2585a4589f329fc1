"""What accuracy each epsilon buys: error against epsilon, both on logarithmic scales."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.theme import ACCENT, INK, MUTED, WIDTH, altair, dress, same_length

__all__ = ["error_against_epsilon"]

COLOURS = (INK, ACCENT, MUTED, "#8a4b08", "#5b3a86", "#0b6b57")
DASHES = ([1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [14, 4], [4, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def error_against_epsilon(
    epsilons: Sequence[float],
    errors_by_name: Mapping[str, Sequence[float]],
    chosen: Mapping[str, float] | float | None = None,
    *,
    title: str = "What accuracy each epsilon buys",
    subtitle: str = "",
    axis: str = "error in 19 of 20 releases (±)",
    width: int = WIDTH,
    height: int = 300,
) -> Any:  # noqa: ANN401  an altair chart
    """Draw one line for each name; ``chosen`` marks the epsilon in use, one for all lines or one for each name.

    >>> chart = error_against_epsilon([0.1, 1.0], {"a count": [30, 3]}, chosen=0.1)
    """
    for name, errors in errors_by_name.items():
        same_length(epsilons=epsilons, **{name: errors})
        if not all(float(x) > 0 for x in (*epsilons, *errors)):
            raise InvalidParameter("epsilons and errors must be above 0 to stand on a logarithmic scale.")
    alt = altair()
    names = list(errors_by_name)
    if len(names) > len(SHAPES):
        raise InvalidParameter(f"at most {len(SHAPES)} lines stay readable in one picture, got {len(names)}.")
    rows = [
        {"name": name, "epsilon": float(epsilon), "error": float(error)}
        for name, errors in errors_by_name.items()
        for epsilon, error in zip(epsilons, errors, strict=True)
    ]
    x = alt.X(
        "epsilon:Q",
        title="epsilon (more privacy on the left)",
        scale=alt.Scale(type="log", nice=False),
        axis=_ticks(alt),
    )
    y = alt.Y("error:Q", title=axis, scale=alt.Scale(type="log"), axis=_ticks(alt))
    legend = {} if len(names) > 1 else {"legend": None}
    colours, dashes = alt.Scale(domain=names, range=list(COLOURS[: len(names)])), list(DASHES[: len(names)])
    colour = alt.Color("name:N", scale=colours, sort=names, title=None, **legend)
    dash = alt.StrokeDash("name:N", scale=alt.Scale(domain=names, range=dashes), sort=names, title=None, **legend)
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=colour, strokeDash=dash)
    layers = [base.mark_line(strokeWidth=2, clip=True)]
    for mark in _marks(rows, names, chosen):
        style = names.index(mark["name"])
        point = alt.Chart(alt.Data(values=[mark])).encode(x=x, y=y)
        layers.append(point.mark_point(size=110, filled=True, opacity=1, shape=SHAPES[style], color=COLOURS[style]))
        layers.append(point.mark_text(align="left", dx=8, dy=-10, fontWeight=600).encode(text="text:N"))
    return dress(alt.layer(*layers), title=title, subtitle=subtitle, height=height, width=width)


def _ticks(alt: Any) -> Any:  # noqa: ANN401
    return alt.Axis(format=",~r", values=[m * 10.0**k for k in range(-6, 10) for m in (1, 2, 5)], labelOverlap=True)


def _marks(
    rows: list[dict[str, Any]], names: list[str], chosen: Mapping[str, float] | float | None
) -> list[dict[str, Any]]:
    """Return the row of each line that lies nearest to its chosen epsilon, with its label."""
    if chosen is None:
        return []
    wanted = dict(chosen) if isinstance(chosen, Mapping) else dict.fromkeys(names, float(chosen))
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise InvalidParameter(f"chosen must name lines of the picture, got {', '.join(unknown)}.")
    marks = []
    for name, epsilon in wanted.items():
        line = [row for row in rows if row["name"] == name]
        nearest = min(line, key=lambda row: abs(row["epsilon"] - epsilon))
        marks.append({**nearest, "text": f"±{_rounded_up(nearest['error'])}"})
    return marks


def _rounded_up(error: float) -> str:
    """Write an error with three digits, rounded up.

    >>> _rounded_up(2258.1), _rounded_up(1.501), _rounded_up(24.0), _rounded_up(0.00012344)
    ('2,260', '1.51', '24', '0.000124')
    """
    places = 2 - math.floor(math.log10(error))
    up = math.ceil(round(error * 10.0**places, 6)) / 10.0**places
    return f"{up:,.0f}" if places <= 0 else f"{up:,.{places}f}".rstrip("0").rstrip(".")
