"""What the noise looks like: its probabilities, with the interval that holds 19 of 20 draws shaded."""

from collections.abc import Sequence
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.theme import ACCENT, INK, MUTED, PALE, altair, dress, same_length

__all__ = ["noise_distribution"]


def noise_distribution(
    values: Sequence[float],
    probabilities: Sequence[float],
    interval: tuple[float, float],
    *,
    title: str = "What the noise looks like",
    subtitle: str = "",
    axis: str = "noise added to the true answer",
    label: str = "19 of 20 draws fall in here",
) -> Any:  # noqa: ANN401  an altair chart
    """Draw one thin column for each value, dark inside the interval and pale outside it.

    >>> chart = noise_distribution([-1, 0, 1], [0.25, 0.5, 0.25], (-1, 1))
    """
    same_length(values=values, probabilities=probabilities)
    low, high = map(float, interval)
    if not low <= high:
        raise InvalidParameter(f"interval must run from low to high, got {interval!r}.")
    alt = altair()
    rows = [
        {"value": float(value), "probability": float(chance), "zero": 0.0, "inside": bool(low <= value <= high)}
        for value, chance in zip(values, probabilities, strict=True)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("value:Q", title=axis, axis=alt.Axis(grid=False, tickCount=9))
    )
    columns = base.mark_rule(strokeWidth=max(1.0, min(14.0, 480 / max(len(rows), 1)))).encode(
        y=alt.Y("probability:Q", title="probability", axis=alt.Axis(format="~%", tickCount=5, grid=False)),
        y2="zero:Q",
        color=alt.condition(alt.datum.inside, alt.value(ACCENT), alt.value(PALE)),
    )
    top = max((row["probability"] for row in rows), default=1.0)
    span = alt.Chart(
        alt.Data(values=[{"low": low, "high": high, "middle": (low + high) / 2, "zero": 0.0, "top": 1.1 * top}])
    )
    bracket = span.mark_rule(color=INK, strokeWidth=1.5).encode(x="low:Q", x2="high:Q", y="top:Q")
    edges = span.mark_rule(color=MUTED, strokeDash=[4, 3]).encode(y="zero:Q", y2="top:Q")
    words = span.mark_text(dy=-11, text=f"{label} ({_signed(low)} to {_signed(high)})").encode(x="middle:Q", y="top:Q")
    layers = alt.layer(columns, bracket, edges.encode(x="low:Q"), edges.encode(x="high:Q"), words)
    return dress(layers, title=title, subtitle=subtitle, height=240)


def _signed(value: float) -> str:
    return f"{value:+,.6g}".replace("-", "\N{MINUS SIGN}")
