"""The house style: dark ink, one accent, thin grid, generous margins, no information in colour alone."""

from importlib import import_module
from typing import Any

from discreet.errors import InvalidParameter, MissingExtra

__all__ = ["ACCENT", "GRID", "INK", "MUTED", "PALE", "WIDTH", "altair", "dress", "panels", "same_length"]

INK = "#1b2733"
MUTED = "#536170"
GRID = "#dfe4ea"
ACCENT = "#1f5fa8"
PALE = "#b9d0ea"

WIDTH = 640
FONT = "sans-serif"


def altair() -> Any:  # noqa: ANN401  altair is untyped and optional
    """Return the altair module, or say how to install it."""
    try:
        return import_module("altair")
    except ImportError as missing:
        raise MissingExtra("altair", "plots") from missing


def dress(chart: Any, *, title: str, subtitle: str = "", height: int = 300, width: int = WIDTH) -> Any:  # noqa: ANN401
    """Give a chart its title, size and the house style.

    The style travels inside the chart and no global theme is registered, so a notebook's own charts stay as they are.
    """
    heading = {"text": title, "subtitle": subtitle} if subtitle else {"text": title}
    return chart.properties(title=heading, width=width, height=height, description=title).configure(**_style())


def panels(chart: Any, *, title: str, subtitle: str = "") -> Any:  # noqa: ANN401
    """Give several charts side by side, sized already, one title and the house style."""
    heading = {"text": title, "subtitle": subtitle} if subtitle else {"text": title}
    return chart.properties(title=heading, description=title).configure(**_style())


def same_length(**columns: Any) -> None:  # noqa: ANN401
    """Check that columns of one picture have one length.

    >>> same_length(labels=["a", "b"], values=[1])
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: labels and values must have the same length, got 2 and 1.
    """
    lengths = [len(column) for column in columns.values()]
    if len(set(lengths)) > 1:
        *first, last = columns
        raise InvalidParameter(
            f"{', '.join(first)} and {last} must have the same length, "
            f"got {', '.join(map(str, lengths[:-1]))} and {lengths[-1]}."
        )


def _style() -> dict[str, Any]:
    return {
        "background": "transparent",
        "font": FONT,
        "padding": {"left": 4, "right": 16, "top": 8, "bottom": 8},
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": INK,
            "fontSize": 17,
            "fontWeight": 600,
            "offset": 18,
            "subtitleColor": MUTED,
            "subtitleFontSize": 13,
            "subtitlePadding": 6,
        },
        "axis": {
            "labelColor": INK,
            "labelFontSize": 13,
            "labelPadding": 6,
            "titleColor": MUTED,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
            "titlePadding": 12,
            "gridColor": GRID,
            "domainColor": MUTED,
            "tickColor": MUTED,
        },
        "legend": {
            "labelColor": INK,
            "labelFontSize": 13,
            "labelLimit": 360,
            "symbolSize": 700,
            "symbolStrokeWidth": 2,
            "orient": "top",
            "direction": "horizontal",
            "columnPadding": 28,
            "title": None,
            "offset": 14,
        },
        "text": {"font": FONT, "fontSize": 13, "color": INK},
    }
