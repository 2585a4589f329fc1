"""A picture in the report: an SVG that can only draw, and the words below it."""

import re
from dataclasses import dataclass

from discreet.errors import InvalidInput

__all__ = ["Figure"]

TAGS = frozenset(
    [
        "svg",
        "g",
        "path",
        "line",
        "rect",
        "circle",
        "text",
        "tspan",
        "defs",
        "clippath",
        "title",
        "desc",
        "lineargradient",
        "stop",
    ]
)
TAG = re.compile(r"<\s*/?\s*([^\s/>]+)")
DANGER = re.compile(r"""[\s"'/](on\w+|href|xlink:href|src|style)\s*=|javascript:|url\(\s*['"]?(?!#)""", re.IGNORECASE)
NAMESPACE = re.compile(r'\sxmlns(:\w+)?="[^"]*"')
INNER = re.compile(r'\s(role="graphics-[a-z]+"|aria-(roledescription|label|hidden)="[^"]*")')


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """An inline SVG with its caption; refused unless it holds shapes and text alone.

    >>> Figure(svg="<svg><script>alert(1)</script></svg>", caption="no")
    Traceback (most recent call last):
    discreet.errors.InvalidInput: a figure must be an <svg> of shapes and text alone, and this one holds <script>.
    Make it with discreet.plots.svg(chart).
    """

    svg: str
    caption: str

    def __post_init__(self) -> None:
        tags = [tag.lower() for tag in TAG.findall(self.svg)]
        strange = sorted(set(tags) - TAGS)
        found = f"<{strange[0]}>" if strange else "no <svg>" if tags[:1] != ["svg"] else ""
        if not found and DANGER.search(self.svg):
            found = "an attribute that can act or fetch"
        if found:
            raise InvalidInput(
                f"a figure must be an <svg> of shapes and text alone, and this one holds {found}. "
                "Make it with discreet.plots.svg(chart)."
            )

    @property
    def inline(self) -> str:
        """The SVG for a place inside HTML, where name spaces are known; to a screen reader it is one picture."""
        root, end, rest = NAMESPACE.sub("", self.svg).partition(">")
        return root + end + INNER.sub("", rest)
