"""From estimates to whole counts that nowhere disagree, level by level from the top.

Abowd and others, "The 2020 Census Disclosure Avoidance System TopDown Algorithm", Harvard Data Science Review 2022. The
top is made non-negative and whole first. Then the children of every node are fitted together: among all tables without
negative entries that sum to their parent and have the exact totals, the one closest to the estimates, each direction
weighed by how precisely it was measured. That is a quadratic program, solved for all nodes of a level at once by the
alternating direction method: with equal weights for siblings the equations have a closed solution, and the signs are
clipped. Last, each family is rounded with its sums kept; children then sum to their parent exactly, whatever the
solver did.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.synthetic.consistency.total import project_total
from discreet.synthetic.consistency.tree import Floats, Places, add_up
from discreet.synthetic.hierarchy.bases import table_sums
from discreet.synthetic.hierarchy.estimation import Estimation
from discreet.synthetic.rounding import largest_remainder, round_margins

__all__ = ["Clock", "Exact", "top_down"]

Integers = npt.NDArray[np.int64]

STEPS = 300
CLOSE = 1e-3
"""Counts that move less than this between two steps are near enough to be rounded."""

RELAXED = 1.7
STIFFNESS = 3.0
"""How hard signs pull, in units of the precision; convergence takes some fifty steps around here, hundreds far off."""

BALANCED = 60
"""How often rows and columns of a family are scaled in turn so that both have their sums."""


@dataclass(slots=True)
class Clock:
    """When the work has to end, whether it was cut short, and who is told how far it is."""

    deadline: float | None = None
    progress: Callable[[str, int, int], None] | None = None
    complete: bool = True

    def late(self) -> bool:
        """Tell whether time is up, and remember that something was cut short."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.complete = False
            return True
        return False

    def tell(self, phase: str, done: int, total: int) -> None:
        """Tell how many parts of a phase are done."""
        if self.progress is not None:
            self.progress(phase, done, total)


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """The exact totals of a level: which cells belong to which entry, and each node's entries."""

    labels: Places
    totals: Integers


def top_down(
    estimates: Sequence[Floats],
    parents: Sequence[Places],
    estimation: Estimation,
    exact: Sequence[Exact | None],
    nested: Sequence[Sequence[Places]],
    clock: Clock,
) -> tuple[Integers, ...]:
    """Return whole counts of all nodes; ``nested`` lists for each level the tables to be kept when rounding."""
    counts: list[Integers] = []
    for level, target in enumerate(estimates):
        parent = parents[level - 1] if level else None
        above = counts[-1] if level else None
        fitted = fit(target, estimation, level, parent, above, exact[level], clock)
        clock.tell("fit", level + 1, len(estimates))
        if parent is None or above is None:
            counts.append(_round_top(fitted, exact[level]))
        else:
            counts.append(_round_families(fitted, parent, above, exact[level], nested[level], clock))
        clock.tell("round", level + 1, len(estimates))
    return tuple(counts)


def fit(
    target: Floats,
    estimation: Estimation,
    level: int,
    parent: Places | None,
    above: Integers | None,
    exact: Exact | None,
    clock: Clock,
) -> Floats:
    """Return tables without negative entries, close to the target, that keep all sums nearly."""
    times, solver, typical = estimation.metric(level)
    r = STIFFNESS * typical
    solve = solver(r)
    pull = times(target)
    bound = None if exact is None else _bound(exact, solve)
    children = None if parent is None else np.bincount(parent)[:, None]
    y, u = np.maximum(target, 0.0), np.zeros_like(target)
    for _ in range(STEPS):
        x = solve(pull + r * (y - u))
        if exact is not None and bound is not None:
            x = x - (table_sums(x, exact.labels) - exact.totals) @ bound
        if parent is not None and above is not None and children is not None:
            x = x + ((above - np.asarray(add_up(x, parent, len(above)), np.float64)) / children)[parent]
        moved = RELAXED * x + (1 - RELAXED) * y
        after = np.maximum(moved + u, 0.0)
        u = u + moved - after
        change = max(float(np.abs(after - y).max()), float(np.abs(after - x).max()))
        y = after
        if change < CLOSE or clock.late():
            break
    return y


def _bound(exact: Exact, solve: Callable[[Floats], Floats]) -> Floats:
    """Return the matrix that turns what a table lacks into the closest change of its cells."""
    rows = np.zeros((exact.totals.shape[1], exact.labels.size))
    rows[exact.labels, np.arange(exact.labels.size)] = 1.0
    solved = solve(rows)
    return np.asarray(np.linalg.solve(table_sums(solved, exact.labels), solved), dtype=np.float64)


def _round_top(fitted: Floats, exact: Exact | None) -> Integers:
    if exact is None:
        return largest_remainder(fitted, np.rint(fitted.sum(axis=1)).astype(np.int64))
    counts = np.zeros(fitted.shape, dtype=np.int64)
    for entry in range(exact.totals.shape[1]):
        part = exact.labels == entry
        totals = exact.totals[:, entry]
        counts[:, part] = largest_remainder(project_total(fitted[:, part], totals), totals)
    return counts


def _round_families(
    fitted: Floats,
    parent: Places,
    above: Integers,
    exact: Exact | None,
    nested: Sequence[Places],
    clock: Clock,
) -> Integers:
    counts = np.zeros(fitted.shape, dtype=np.int64)
    order = np.argsort(parent, kind="stable")
    for node, family in enumerate(np.split(order, np.cumsum(np.bincount(parent))[:-1])):
        totals = above[node]
        held = totals > 0
        if not held.any():
            continue
        table = project_total(fitted[family][:, held], totals[held], axis=0)
        rows = None if exact is None else exact.totals[family]
        groups = None if exact is None else exact.labels[held]
        if rows is not None and groups is not None:
            table = balanced(table, rows, groups, totals[held])
        late = clock.late()
        rounded = round_margins(
            table,
            columns=totals[held],
            rows=rows,
            groups=groups,
            nested=[] if late else [labels[held] for labels in nested],
            deadline=clock.deadline,
        )
        counts[np.ix_(family, held)] = rounded
    return counts


def balanced(table: Floats, rows: Integers, groups: Places, columns: Integers) -> Floats:
    """Scale rows and columns in turn (Deming and Stephan 1940) so that a table that nearly has its sums has them.

    >>> balanced(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1], [3]]), np.array([0, 0]), np.array([2, 2])).tolist()
    [[0.5, 0.5], [1.5, 1.5]]
    """
    # A row that must hold somebody and has no entry yet gets a little of every column.
    table = table + 1e-6 * columns / max(1, len(table))
    for _ in range(BALANCED):
        for entry in np.unique(groups).tolist():
            part = groups == entry
            sums = table[:, part].sum(axis=1)
            share = np.divide(rows[:, entry], sums, out=np.zeros_like(sums), where=sums > 0)
            table[:, part] *= share[:, None]
        sums = table.sum(axis=0)
        table *= np.divide(columns, sums, out=np.zeros_like(sums), where=sums > 0)
    return np.asarray(table)
