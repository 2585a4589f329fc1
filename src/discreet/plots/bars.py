"""A released histogram: one bar for each group, with the range its noise may have moved it."""

from collections.abc import Sequence
from typing import Any

from discreet.plots.theme import INK, MUTED, PALE, altair, dress, same_length

__all__ = ["bars_with_error"]


def bars_with_error(
    labels: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    title: str,
    axis: str,
    *,
    subtitle: str = "",
) -> Any:  # noqa: ANN401  an altair chart
    """Draw horizontal bars in the order given, each with a whisker from its low to its high and its number beside it.

    >>> chart = bars_with_error(["Harbour"], [120], [113], [127], "People", "people")
    """
    same_length(labels=labels, values=values, lows=lows, highs=highs)
    alt = altair()
    rows = [
        {"label": str(label), "value": float(value), "low": float(low), "high": float(high), "number": f"{value:,.6g}"}
        for label, value, low, high in zip(labels, values, lows, highs, strict=True)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y(
            "label:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=10, labelLimit=220)
        ),
    )
    length = alt.X(
        "value:Q", title=axis, axis=alt.Axis(tickCount=6, format="~s" if _wide(highs) else ",~r", domain=False)
    )
    bars = base.mark_bar(color=PALE, stroke=MUTED, strokeWidth=0.75, height={"band": 0.62}).encode(x=length)
    whiskers = base.mark_rule(color=INK, strokeWidth=2).encode(x="low:Q", x2="high:Q")
    ends = base.mark_tick(color=INK, thickness=2, height=11)
    numbers = base.mark_text(align="left", dx=9, color=INK).encode(x="high:Q", text="number:N")
    layers = alt.layer(bars, whiskers, ends.encode(x="low:Q"), ends.encode(x="high:Q"), numbers)
    return dress(layers, title=title, subtitle=subtitle, height=max(34 * len(rows), 68))


def _wide(highs: Sequence[float]) -> bool:
    """Say whether the axis needs k and M instead of digits."""
    return max(map(float, highs), default=0.0) >= 100_000
