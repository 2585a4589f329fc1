"""The picture of a released table: its first rows, for a wide page and for a telephone."""

from collections.abc import Sequence

from discreet.plots import svg
from discreet.plots.intervals import WIDE, Panel, intervals
from discreet.report.figure import DANGER, Figure
from discreet.session.answer import Answer
from discreet.session.cost import interval
from discreet.session.estimates import Estimates
from discreet.session.picture import said
from discreet.session.text_table import shortened, visible

__all__ = ["NARROW", "drawable", "even", "harmless", "pictures", "sides"]

DRAWN = 40
PANELS = 3
LABEL = 60
"""Rows and columns that stay readable in one picture, and characters that name a row."""

NARROW = 330
"""The width of a picture for a telephone."""

ALIKE = {ord("="): "\N{FULLWIDTH EQUALS SIGN}", ord(":"): "\N{RATIO}", ord("("): "\N{FULLWIDTH LEFT PARENTHESIS}"}


def drawable(answer: Answer) -> list[str]:
    """Return the columns that are drawn: the first that hold numbers."""
    columns = answer.columns.items()
    return [name for name, e in columns if not e.is_text and any(value is not None for value in e.value)][:PANELS]


def pictures(answer: Answer, *, names: float) -> tuple[Figure, ...]:
    """Return the first rows drawn twice, for a wide and a narrow page; nothing where there is nothing to compare.

    ``names`` is the share of the wide picture that is left for the names of rows.
    """
    columns = {name: answer.columns[name] for name in drawable(answer)}
    rows = range(min(len(answer), DRAWN))
    if not columns or len(rows) < 2:
        return ()
    panels = [
        Panel(
            name=harmless(visible(name)),
            values=[_float(e.value[i]) for i in rows],
            lows=[_float(e.low[i]) for i in rows],
            highs=[_float(e.high[i]) for i in rows],
            amounts=e.is_whole or even([side for pair in sides(e) for side in pair]),
        )
        for name, e in columns.items()
    ]
    labels, words = _labels(answer, rows), _caption(answer, list(columns), len(rows))
    wide = intervals(labels, panels, description=words, names=WIDE * names)
    narrow = intervals(labels, panels, description=words, width=NARROW, stacked=True)
    return Figure(svg=svg(wide), caption=words), Figure(svg=svg(narrow), caption=words)


def sides(e: Estimates) -> list[tuple[float, float]]:
    """Return how far each interval goes below its number and above."""
    return [
        (float(value - low), float(high - value))
        for value, low, high in zip(e.value, e.low, e.high, strict=True)
        if not (value is None or isinstance(value, str) or low is None or high is None)
    ]


def even(lengths: Sequence[float]) -> bool:
    """Say whether all intervals are equally long, as those of counts and sums are."""
    return bool(lengths) and max(lengths) <= min(lengths) * 1.001


def _labels(answer: Answer, rows: Sequence[int]) -> list[str]:
    """Return what names each row, all different."""
    used: dict[str, int] = {}
    labels = []
    for i in rows:
        text = harmless(shortened(", ".join(said(values[i], answer.empty) for values in answer.keys.values()), LABEL))
        used[text] = used.get(text, 0) + 1
        labels.append(text if used[text] == 1 else f"{text} ({used[text]})")
    return labels


def _caption(answer: Answer, columns: Sequence[str], rows: int) -> str:
    *first, last = columns
    names = f"{', '.join(first)} and {last}" if first else last
    drawn = f"The first {rows} of {len(answer):,} rows" if rows < len(answer) else f"All {rows} rows"
    told = harmless(visible(f"{names} by {', '.join(answer.keys)}"))
    return f"{drawn}: {told}, each number with its {interval(answer.level)}. The table below has the numbers."


def _float(value: float | str | None) -> float | None:
    """Return a number that can be drawn; whole numbers beyond all floats cannot."""
    try:
        return None if value is None else float(value)
    except OverflowError:
        return None


def harmless(text: str) -> str:
    """Return a text for a picture, which refuses words that would act in markup: with signs that look alike."""
    return DANGER.sub(lambda found: found[0].translate(ALIKE), text)
