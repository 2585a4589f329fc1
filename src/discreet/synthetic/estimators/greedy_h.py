"""A binary tree of sums whose levels share epsilon as a workload needs.

Li, Hay and Miklau, "A Data- and Workload-Aware Algorithm for Range Queries Under Differential Privacy", VLDB 2014, the
second stage of which is GreedyH: a hierarchy is measured with weights fitted to the workload. They fit node by node,
from the bottom; here the shares of all levels are fitted at once (``shares``), which is never worse for full trees. On
a plane the axes are split in turn.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.mechanisms.geometric import Geometric
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.block_tree import Blocks
from discreet.synthetic.estimators.energies import energies, fitted_workload, level_energies
from discreet.synthetic.estimators.estimator import Counted, Estimator
from discreet.synthetic.estimators.levels import exact_shares, level_noises, measured_levels
from discreet.synthetic.estimators.shares import fitted_shares
from discreet.synthetic.operators.operator import Operator

__all__ = ["GreedyH", "tree_shares"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GreedyH(Estimator):
    """Measure the levels of a binary tree with shares of epsilon fitted to a workload, and take least squares.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. The shares are fitted to the ``workload``, by default all ranges, and to these as well where it is too
    large to fit to (``fitted_workload``); a level may have none. Unbiased, where the workload asks for single cells at
    all.

    >>> tree = GreedyH(shape=(4096,), epsilon=1, relation="add_remove")
    >>> len(tree.parts), tree.loss.epsilon()
    (3, 1.0)
    """

    workload: Operator | None = None
    shares: tuple[Fraction, ...] = field(init=False, repr=False, compare=False)
    """The shares of the levels, from the top."""

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        self._check_workload(self.workload)
        fitted = tree_shares(self.shape, self.workload, self.relation == "replace_one")
        object.__setattr__(self, "shares", fitted)

    @property
    def tree(self) -> Blocks:
        """The blocks that may be measured."""
        return Blocks(shape=self.shape, in_turn=True)

    @property
    def noises(self) -> tuple[Geometric | None, ...]:
        """The noise of each level from the top."""
        return level_noises(self.shares, Fraction(self.epsilon), self.touched)

    @property
    def parts(self) -> tuple[Geometric, ...]:
        """The noise of each level that is measured."""
        return tuple(noise for noise in self.noises if noise is not None)

    def _estimate(self, counted: Counted) -> Floats:
        total = self.public_total(counted)
        return self.tree.solve(*measured_levels(self.tree.sums(counted.cells), self.noises, total))


@lru_cache(maxsize=32)
def tree_shares(shape: tuple[int, ...], workload: Operator | None, public_total: bool) -> tuple[Fraction, ...]:
    """Return the shares of the levels of a binary tree, from the top, fitted to a workload or to all ranges.

    >>> [float(share) for share in tree_shares((2,), None, False)] == [0, 1]
    True
    """
    tree = Blocks(shape=shape, in_turn=True)
    work = fitted_workload(workload, shape)
    sizes = np.array([float(np.prod(side)) for side in tree.sides])
    return exact_shares(fitted_shares(level_energies(energies(work, tree)), sizes, public_top=public_total))
