"""Self-contained HTML pages: what was published and what it promises, and what a plan costs before it runs."""

from discreet.report.costs import Comparison, Costs, render_costs
from discreet.report.figure import Figure
from discreet.report.page import render
from discreet.report.publication import Line, Publication, Published, render_publication
from discreet.report.release import Release

__all__ = [
    "Comparison",
    "Costs",
    "Figure",
    "Line",
    "Publication",
    "Published",
    "Release",
    "render",
    "render_costs",
    "render_publication",
]
