"""The page about a benchmark: who was best where, in tables and pictures, and how to measure it again."""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.plots import theme
from discreet.report.figure import Figure
from discreet.report.finding import Fact, Rows
from discreet.report.page import template
from discreet.report.versions import versions

__all__ = ["Benchmark", "render_benchmark"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What was compared and what came out; ``remarks`` are paragraphs that follow the tables."""

    title: str
    verdict: str
    facts: Sequence[Fact] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Rows] = ()
    remarks: Sequence[str] = ()


def render_benchmark(benchmark: Benchmark, *, reproduce: str = "", date: str = "") -> str:
    """Return the page as HTML: one file, no script, nothing fetched.

    >>> "Histograms" in render_benchmark(Benchmark(title="Histograms, compared", verdict="One was best."))
    True
    """
    return str(
        template("benchmark.html").render(
            benchmark=benchmark,
            reproduce=reproduce,
            date=date,
            versions=versions(),
            theme=theme,
            title=benchmark.title,
        )
    )
