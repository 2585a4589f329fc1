"""Columns that are chosen from a histogram, group by group.

A unit is in at most ``groups`` histograms, so each group pays a part of epsilon: its loss is counted once for every
group a unit can touch. Substituting a unit is removing it and adding another: what holds for one unit more or less is
widened to a group of two.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import GridQuantile, QuantileTree, TopK
from discreet.session.columns import TREE, Ranked
from discreet.session.estimates import Estimates
from discreet.session.smooth_ranks import Proposed, Smooth, over_groups
from discreet.tables.measures import UNIT
from discreet.units import Relation

__all__ = ["RankMechanism", "rank_mechanism"]

GAP = "where many rows share a value, it may fall into the gap beside it"

Histogram = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


class RankMechanism(Protocol):
    """What makes a ranked column from the histograms of all groups."""

    @property
    def loss(self) -> PrivacyLoss:
        """What it costs."""
        ...

    def release(self, histograms: list[Histogram], /) -> dict[str, Estimates]:
        """Return the columns."""
        ...

    def note(self) -> str:
        """Say how good it is, without data."""
        ...


def rank_mechanism(
    column: Ranked,
    epsilon: Fraction,
    groups: int,
    rows: int,
    relation: Relation,
    level: float,
    *,
    delta: Fraction = Fraction(0),
    single: bool = False,
) -> RankMechanism:
    """Return the mechanism of a column that costs epsilon in all, and delta where its method takes one.

    ``single`` says that the table is one group, which a unit that is replaced cannot leave.
    """
    if column.method == "smooth":
        return Smooth(column, epsilon, groups, rows, relation, level, single)
    if column.method == "ptr":
        return Proposed(column, epsilon, groups, rows, relation, level, single, delta)
    share = epsilon / (groups * (2 if relation == "replace_one" else 1))
    if column.function == "top_k":
        return Top(column, share, groups, rows, relation)
    if column.method == "tree":
        return Tree(column, share, groups, rows, relation, level)
    return Choice(column, share, groups, rows, relation, level)


@dataclass(frozen=True, slots=True)
class Choice:
    """Quantiles by the exponential mechanism, each with a lower and an upper end chosen in the same way.

    The ends aim below and above the rank by as much weight as a choice can miss its aim by, and one row more. A choice
    that is no further off than that has less than the rank below it, by a row at least: the lower end is not above the
    quantile, nor the upper one below it, however many rows share a value, however few there are, and wherever between
    two rows the quantile is taken to be.
    """

    column: Ranked
    share: Fraction
    groups: int
    rows: int
    relation: Relation
    level: float

    def _draws(self) -> int:
        return 3 * len(self.column.options)

    def mechanism(self, probability: Fraction, shift: int = 0) -> GridQuantile:
        """Return one choice: a unit more or less changes its histogram by ``rows`` at most."""
        grid = self.column.grid
        return GridQuantile(
            bounds=(grid.lowest, grid.highest),
            epsilon=self.share / self._draws(),
            relation="add_remove",
            probability=probability,
            unit=UNIT * self.rows,
            shift=shift,
        )

    @property
    def loss(self) -> PrivacyLoss:
        """One choice for each draw and each group that a unit touches."""
        one = PrivacyLoss.bounded_range(self.share / self._draws())
        return over_groups(self.groups, self._draws() * one, self.relation)

    def release(self, histograms: list[Histogram], /) -> dict[str, Estimates]:
        """Choose for every group."""
        column = self.column
        made = {}
        for name, probability in zip(column.names, column.options, strict=True):
            miss = self.miss(probability, 2)
            value, low, high = (
                self.mechanism(probability, shift).releases(histograms).tolist() for shift in (0, -miss, miss)
            )
            ends = [column.ends(min(a, b), max(b, c)) for a, b, c in zip(low, value, high, strict=True)]
            made[name] = Estimates(
                value=tuple(map(column.value, value)),
                low=tuple(low for low, _ in ends),
                high=tuple(high for _, high in ends),
                method=str(self),
            )
        return made

    def miss(self, probability: Fraction, ends: int) -> int:
        """Return how much weight a choice can be away from its aim, each of so many failing rarely, and one row."""
        return math.ceil(self.mechanism(probability).error((1 - self.level) / ends)) + UNIT

    def note(self) -> str:
        """Say how many rows may lie between, and that on real numbers a gap may be chosen beside a value of many."""
        probability = self.column.options[0] if self.column.options else Fraction(1)
        rows = f"within {math.ceil(self.miss(probability, 2) / UNIT):,} rows of the rank"
        return rows if self.column.discrete else f"{rows}; {GAP}"

    def __str__(self) -> str:
        return "exponential mechanism"


@dataclass(frozen=True, slots=True)
class Tree:
    """Any number of quantiles from one tree of noisy counts."""

    column: Ranked
    share: Fraction
    groups: int
    rows: int
    relation: Relation
    level: float

    @property
    def mechanism(self) -> QuantileTree:
        """The tree of one group."""
        return QuantileTree(
            branching=TREE[0], levels=TREE[1], relation="add_remove", epsilon=self.share, unit=UNIT * self.rows
        )

    @property
    def loss(self) -> PrivacyLoss:
        """One tree for each group that a unit touches."""
        return over_groups(self.groups, self.mechanism.loss, self.relation)

    def release(self, histograms: list[Histogram], /) -> dict[str, Estimates]:
        """Read everything off one tree for every group.

        The least value is the upper end of the interval of the 0-quantile: below it, nothing can be told from noise.
        The greatest is the lower end of the 1-quantile's.
        """
        mechanism, lowest = self.mechanism, self.column.grid.lowest
        row = UNIT if self.column.function == "quantiles" else 0
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in self.column.names}
        for cells, weights in histograms:
            tree = mechanism.release(np.asarray(cells) - lowest, weights)
            for name, probability in zip(self.column.names, self._probabilities, strict=True):
                ends = [float(np.asarray(end)) for end in tree.interval(probability, self.level, row)]
                place = float(np.asarray(tree.quantile(probability)))
                low, high = self.column.ends(lowest + ends[0], lowest + ends[1] - 1)
                value = {"min": high, "max": low}.get(self.column.function, self._value(place))
                found[name].append((value, min(low, value), max(high, value)))
        return {
            name: Estimates(
                value=tuple(one[0] for one in column),
                low=tuple(one[1] for one in column),
                high=tuple(one[2] for one in column),
                method=str(self),
            )
            for name, column in found.items()
        }

    @property
    def _probabilities(self) -> tuple[Fraction, ...]:
        return {"min": (Fraction(0),), "max": (Fraction(1),)}.get(self.column.function, self.column.options)

    def _value(self, place: float) -> float:
        """Return the number at a place of the tree: leaf i is all numbers that count at the i-th point."""
        column, grid = self.column, self.column.grid
        inside = math.floor(place) if column.discrete else place - 0.5
        value = column.value(grid.lowest + min(max(inside, 0.0), float(grid.highest - grid.lowest)))
        return float(round(value)) if column.whole else value

    def note(self) -> str:
        """Say what it depends on."""
        return "read from one noisy tree"

    def __str__(self) -> str:
        return "tree of noisy counts"


@dataclass(frozen=True, slots=True)
class Top:
    """A top list of declared values."""

    column: Ranked
    share: Fraction
    groups: int
    rows: int
    relation: Relation

    @property
    def mechanism(self) -> TopK:
        """The choice of one group; counts all move the same way when a unit is added."""
        return TopK(k=int(self.column.options[0]), epsilon=self.share, sensitivity=UNIT * self.rows, monotone=True)

    @property
    def loss(self) -> PrivacyLoss:
        """One list for each group that a unit touches."""
        return over_groups(self.groups, self.mechanism.loss, self.relation)

    def release(self, histograms: list[Histogram], /) -> dict[str, Estimates]:
        """Choose for every group; cells are positions among the declared values."""
        values = self.column.cells.values or ()
        chosen = []
        for cells, weights in histograms:
            counts = np.zeros(len(values), dtype=np.int64)
            counts[np.asarray(cells, dtype=np.int64)] = weights
            chosen.append(self.mechanism.release(counts))
        empty = (None,) * len(histograms)
        return {
            name: Estimates(
                value=tuple(str(values[one[place]]) for one in chosen), low=empty, high=empty, method=str(self)
            )
            for place, name in enumerate(self.column.names)
        }

    def note(self) -> str:
        """Say what is chosen from."""
        return f"of {len(self.column.cells.values or ())} declared values"

    def __str__(self) -> str:
        return "exponential mechanism, one after another"
