"""Running a plan: noise is drawn, the engine aggregates, the two are added.

By now the loss has been charged. Nothing here may refuse or fail in a way that an analyst could tell from data, so
whatever an engine raises becomes one error of fixed words, and its text goes to the curator's log alone.
"""

import logging
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import ReleaseFailed
from discreet.noise import source
from discreet.session.answer import Answer
from discreet.session.boxes import Box, Floats
from discreet.session.columns import Column, Ranked
from discreet.session.estimates import Estimates
from discreet.session.plan import Plan
from discreet.session.progress import Watcher
from discreet.session.sparse import Sparse
from discreet.tables.bounding import SAFE
from discreet.tables.engines import Engine
from discreet.tables.kinds import Value
from discreet.tables.measures import Cells, Distinct

__all__ = ["run"]

LOG = logging.getLogger("discreet.curator")
LOG.addHandler(logging.NullHandler())  # whoever configures logging reads it; it is never printed by itself

Keys = tuple[Value, ...]

RELEASED = "released"
"""The noisy count of a group that was shown because of it."""


def run(plan: Plan, engine: Engine, watcher: Watcher) -> Answer:
    """Release a plan that has been charged."""
    private = source().private
    made = None
    try:
        made = _Run(plan, engine, watcher).answer()
    except Exception:
        LOG.exception("a release failed after it was charged")
    if made is None:  # raised here, the error holds no trace of the engine's own
        raise ReleaseFailed
    keys, columns, notes, extra = made
    return Answer(
        keys=keys,
        columns=columns,
        level=plan.settings.level,
        loss=plan.loss,
        parameters={**plan.parameters, **extra},
        notes=notes,
        private=private,
    )


class _Run:
    def __init__(self, plan: Plan, engine: Engine, watcher: Watcher) -> None:
        self.plan, self.engine, self.watcher = plan, engine, watcher
        own = plan.public_keys is not None and plan.joint is None
        self.drawn = self._noise(len(plan.public_keys or ())) if own else {}
        self.members = 0

    def _noise(self, size: int, *, private: bool = False) -> dict[str, npt.NDArray[np.object_]]:
        return {name: noise.draw(size, private=private) for name, noise in self.plan.noise.items()}

    def answer(self) -> tuple[dict[str, tuple[Any, ...]], dict[str, Estimates], tuple[str, ...], dict[str, object]]:
        plan = self.plan
        totals = self._totals()
        extra: dict[str, object] = {}
        if plan.joint is not None:
            (measure,), (counts,) = plan.measures, plan.columns
            counted = {group: values[measure] for group, values in totals.items()}
            with self.watcher.working() as tell:
                (made, estimates), notes = plan.joint.publish(counted, counts.name, 1 - plan.settings.level, tell)
            return made, estimates, (*plan.notes, *notes), extra
        groups = list(plan.public_keys or ())
        if plan.public_keys is None:
            groups = sorted(totals, key=_sortable)  # an order that does not come from the data
            self.drawn = {} if isinstance(plan.selection, Sparse) else self._noise(len(groups), private=True)
            if plan.group_count is not None:
                there = self.members + int(plan.group_count.draw(1)[0])
                extra["groups_not_shown"] = max(0, there - len(groups))
        noisy = self._noisy(groups, totals)
        columns: dict[str, Estimates] = {}
        for column in plan.columns:
            if isinstance(column, Ranked):
                columns |= plan.ranks[column.name].release(self._histograms(column.cells, groups))
            else:
                columns[column.name] = self._estimates(column, noisy)
        keys = {name: tuple(group[i] for group in groups) for i, name in enumerate(plan.key_names)}
        return keys, columns, plan.notes, extra

    def _totals(self) -> dict[Keys, dict[str, int]]:
        """Return the exact measures of every group that has rows and, if it is private, may be shown."""
        plan = self.plan
        together = [m for m in plan.measures.values() if not isinstance(m, Distinct)]
        table = self._run(plan.rows.totals(together))
        if plan.rows.bounding.key is None and bool((_whole(table, "units") > SAFE).any()):
            table = self._run(plan.rows.totals(together, wide=True))
        if isinstance(plan.selection, Sparse):
            table = self._revealed(table, plan.selection)
        elif plan.selection is not None:
            table = table.filter(self._chosen(_whole(table, "units")))
        found = self._read(table)
        for measure in plan.measures.values():
            if isinstance(measure, Distinct):
                for group, values in self._read(self._run(plan.rows.distinct(measure))).items():
                    if group in found or plan.selection is None:
                        found.setdefault(group, {"units": 0}).update(values)
        return found

    def _chosen(self, units: npt.NDArray[np.int64]) -> Any:  # noqa: ANN401  an Arrow array
        """Return which private groups may be shown: most are not, and never become values of Python."""
        import pyarrow as pa

        selection = self.plan.selection
        assert selection is not None and not isinstance(selection, Sparse)  # noqa: S101, PT018  one that only chooses
        self.members = int(np.count_nonzero(units))
        return pa.array(np.asarray(selection.keep(units), dtype=np.bool_))

    def _revealed(self, table: Any, selection: Sparse) -> Any:  # noqa: ANN401  Arrow tables
        """Return the private groups that may be shown, with the noisy counts by which they were chosen."""
        import pyarrow as pa

        units = _whole(table, "units")
        self.members = int(np.count_nonzero(units))
        kept, noisy = selection.reveal(units)
        return table.filter(pa.array(kept)).append_column(RELEASED, pa.array(noisy[kept]))

    def _read(self, table: Any) -> dict[Keys, dict[str, int]]:  # noqa: ANN401  an Arrow table
        names = [name for name in table.column_names if not name.startswith("k_")]
        keys = self._keys(table)
        numbers = {name: [int(value or 0) for value in table.column(name).to_pylist()] for name in names}
        return {key: {name: numbers[name][i] for name in names} for i, key in enumerate(keys)}

    def _keys(self, table: Any) -> list[Keys]:  # noqa: ANN401  an Arrow table
        count = len(self.plan.key_names)
        if not count:
            return [()] * table.num_rows
        return list(zip(*(map(_key, table.column(f"k_{i}").to_pylist()) for i in range(count)), strict=True))

    def _run(self, sql: str) -> Any:  # noqa: ANN401  an Arrow table
        LOG.debug("%s", sql)
        with self.watcher.watching(self.engine):
            return self.engine.run(sql)

    def _noisy(self, groups: Sequence[Keys], totals: dict[Keys, dict[str, int]]) -> dict[str, npt.NDArray[np.object_]]:
        nothing: dict[str, int] = {}
        noisy = {}
        for name in self.plan.measures:
            if name in self.plan.known:
                noisy[name] = np.array([self.plan.known[name]] * len(groups), dtype=object)
                continue
            if isinstance(self.plan.selection, Sparse):
                noisy[name] = np.array([totals[group][RELEASED] for group in groups], dtype=object)
                continue
            exact = np.array([totals.get(group, nothing).get(name, 0) for group in groups], dtype=object)
            noisy[name] = exact + self.drawn[name]
        return noisy

    def _estimates(self, column: Column, noisy: dict[str, npt.NDArray[np.object_]]) -> Estimates:
        plan = self.plan
        floats: dict[str, Floats] = {  # a step is a power of two: scaling a float by it is exact
            name: noisy[name].astype(np.float64) * float(plan.measures[name].step) for name in column.inputs
        }
        beta = 1 - plan.settings.level
        box = column.estimate(floats, plan.error, beta)
        method = "; ".join(dict.fromkeys(plan.told(n) for n in column.inputs if n not in plan.known))
        if column.whole:
            (name,) = column.inputs
            step = int(plan.measures[name].step)
            off = 0 if name in plan.known else plan.noise[name].error(beta) * step
            values = [int(steps) * step for steps in noisy[name]]
            return Estimates(
                value=tuple(values),
                low=tuple(value - off for value in values),
                high=tuple(value + off for value in values),
                method=method,
                error=off,
            )
        return _real(box, method)

    def _histograms(self, cells: Cells, groups: Sequence[Keys]) -> list[tuple[Any, Any]]:
        table = self._run(self.plan.rows.cells(cells))
        keys, values, weights = self._keys(table), table.column("v").to_pylist(), table.column("w").to_pylist()
        places = None if cells.values is None else {value: place for place, value in enumerate(cells.values)}
        found: dict[Keys, list[tuple[int, int]]] = {}
        for key, value, weight in zip(keys, values, weights, strict=True):
            place = int(value) if places is None else places.get(_key(value))
            if place is not None:
                found.setdefault(key, []).append((place, int(weight)))
        histograms = []
        for group in groups:
            pairs = sorted(found.get(group, []))
            histograms.append(
                (np.array([p for p, _ in pairs], dtype=np.int64), np.array([w for _, w in pairs], dtype=np.int64))
            )
        return histograms


def _whole(table: Any, name: str) -> npt.NDArray[np.int64]:  # noqa: ANN401  an Arrow table
    """Return a column of whole numbers; an engine may count in any type of them."""
    column = table.column(name)
    try:
        return np.asarray(column.to_numpy(), dtype=np.int64)
    except (TypeError, ValueError):
        return np.array([int(value or 0) for value in column.to_pylist()], dtype=np.int64)


def _real(box: Box, method: str) -> Estimates:
    ends = [(end.tolist(), np.isfinite(end).tolist()) for end in (box.value, box.low, box.high)]
    value, low, high = (tuple(x if known else None for x, known in zip(*end, strict=True)) for end in ends)
    return Estimates(value=value, low=low, high=high, method=method)


def _key(value: object) -> Value:
    if isinstance(value, datetime):
        return value.date()
    if value is None or isinstance(value, bool | int | str | date):
        return value
    return str(value)


def _sortable(group: Keys) -> tuple[tuple[bool, Any], ...]:
    """Return what groups are sorted by: missing keys last."""
    return tuple((value is None, False if value is None else value) for value in group)
