"""The census job: tables of persons on every level of a spine, noise on each, and whole counts that agree.

Abowd and others, "The 2020 Census Disclosure Avoidance System TopDown Algorithm", Harvard Data Science Review 2022,
with discrete Gaussian noise (Canonne, Kamath and Steinke, NeurIPS 2020) and with least squares over the whole spine
before anything is made non-negative. Only ``measure`` reads data; ``publish`` works on what it gives out.
"""

import html
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter, NoTheorem
from discreet.exact import Real, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.synthetic.consistency import Invariants
from discreet.synthetic.consistency.tree import Places, add_up
from discreet.synthetic.hierarchy.bases import table_sums
from discreet.synthetic.hierarchy.cells import Cells
from discreet.synthetic.hierarchy.estimation import Estimation, estimation
from discreet.synthetic.hierarchy.plan import Measurement, inherited, plan
from discreet.synthetic.hierarchy.release import HierarchyRelease
from discreet.synthetic.hierarchy.spine import Path, Spine
from discreet.synthetic.hierarchy.top_down import Clock, Exact, top_down
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["Hierarchy", "Measured"]

Integers = npt.NDArray[np.int64]
Data = Mapping[str, Iterable[Any]] | npt.NDArray[np.int64]

HEAVIEST = 1 << 50
"""No cell counts more persons than this over the number of leaves and cells."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """Noisy tables, one array for each measurement with a row for each node, and the exact totals of each level."""

    noisy: tuple[Integers, ...]
    exact: tuple[Integers | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hierarchy(Faces):
    """Publish tables of persons on all levels of a spine, as whole counts that agree and as microdata.

    Satisfies ``rho``-zCDP, and the tighter guarantee of its discrete Gaussian noise, whenever neighbours differ by one
    person in one leaf and one cell and there are no ``invariants``. Invariants are published exactly: with them nothing
    holds for all neighbours, ``loss`` is refused, and ``loss_given_invariants`` compares only neighbours under
    replace_one that agree on them all. ``queries`` names tables by their attributes, ``()`` being the total; ``shares``
    says which part of rho goes to which query on which level, in any unit. A person in no leaf or in an impossible cell
    is counted nowhere. With ``records`` a person may be counted so many times, in any leaves and cells.

    >>> town = Hierarchy(
    ...     spine=Spine(levels=("town", "street"), leaves=(("Bath", "High"), ("Bath", "Low"))),
    ...     cells=Cells(attributes={"sex": ("f", "m"), "age": (0, 1, 2)}),
    ...     queries={"total": (), "all": ("sex", "age")},
    ...     rho=1,
    ...     relation="replace_one",
    ...     invariants={"town": ()},
    ... )
    >>> people = {"town": ["Bath"] * 3, "street": ["High", "High", "Low"], "sex": ["f", "m", "f"], "age": [2, 2, 0]}
    >>> town.release(people).table("town")
    {(('Bath',), ()): 3}
    >>> town.loss_given_invariants.rho <= 1
    True
    >>> town.loss
    Traceback (most recent call last):
    discreet.errors.NoTheorem: with totals that are published exactly no privacy loss holds for all replace_one
    neighbours, only for those that agree on them. ...
    """

    spine: Spine
    cells: Cells
    queries: Mapping[str, tuple[str, ...]]
    rho: Real
    relation: Relation
    shares: Mapping[str, Mapping[str, Real]] | None = None
    invariants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    records: int = 1
    measurements: tuple[Measurement, ...] = field(init=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        if not self.queries:
            raise InvalidParameter("queries must name one or more tables by their attributes.")
        queries = {name: self.cells.check(tuple(attributes)) for name, attributes in self.queries.items()}
        exact = {level: self.cells.check(tuple(attributes)) for level, attributes in self.invariants.items()}
        inherited(self.spine, exact)
        overlap = [name for name in self.cells.names if name in self.spine.levels]
        if overlap:
            raise InvalidParameter(f"{overlap[0]!r} names both a level and an attribute; rename one.")
        object.__setattr__(self, "queries", MappingProxyType(queries))
        object.__setattr__(self, "invariants", MappingProxyType(exact))
        if exact and self.relation == "add_remove":
            raise NoTheorem(
                "invariants of a hierarchy fix how many persons are counted, so no neighbours under add_remove agree "
                "on them unless they differ by somebody who is counted nowhere: a guarantee for those alone would "
                "promise nothing. Use relation='replace_one', or drop the invariants."
            )
        if self.shares is not None:
            frozen = {level: MappingProxyType(dict(by_query)) for level, by_query in self.shares.items()}
            object.__setattr__(self, "shares", MappingProxyType(frozen))
        store(self, rho=self.rho, records=check_records(self.records))
        made = plan(self.spine, self.cells, queries, self.rho, self.shares, self.relation, self.records)
        object.__setattr__(self, "measurements", made)

    def __repr__(self) -> str:
        return (
            f"<Hierarchy of {len(self.spine.leaves)} leaves on {len(self.spine.levels)} levels, {self.cells.count} "
            f"cells, rho={show(self.rho)}, relation={self.relation!r}>"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the hierarchy, its cost, and what is published exactly."""
        loss, given = self.loss_given_invariants, " between data sets that agree on what is exact" if self.label else ""
        return (
            f"<div><code>{html.escape(repr(self))}</code><br>costs epsilon {loss.epsilon(1e-6):.4g} at delta 1e-6"
            f"{given}. {html.escape(str(self.label))}</div>"
        )

    @property
    def domain(self) -> Records:
        """Persons, each in one leaf and one cell."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all measurements together, for all neighbours. Refused where there are invariants: there is none."""
        return self.label.ordinary(self.loss_given_invariants)

    @property
    def loss_given_invariants(self) -> PrivacyLoss:
        """That of all measurements together, between neighbours that agree on all invariants."""
        return PrivacyLoss.total(m.loss for m in self.measurements).under(self.relation)

    @property
    def label(self) -> Invariants:
        """What is published exactly, in words."""
        exact = tuple(
            f"{'the table by ' + ', '.join(attributes) if attributes else 'the number of persons'} of every {level}"
            f"{' and of every level above' if self.spine.depth(level) else ''}"
            for level, attributes in self.invariants.items()
        )
        return Invariants(exact=exact, relation=self.relation)

    def standard_errors(self) -> dict[str, dict[str, float]]:
        """Return the standard error of an entry of each query on each level, before any data is read.

        It is the root of the mean variance of the least-squares estimates; making them non-negative and whole changes
        them further, mostly for the better. Infinite where the measurements do not tell the table.
        """
        return self._errors(self._estimation())

    def largest_errors(self) -> dict[str, dict[str, float]]:
        """Return the same of the least accurate entry of each query on each level."""
        passes = self._estimation()
        return {
            level: {name: passes.largest_variance(depth, attrs) ** 0.5 for name, attrs in self.queries.items()}
            for depth, level in enumerate(self.spine.levels)
        }

    def release(
        self,
        data: Data,
        /,
        *,
        seconds: float | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> HierarchyRelease:
        """Measure and publish. After ``seconds`` the fit is cut short and the best so far is published.

        Time counts from when the data have been measured: how long reading took depends on them, and must not decide
        what is published.

        ``data`` maps the names of levels and attributes to columns, or is an array of counts with one axis for the
        leaves and one for each attribute. ``progress`` is told the phase, how many parts of it are done, and how many
        there are.
        """
        if seconds is not None and not seconds >= 0:
            raise InvalidParameter("seconds must be at least 0, or None for no deadline.")
        measured = self.measure(data)
        end = None if seconds is None else time.monotonic() + seconds
        clock = Clock(deadline=end, progress=progress)
        clock.tell("measure", 1, 1)
        return self._publish(measured, clock)

    def measure(self, data: Data, /) -> Measured:
        """Return the noisy tables and, as they are, the invariants. Nothing else looks at data."""
        levels = self._sums(self._histogram(data))
        noisy = []
        for m in self.measurements:
            exact = table_sums_whole(levels[self.spine.depth(m.level)], self.cells.labels(m.attributes))
            noisy.append(m.mechanism.release(exact))
        tables = inherited(self.spine, self.invariants)
        exact_totals = tuple(
            None if attributes is None else table_sums_whole(counts, self.cells.labels(attributes))
            for counts, attributes in zip(levels, tables, strict=True)
        )
        return Measured(noisy=tuple(noisy), exact=exact_totals)

    def publish(self, measured: Measured, /) -> HierarchyRelease:
        """Return what is published of measurements: post-processing, which may be done again."""
        return self._publish(measured, Clock())

    def worst_case(self) -> tuple[Integers, Integers]:
        """A person in one leaf and cell, and nobody, or a person as far off as she may be with all invariants kept."""
        one = np.zeros((len(self.spine.leaves), *self.cells.shape), dtype=np.int64)
        other = one.copy()
        tables = inherited(self.spine, self.invariants)
        fixed = [(depth + 1, attributes) for depth, attributes in enumerate(tables) if attributes is not None]
        leaves = _alike([tuple(path[:depth] for depth, _ in fixed) for path in self.spine.leaves])
        labels = [self.cells.labels(attributes).tolist() for _, attributes in fixed]
        cells = _alike([tuple(label[cell] for label in labels) for cell in range(self.cells.count)])
        one[(leaves[0], *self.cells.codes[cells[0]])] = 1
        if self.relation == "replace_one":
            other[(leaves[-1], *self.cells.codes[cells[-1]])] = 1
        return one * self.records, other * self.records

    def _publish(self, measured: Measured, clock: Clock) -> HierarchyRelease:
        parents = self.spine.parents
        passes = self._estimation()
        counts = [len(self.spine.nodes(level)) for level in self.spine.levels]
        told = [np.zeros((count, self.cells.count)) for count in counts]
        for m, noisy in zip(self.measurements, measured.noisy, strict=True):
            told[self.spine.depth(m.level)] += noisy[:, self.cells.labels(m.attributes)] / m.sigma**2
        estimates = passes.estimates(told)
        clock.tell("estimate", 1, 1)
        tables = inherited(self.spine, self.invariants)
        exact = [
            None if attributes is None or totals is None else Exact(self.cells.labels(attributes), totals)
            for attributes, totals in zip(tables, measured.exact, strict=True)
        ]
        nested = [self._nested(level, attributes) for level, attributes in zip(self.spine.levels, tables, strict=True)]
        whole = top_down(estimates, parents, passes, exact, nested, clock)
        return HierarchyRelease(
            spine=self.spine,
            cells=self.cells,
            counts=MappingProxyType(dict(zip(self.spine.levels, whole, strict=True))),
            loss_given_invariants=self.loss_given_invariants,
            invariants=self.label,
            standard_errors=MappingProxyType(self._errors(passes)),
            estimates=MappingProxyType(dict(zip(self.spine.levels, estimates, strict=True))),
            complete=clock.complete,
        )

    def _estimation(self) -> Estimation:
        precisions: list[dict[tuple[str, ...], float]] = [{} for _ in self.spine.levels]
        for m in self.measurements:
            level = precisions[self.spine.depth(m.level)]
            attributes = tuple(name for name in self.cells.names if name in m.attributes)
            level[attributes] = level.get(attributes, 0.0) + 1 / m.sigma**2
        counts = [len(self.spine.nodes(level)) for level in self.spine.levels]
        return estimation(self.cells, self.spine.parents, counts, precisions)

    def _errors(self, passes: Estimation) -> dict[str, dict[str, float]]:
        return {
            level: {name: passes.variance(depth, attributes) ** 0.5 for name, attributes in self.queries.items()}
            for depth, level in enumerate(self.spine.levels)
        }

    def _nested(self, level: str, exact: tuple[str, ...] | None) -> list[Places]:
        """Return tables of a level that refine one another and what is exact, from the coarsest: the sums to keep."""
        chain: list[set[str]] = [] if exact is None else [set(exact)]
        measured = [set(m.attributes) for m in self.measurements if m.level == level]
        for attributes in sorted(measured, key=len):
            finest = int(self.cells.labels(tuple(attributes)).max()) + 1 == self.cells.count
            if not finest and all(attributes <= other or attributes >= other for other in chain):
                chain.append(attributes)
        return [self.cells.labels(tuple(attributes)) for attributes in (chain if exact is None else chain[1:])]

    def _sums(self, leaves: Integers) -> list[Integers]:
        levels = [leaves]
        for parent in reversed(self.spine.parents):
            levels.insert(0, np.asarray(add_up(levels[0], parent, int(parent.max()) + 1), dtype=np.int64))
        return levels

    def _histogram(self, data: Data) -> Integers:
        """Return the counts of possible cells in each leaf; clamping moves a count by no more than it moved itself."""
        leaves, cells = len(self.spine.leaves), self.cells
        if isinstance(data, np.ndarray):
            if data.shape != (leaves, *cells.shape) or data.dtype.kind not in "iu":
                raise InvalidInput(f"counts must be whole numbers in an array of shape {(leaves, *cells.shape)}.")
            return np.clip(data[:, cells.allowed], 0, HEAVIEST // (leaves * cells.count)).astype(np.int64)
        if not isinstance(data, Mapping):
            raise InvalidInput("give columns by name, or an array of counts by leaf and cell.")
        leaf, cell = self.spine.codes(data), cells.places(data)
        if leaf.shape != cell.shape:
            raise InvalidInput("all columns must have the same length.")
        known = (leaf >= 0) & (cell >= 0)
        flat = np.bincount(leaf[known] * cells.count + cell[known], minlength=leaves * cells.count)
        return flat.reshape(leaves, cells.count).astype(np.int64)


def _alike(keys: list[Path]) -> list[int]:
    """Return the places of the key that occurs most often."""
    most = Counter(keys).most_common(1)[0][0]
    return [place for place, key in enumerate(keys) if key == most]


def table_sums_whole(rows: Integers, labels: Places) -> Integers:
    """Return the table of each row of counts, in whole numbers."""
    return np.asarray(table_sums(rows, labels), dtype=np.int64)  # type: ignore[arg-type]
