"""A chart as SVG text: self-contained, without script, safe to place beside others in one page."""

import re
from hashlib import sha256
from html import escape
from importlib import import_module
from typing import Any

from discreet.errors import MissingExtra

__all__ = ["svg"]


def svg(chart: Any) -> str:  # noqa: ANN401  an altair chart
    """Return the picture as one ``<svg>`` element.

    Identifiers get a prefix made from the content: two pictures in one page would otherwise clip each other.
    """
    try:
        convert = import_module("vl_convert")
    except ImportError as missing:
        raise MissingExtra("vl-convert-python", "plots") from missing
    specification = chart.to_dict()
    text: str = convert.vegalite_to_svg(specification)
    words = escape(str(specification.get("description", "a chart")), quote=True)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{words}" ', 1)
    prefix = "p" + sha256(text.encode()).hexdigest()[:8] + "-"
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", text)
