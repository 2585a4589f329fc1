"""A hierarchy of areas in one release: whole counts that add up on every level, and what is exact among them.

See ``discreet.synthetic.Hierarchy`` for the measurements and what becomes of them. The intervals of the answer are
those of the best linear estimates before they were made whole and non-negative, with the quantile of the normal law and
one person more, since the noise is whole: a published count may lie outside its own interval where many small ones had
to be moved.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.session.estimates import Estimates
from discreet.session.joint import Budgeted, Counted, Joint, Made, coded, half_width, quiet
from discreet.session.post import COMPARE, holds
from discreet.session.progress import Tell
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine
from discreet.synthetic.hierarchy.plan import inherited
from discreet.tables.expressions import Call, Constant, Expression, Name, names_in
from discreet.tables.kinds import Value, kind_of
from discreet.tables.together import Levels

__all__ = ["JointLevels"]

EVERYBODY = "everybody"
PERSONS = "persons"
MOST_CELLS = 1 << 24
LATTICE = 1.0
"""By how much intervals are widened because noise is whole: by one person."""

CUT = "The deadline cut the fit short: counts are whole and add up, but some may be less accurate than they could be."

READ = (
    "An empty key stands for all of its values. Counts are whole, none is negative, and areas are the sums of their "
    "parts; a count may lie outside its interval, which is that of the estimate it was made from."
)

Area = tuple[Value, ...]
Listed = Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True)
class JointLevels(Joint):
    """Tables in all areas of all levels."""

    names_of_keys: tuple[str, ...]
    declared: tuple[tuple[Value, ...], ...]
    asked: Levels
    areas: tuple[Area, ...]
    cost: Budgeted
    seconds: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self.check_named()
        cells = self.hierarchy.cells
        if len(self.areas) * cells.count > MOST_CELLS:
            raise InvalidParameter(
                f"{len(self.areas):,} areas with {cells.count:,} cells each exceed {MOST_CELLS:,}. Coarsen a key."
            )
        _ = self.spread

    @property
    def _others(self) -> dict[str, tuple[Value, ...]]:
        levels = self.asked.levels
        return {n: values for n, values in zip(self.names_of_keys, self.declared, strict=True) if n not in levels}

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The mechanism."""
        asked, others = self.asked, self._others
        queries = {_key(place): table for place, table in enumerate(asked.tables)}
        levels = (EVERYBODY, *asked.levels)
        shares = None
        if asked.shares is not None:
            shares = {
                level: dict(zip(queries, row, strict=True)) for level, row in zip(levels, asked.shares, strict=True)
            }
        if self.cost.rho is None:
            raise InvalidParameter("a hierarchy has Gaussian noise, which needs a delta.")
        return Hierarchy(
            spine=Spine(levels=levels, leaves=tuple((EVERYBODY, *area) for area in self.areas)),
            cells=Cells(
                attributes=others or {PERSONS: (PERSONS,)},
                rules={name: _rule(name, rule, others) for name, rule in asked.rules},
            ),
            queries=queries,
            rho=self.cost.rho,
            relation=self.cost.relation,
            shares=shares,
            invariants={level or EVERYBODY: table for level, table in asked.exact},
            records=self.cost.records,
        )

    @property
    def loss(self) -> PrivacyLoss:
        """That of all measurements; where something is exact, between data sets that agree on it."""
        return self.hierarchy.loss_given_invariants

    @property
    def told(self) -> str:
        """How the counts are made, in words."""
        return "hierarchy of discrete Gaussian measurements, whole counts"

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read it, and what is outside the guarantee."""
        told = [READ]
        if self.exact:
            told.append(self.exact)
        if self.asked.rules:
            told.append("Impossible by rule, and left out: all groups but those with " + self._ruled + ".")
        return tuple(told)

    @property
    def exact(self) -> str:
        """The exact tables, and what is left of the guarantee."""
        return str(self.hierarchy.label) if self.hierarchy.label else ""

    @property
    def _ruled(self) -> str:
        return "; ".join(name for name, _ in self.asked.rules)

    @property
    def parameters(self) -> dict[str, object]:
        """Levels, tables, what is exact and what is impossible, and how many areas and cells there are."""
        return {
            "together": "hierarchy",
            "levels": list(self.asked.levels),
            "sets": [list(one) for one in self.asked.tables],
            "exact": {level or EVERYBODY: list(table) for level, table in self.asked.exact},
            "rules": [name for name, _ in self.asked.rules],
            "sizes": self.sizes,
            "areas": len(self.areas),
            "cells": self.hierarchy.cells.count,
            "shares": None if self.asked.shares is None else [[float(x) for x in row] for row in self.asked.shares],
        }

    def names(self, count: str) -> tuple[str, ...]:
        """One column of counts."""
        return (count,)

    @cached_property
    def spread(self) -> Mapping[str, Mapping[str, float]]:
        """The largest standard deviation of each table on each level."""
        found = self.hierarchy.largest_errors()
        exact = inherited(self.hierarchy.spine, self.hierarchy.invariants)
        for level, table in zip(found, exact, strict=True):
            for name, attributes in self.hierarchy.queries.items():
                if table is not None and set(attributes) <= set(table):
                    found[level][name] = 0.0
                elif not np.isfinite(found[level][name]):
                    raise InvalidParameter(
                        f"nothing that is measured tells the table by {_named(attributes)} on level {level}: give it a "
                        "share."
                    )
        return found

    def parts(self) -> list[tuple[str, float]]:
        """Each table on each level; the deviation is 0 where it is exact."""
        return [
            (f"{level}, {_named(table)}", found[_key(place)])
            for level, found in self.spread.items()
            for place, table in enumerate(self.asked.tables)
        ]

    def half_width(self, deviation: float, beta: float) -> float:
        """The quantile of the normal law, and one person more since noise is whole; nothing where it is exact."""
        return half_width("gaussian", beta) * deviation + LATTICE if deviation else 0.0

    def release(self, counted: Counted, count: str, beta: float) -> Made:
        """Measure and publish: from the largest areas to the smallest, table by table."""
        return self.publish(counted, count, beta, quiet)[0]

    def publish(self, counted: Counted, count: str, beta: float, tell: Tell) -> tuple[Made, tuple[str, ...]]:
        """Measure and publish, telling how far it is; a note says so if the deadline cut the fit short.

        Seconds count from when everything has been measured, so how long the data took decides nothing.
        """
        cells, counts = coded(counted, self.declared)
        released = self.hierarchy.release(self._histogram(cells, counts), seconds=self.seconds, progress=tell)
        keys: dict[str, list[Value]] = {name: [] for name in self.names_of_keys}
        value: list[int] = []
        low: list[float] = []
        high: list[float] = []
        for depth, level in enumerate((EVERYBODY, *self.asked.levels)):
            for place, table in enumerate(self.asked.tables):
                areas, entries = released.spine.nodes(level), released.entries(table)
                off = self.half_width(self.spread[level][_key(place)], beta)
                whole = released.sums(level, table).reshape(-1)
                real = released.estimated(level, table).reshape(-1) if off else whole
                value += whole.tolist()
                low += (real - off).tolist()
                high += (real + off).tolist()
                for path in areas:
                    for entry in entries:
                        told = dict(zip(self.asked.levels, path[1 : depth + 1], strict=False))
                        told |= dict(zip(table, entry, strict=True))
                        for name, column in keys.items():
                            column.append(told.get(name))  # type: ignore[arg-type]
        estimates = Estimates(value=tuple(value), low=tuple(low), high=tuple(high), method=self.told)
        made = {name: tuple(column) for name, column in keys.items()}, {count: estimates}
        return made, (() if released.complete else (CUT,))

    def _histogram(self, cells: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the counts by area and cell; areas that are not listed count nowhere."""
        places = {area: place for place, area in enumerate(self.areas)}
        spots = [self.names_of_keys.index(name) for name in self.asked.levels]
        rest = [i for i, name in enumerate(self.names_of_keys) if name not in self.asked.levels]
        shape = tuple(len(self.declared[i]) for i in rest) or (1,)
        table = np.zeros((len(self.areas), *shape), dtype=np.int64)
        leaves = np.array(
            [places.get(tuple(self.declared[i][row[i]] for i in spots), -1) for row in cells.tolist()], dtype=np.int64
        )
        known = leaves >= 0
        others = tuple(cells[known, i] for i in rest) or (np.zeros(int(known.sum()), dtype=np.int64),)
        np.add.at(table, (leaves[known], *others), counts[known])
        return table


def _key(place: int) -> str:
    """Return what a table is called inside the mechanism: names of keys could meet."""
    return f"table {place}"


def _named(table: Sequence[str]) -> str:
    return ", ".join(table) or "total"


def _rule(
    name: str, rule: Expression, values: Mapping[str, tuple[Value, ...]]
) -> Callable[[Mapping[str, object]], bool]:
    """Return a rule as a function of a cell; it may look at keys that are no levels."""
    if wrong := [one for one in names_in(rule) if one not in values]:
        raise InvalidParameter(f"the rule {name!r} looks at {wrong[0]!r}, which is no key besides the levels.")
    _check_rule(name, rule, values)
    return lambda cell: holds(rule, cell) is True


def _check_rule(name: str, rule: Expression, values: Listed) -> None:
    """Refuse what cannot be evaluated on a cell, and comparisons with values of another type than a key has."""
    if not isinstance(rule, Call):
        raise InvalidParameter(f"the rule {name!r} is no condition: compare keys with values.")
    if rule.function in ("and", "or", "not"):
        for part in rule.arguments:
            _check_rule(name, part, values)
        return
    if rule.function not in (*COMPARE, "is_in") or not all(isinstance(x, Name | Constant) for x in rule.arguments):
        raise InvalidParameter(
            f"the rule {name!r} compares keys with values by =, <>, <, <=, >, >= and IN, joined by AND, OR and NOT."
        )
    kinds = {kind_of(value) for one in names_in(rule) for value in values[one]}
    told = [one.value for one in rule.arguments if isinstance(one, Constant)] + list(rule.options)
    if any(value is None or kind_of(value) not in kinds for value in told) or len(kinds) > 1:
        raise InvalidParameter(f"the rule {name!r} compares a key with a value of another type.")
