"""Releases of a table that does not exist: real noise around invented numbers, to see what a reader will see.

The invented table has the declared number of people spread evenly over the groups, and every number in the middle of
its bounds. The noise is drawn by the plan's own mechanisms. Nothing here looks at data.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.mechanisms import Gaussian, Laplace
from discreet.session.columns import Column, Ranked
from discreet.session.plan import Plan
from discreet.tables.measures import UNIT, Cells, Sum

if TYPE_CHECKING:
    from discreet.session.joint import Joint

__all__ = ["Simulated", "simulate"]

TIMES = 20
TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Simulated:
    """One column of one invented group: what is true there, and what twenty releases would say.

    ``truth`` is None for a column that is a choice or is not defined there.
    """

    column: str
    truth: float | None
    values: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]

    @property
    def covered(self) -> int:
        """How many of the intervals hold the truth."""
        pairs = zip(self.lows, self.highs, strict=True)
        return sum(self.truth is not None and _within(low, self.truth, high) for low, high in pairs)


def simulate(plan: Plan, rows: int, times: int = TIMES) -> list[Simulated]:
    """Return invented releases of every column of a plan, for a group of so many rows."""
    exact = {name: _invented(plan, name, rows) for name in plan.measures}
    if plan.joint is not None:
        return [_together(plan, plan.joint, rows, times)]
    drawn = {
        name: np.array([exact[name]] * times, dtype=object)
        if name in plan.known
        else exact[name] + plan.noise[name].draw(times)
        for name in plan.measures
    }
    found: list[Simulated] = []
    for column in plan.columns:
        if isinstance(column, Ranked):
            found += _ranked(plan, column, rows, times)
        else:
            found.append(_computed(plan, column, exact, drawn))
    return found


def _together(plan: Plan, joint: "Joint", rows: int, times: int) -> Simulated:
    """Release a count with as much noise as the least accurate of the counts that are made together has."""
    deviation = max(joint.deviations().values())
    beta = 1 - plan.settings.level
    if joint.kind == "laplace":
        drawn = Laplace(sensitivity=1, scale=max(deviation, TINY) / 2**0.5).release(np.full(times, float(rows)))
    else:
        drawn = Gaussian(sensitivity=1, sigma=max(deviation, TINY)).release(np.full(times, float(rows)))
    off = joint.error(beta)
    values = [float(value) for value in drawn]
    lows, highs = (value - off for value in values), (value + off for value in values)
    return Simulated(plan.columns[0].name, float(rows), tuple(values), tuple(lows), tuple(highs))


def _invented(plan: Plan, name: str, rows: int) -> int:
    """Return a measure of the invented group, on its grid: counts are of its rows, sums of rows in the middle."""
    measure = plan.measures[name]
    if isinstance(measure, Sum):
        return rows * ((measure.grid.lowest + measure.grid.highest) // 2)
    return plan.known.get(name, rows)


def _computed(plan: Plan, column: Column, exact: dict[str, int], drawn: dict[str, np.ndarray]) -> Simulated:
    steps = {name: float(plan.measures[name].step) for name in column.inputs}
    beta = 1 - plan.settings.level
    box = column.estimate({n: drawn[n].astype(np.float64) * steps[n] for n in column.inputs}, plan.error, beta)
    true = column.estimate({n: np.array([float(exact[n]) * steps[n]]) for n in column.inputs}, lambda *_: 0.0, beta)
    (truth,) = _finite(true.value.tolist())
    return Simulated(
        column.name, truth, _finite(box.value.tolist()), _finite(box.low.tolist()), _finite(box.high.tolist())
    )


def _ranked(plan: Plan, column: Ranked, rows: int, times: int) -> list[Simulated]:
    """Release the ranks of rows that are spread evenly over all cells; top lists choose names and are left out."""
    if column.cells.grid is None:
        return []
    histograms = [_even(column.cells, rows)] * times
    released = plan.ranks[column.name].release(histograms)
    low, high = column.cells.grid.value(column.cells.grid.lowest), column.cells.grid.value(column.cells.grid.highest)
    truths: list[float | None] = [low + float(share) * (high - low) for share in column.options]
    truths = truths or [None] * len(released)
    return [
        Simulated(name, truth, _numbers(one.value), _numbers(one.low), _numbers(one.high))
        for (name, one), truth in zip(released.items(), truths, strict=True)
    ]


def _even(cells: Cells, rows: int) -> tuple[np.ndarray, np.ndarray]:
    assert cells.grid is not None  # noqa: S101  top lists were left out
    count = min(rows, cells.grid.highest - cells.grid.lowest + 1)
    places = np.linspace(cells.grid.lowest, cells.grid.highest, count).round().astype(np.int64)
    places, times = np.unique(places, return_counts=True)
    each = np.full(len(places), rows * UNIT // len(places), dtype=np.int64)
    return places, np.maximum(each, times)


def _finite(values: Iterable[float]) -> tuple[float | None, ...]:
    return tuple(value if np.isfinite(value) else None for value in values)


def _numbers(values: Iterable[object]) -> tuple[float | None, ...]:
    return tuple(float(value) if isinstance(value, int | float) else None for value in values)


def _within(low: float | None, truth: float, high: float | None) -> bool:
    return (low is None or low <= truth) and (high is None or truth <= high)
