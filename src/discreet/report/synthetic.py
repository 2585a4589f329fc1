"""Pictures of synthetic rows, from what was released alone: each column beside what was measured, and associations.

The bars are the counts of the synthetic rows. The whiskers are the noisy measurements with their intervals, scaled to
as many rows as there are: where a bar misses its whisker the model and the measurement disagree, or chance did it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.noise.fast import Floats
from discreet.plots import svg
from discreet.plots.association import association_map
from discreet.plots.intervals import Panel, intervals
from discreet.report.drawing import NARROW, harmless
from discreet.report.figure import Figure
from discreet.session.answer import Answer
from discreet.session.picture import said
from discreet.session.text_table import shortened, visible

__all__ = ["association", "is_synthetic", "margins"]

MOST_BARS, MOST_COLUMNS, LABEL = 60, 16, 48
"""Bars and columns that stay readable in one picture, and characters that name one."""

WIDTH = 1.96


def is_synthetic(answer: Answer) -> bool:
    """Whether a released table is one of synthetic rows."""
    return answer.parameters.get("together") == "synthesis"


def margins(answer: Answer) -> tuple[Figure, ...]:
    """Return the counts of single columns, for a wide and a narrow page; nothing where there are no rows."""
    counts = _counts(answer)
    if not counts.sum():
        return ()
    told = answer.parameters.get("measured")
    measured: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    labels, values, lows, highs = [], [], [], []
    for name, column in answer.keys.items():
        sums = _sums(column, counts)
        known = _known(measured.get(name), sums, answer, name, float(counts.sum()))
        for place, (value, count) in enumerate(sums.items()):
            labels.append(harmless(shortened(f"{visible(name)}: {said(value, answer.empty)}", LABEL)))
            values.append(count)
            lows.append(known[place][0] if known else None)
            highs.append(known[place][1] if known else None)
    kept = [place for place, label in enumerate(labels) if labels.index(label) == place][:MOST_BARS]
    panel = Panel(
        name="rows",
        values=[values[i] for i in kept],
        lows=[lows[i] for i in kept],
        highs=[highs[i] for i in kept],
    )
    names = [labels[i] for i in kept]
    rest = f" The first {len(kept)} of {len(labels)} values." if len(kept) < len(labels) else ""
    whiskers = " Whiskers are the noisy counts that were measured, with their 95% intervals." if any(highs) else ""
    words = f"How many synthetic rows have each value of each column.{whiskers}{rest}"
    wide = intervals(names, [panel], description=words)
    narrow = intervals(names, [panel], description=words, width=NARROW, stacked=True)
    return Figure(svg=svg(wide), caption=words), Figure(svg=svg(narrow), caption=words)


def association(answer: Answer) -> tuple[Figure, ...]:
    """Return a map of how strongly pairs of columns go together in the synthetic rows; nothing for a single column."""
    names = list(answer.keys)[:MOST_COLUMNS]
    shown = [harmless(shortened(visible(name), 24)) for name in names]
    counts = _counts(answer)
    if len(names) < 2 or len(set(shown)) < len(shown) or not counts.sum():
        return ()
    strengths = [[cramer(answer.keys[a], answer.keys[b], counts) for b in names] for a in names]
    words = (
        "How strongly pairs of columns go together in the synthetic rows, from 0 (not at all) to 1: Cramér's V. Noise "
        "and what was not measured make it differ from that of the people."
    )
    chart = association_map(shown, strengths, title="Pairs of columns")
    return (Figure(svg=svg(chart), caption=words),)


def cramer(a: Sequence[object], b: Sequence[object], counts: Floats) -> float:
    """Return Cramér's V of two columns of rows that are there so often: 0 if they are independent, 1 at most.

    >>> cramer("xxyy", "uvuv", np.array([5.0, 5.0, 5.0, 5.0])), cramer("xy", "uv", np.array([5.0, 5.0]))
    (0.0, 1.0)
    """
    places = [{value: place for place, value in enumerate(dict.fromkeys(column))} for column in (a, b)]
    table = np.zeros((len(places[0]), len(places[1])))
    np.add.at(table, ([places[0][x] for x in a], [places[1][x] for x in b]), counts)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    return min(1.0, float(np.sqrt(((table - expected) ** 2 / expected).sum() / total / least)))


def _counts(answer: Answer) -> Floats:
    (column,) = answer.columns.values()
    return np.array([float(value) if isinstance(value, int) else 0.0 for value in column.value])


def _sums(column: Sequence[Any], counts: Floats) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for value, count in zip(column, counts.tolist(), strict=True):
        found[value] = found.get(value, 0.0) + count
    return dict(sorted(found.items(), key=lambda pair: (pair[0] is None, _order(pair[0]))))


def _order(value: Any) -> tuple[float, str]:  # noqa: ANN401  any key
    """Return what values are sorted by: bins by their lower edge, numbers by size, the rest by their letters."""
    text = str(value)
    start = text[1:].split(",", maxsplit=1)[0] if text.startswith("[") else text
    try:
        return float(start), text
    except ValueError:
        return float("inf"), text


def _known(
    told: Any,  # noqa: ANN401  what the answer says was measured
    sums: Mapping[Any, float],
    answer: Answer,
    name: str,
    rows: float,
) -> list[tuple[float, float]]:
    """Return the intervals of what was measured, for the values that occur, scaled to the number of rows."""
    labels = answer.parameters.get("labels")
    listed = labels.get(name) if isinstance(labels, Mapping) else None
    if not isinstance(told, Mapping) or not isinstance(listed, list) or len(listed) != len(told["counts"]):
        return []
    total = max(1.0, float(sum(told["counts"])))
    scale, off = rows / total, WIDTH * float(told["deviation"])
    places = {(type(value), value): place for place, value in enumerate(listed)}
    found = [told["counts"][places[type(value), value]] for value in sums]
    return [(max(0.0, (count - off) * scale), max(0.0, (count + off) * scale)) for count in found]
