"""One self-contained HTML report: what was published, how accurate it is, what it promises, what it does not."""

from discreet.report.figure import Figure
from discreet.report.page import render
from discreet.report.release import Release

__all__ = ["Figure", "Release", "render"]
