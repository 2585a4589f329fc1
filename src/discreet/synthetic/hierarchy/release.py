"""What is published of a hierarchy: whole counts of every area that agree, and microdata made of them."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.synthetic.consistency import Invariants
from discreet.synthetic.consistency.tree import Floats
from discreet.synthetic.hierarchy.bases import table_sums
from discreet.synthetic.hierarchy.cells import Cells
from discreet.synthetic.hierarchy.spine import Path, Spine

__all__ = ["HierarchyRelease"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HierarchyRelease:
    """Whole counts without negative ones: every area is the sum of its parts, impossible cells are empty.

    ``standard_errors`` are those of the estimates before they were made non-negative and whole, which were known before
    any data was read; ``estimates`` are these, real numbers of which some are negative. ``invariants`` tells in words
    what was published exactly; ``loss_given_invariants`` compares only data sets that agree on it. ``complete`` is
    False if a deadline cut the fit short: all sums hold even then, but the counts lie further from the estimates than
    they could.
    """

    spine: Spine
    cells: Cells
    counts: Mapping[str, Integers]
    loss_given_invariants: PrivacyLoss
    invariants: Invariants
    standard_errors: Mapping[str, Mapping[str, float]]
    estimates: Mapping[str, Floats]
    complete: bool = True

    @property
    def loss(self) -> PrivacyLoss:
        """What was spent, for all neighbours. Refused where something was published exactly: there is none."""
        return self.invariants.ordinary(self.loss_given_invariants)

    def table(self, level: str, attributes: tuple[str, ...] = ()) -> dict[tuple[Path, tuple[Hashable, ...]], int]:
        """Return the counts of a level by some attributes, by the path of the area and the values."""
        sums, entries = self.sums(level, attributes), self.entries(attributes)
        nodes = self.spine.nodes(level)
        return {(n, e): int(sums[i, j]) for i, n in enumerate(nodes) for j, e in enumerate(entries)}

    def entries(self, attributes: tuple[str, ...]) -> list[tuple[Hashable, ...]]:
        """Return the values of some attributes that occur together, in the order of the columns of ``sums``."""
        labels = self.cells.labels(attributes)
        shown = [name for name in self.cells.names if name in attributes]
        first = np.unique(labels, return_index=True)[1]
        columns = [[self.cells.values(name)[place] for place in first.tolist()] for name in shown]
        return list(zip(*columns, strict=True)) if columns else [()]

    def sums(self, level: str, attributes: tuple[str, ...] = ()) -> Integers:
        """Return the table of some attributes in all areas of a level, a row for each area."""
        labels = self.cells.labels(attributes)
        sums = np.zeros((len(self.spine.nodes(level)), int(labels.max()) + 1), dtype=np.int64)
        np.add.at(sums.T, labels, self.counts[level].T)
        return sums

    def estimated(self, level: str, attributes: tuple[str, ...] = ()) -> Floats:
        """Return the same of the estimates."""
        return table_sums(self.estimates[level], self.cells.labels(attributes))

    def microdata(self) -> dict[str, npt.NDArray[Any]]:
        """Return one row for each person, with the areas and all attributes, as columns."""
        leaves = self.counts[self.spine.levels[-1]]
        leaf, cell = np.nonzero(leaves)
        times = leaves[leaf, cell]
        leaf, cell = np.repeat(leaf, times), np.repeat(cell, times)
        columns: dict[str, npt.NDArray[Any]] = {}
        for depth, level in enumerate(self.spine.levels):
            columns[level] = _array([path[depth] for path in self.spine.leaves])[leaf]
        for name in self.cells.names:
            columns[name] = _array(self.cells.values(name))[cell]
        return columns


def _array(values: list[Any]) -> npt.NDArray[Any]:
    """Return an array of labels, of numbers or texts if they are all of one kind."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {int, str, bool, float}:
        return np.array(values)
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    return labels
