"""The page about an attack or a benchmark: what was found, what to do about it, how to repeat it."""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.plots import theme
from discreet.report.figure import Figure
from discreet.report.page import template
from discreet.report.versions import versions

__all__ = ["Fact", "Finding", "Rows", "render_finding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One number that a reader should take home, with what it is and what it means."""

    name: str
    value: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A table: what it is about, its column names, its rows; all columns but the first are numbers."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found; ``remarks`` are paragraphs that follow the pictures, ``advice`` a list of what to do.

    ``kind`` stands above the title, and ``promise`` below everything: what the page does not hold.
    """

    title: str
    verdict: str
    facts: Sequence[Fact] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Rows] = ()
    protection: str = ""
    advice: Sequence[str] = ()
    remarks: Sequence[str] = ()
    source: str = ""
    kind: str = "Privacy attack"
    promise: str = "It holds no value of any cell that was read."


def render_finding(finding: Finding, *, reproduce: str = "", date: str = "") -> str:
    """Return the page as HTML: one file, no script, nothing fetched.

    >>> "Found again" in render_finding(Finding(title="Found again", verdict="Half of the people were named."))
    True
    """
    return str(
        template("finding.html").render(
            finding=finding, reproduce=reproduce, date=date, versions=versions(), theme=theme, title=finding.title
        )
    )
