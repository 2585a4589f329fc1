"""The preview as one page: tables of errors, what other epsilons would buy, and twenty releases that never happened."""

from collections.abc import Sequence
from importlib.resources import files

from discreet import plots
from discreet.plots import Panel, theme
from discreet.publishing.foresight import Foreseen, Foresight
from discreet.publishing.simulation import Simulated
from discreet.publishing.words import accuracy, cost_in_words, keys_in_words, note, standing_in_words
from discreet.report import Figure
from discreet.report.page import template
from discreet.report.versions import versions
from discreet.session.cost import promise

__all__ = ["render_preview"]

ABREAST = 4
"""Columns that are drawn side by side."""


def render_preview(foresight: Foresight, *, reproduce: str = "", date: str = "") -> str:
    """Return the page as HTML: one file, no script, nothing fetched."""
    text = files("discreet.publishing").joinpath("preview.html").read_text(encoding="utf-8")
    page = template("base.html").environment.from_string(text)
    return str(
        page.render(
            title=foresight.source.file.title,
            description=foresight.source.file.description or "",
            date=date,
            reproduce=reproduce,
            cost=cost_in_words(foresight.epsilon, foresight.delta),
            epsilon=foresight.epsilon,
            delta=foresight.delta,
            standing=standing_in_words(foresight),
            warnings=foresight.warnings,
            size=foresight.source.file.dataset.size,
            releases=[_release(one) for one in foresight.releases],
            versions=versions(),
            theme=theme,
        )
    )


def _release(one: Foreseen) -> dict[str, object]:
    level = one.forecast.level
    return {
        "title": one.entry.heading,
        "query": one.forecast.query,
        "groups": keys_in_words(one),
        "cost": cost_in_words(one.forecast.epsilon, one.forecast.delta),
        "columns": [
            (column.name, column.measures, accuracy(column, level), note(column)) for column in one.forecast.columns
        ],
        "frontiers": _frontiers(one),
        "simulations": _simulations(one),
    }


def _frontiers(one: Foreseen) -> list[Figure]:
    """Return a picture for each column whose error is known beforehand."""
    if one.frontier is None:
        return []
    often = promise(one.forecast.level)
    return [
        Figure(
            svg=plots.svg(
                plots.error_against_epsilon(
                    one.frontier.epsilons,
                    {name: errors},
                    chosen=one.frontier.chosen,
                    title=name,
                    axis="error (±)",
                    width=250,
                    height=190,
                )
            ),
            caption=f"The error of {name} {often}, for less and for more epsilon than planned.",
        )
        for name, errors in one.frontier.errors.items()
    ]


def _simulations(one: Foreseen) -> list[Figure]:
    """Return pictures of twenty releases of invented numbers, some columns in each."""
    drawn = [shown for shown in one.simulated if shown.truth is not None and any(x is not None for x in shown.values)]
    return [_simulation(one, drawn[start : start + ABREAST]) for start in range(0, len(drawn), ABREAST)]


def _simulation(one: Foreseen, columns: Sequence[Simulated]) -> Figure:
    times = len(columns[0].values)
    panels = [
        Panel(name=c.column, values=c.values, lows=c.lows, highs=c.highs, amounts=False, mark=c.truth) for c in columns
    ]
    names = ", ".join(column.column for column in columns)
    said = f"{times} simulated releases of {names} around made-up numbers"
    picture = plots.intervals([str(n) for n in range(1, times + 1)], panels, description=said, names=44)
    covered = "; ".join(f"{column.column}: {column.covered}" for column in columns)
    caption = (
        f"Twenty releases that never happened, of a made-up group of {one.group:,} rows with numbers in the middle of "
        f"their bounds; no data was read. The noise is real, the dashed line is the made-up truth. Intervals that hold "
        f"it, of {times}: {covered}."
    )
    return Figure(svg=plots.svg(picture), caption=caption)
