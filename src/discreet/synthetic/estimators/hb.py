"""A tree of sums with the branching that is best for ranges.

Qardaji, Yang and Li, "Understanding Hierarchical Methods for Differentially Private Histograms", VLDB 2013: all levels
below the root are measured with equal shares of epsilon and made consistent by least squares, and the branching is the
one of least expected error. On d axes a block has up to ``branching ** d`` children. The error of each branching is
computed by the energies of the workload on the levels, exactly for sides that are powers of the branching.
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
from discreet.synthetic.estimators.levels import level_noises, measured_levels
from discreet.synthetic.estimators.shares import error_of_shares
from discreet.synthetic.operators.operator import Operator

__all__ = ["Hb"]

MOST = 64
"""Branchings up to this are tried, and one block for all cells."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hb(Estimator):
    """Measure all levels of a tree below its root, and take the least squares estimate.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. The branching is fitted to the ``workload``, by default all ranges, and to these as well where it is
    too large to fit to (``fitted_workload``). Unbiased.

    >>> tree = Hb(shape=(4096,), epsilon=1, relation="add_remove")
    >>> tree.tree.branching, len(tree.parts), tree.loss.epsilon()
    (16, 3, 1.0)
    """

    workload: Operator | None = None
    tree: Blocks = field(init=False, repr=False, compare=False)
    """The blocks that are measured."""

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        self._check_workload(self.workload)
        object.__setattr__(self, "tree", _best(self.shape, self.workload))

    @property
    def noises(self) -> tuple[Geometric | None, ...]:
        """The noise of each level from the top."""
        return level_noises(_equal(self.tree.levels), Fraction(self.epsilon), self.touched)

    @property
    def parts(self) -> tuple[Geometric, ...]:
        """The noise of each level that is measured."""
        return tuple(noise for noise in self.noises if noise is not None)

    def _estimate(self, counted: Counted) -> Floats:
        total = self.public_total(counted)
        return self.tree.solve(*measured_levels(self.tree.sums(counted.cells), self.noises, total))


def _equal(levels: int) -> tuple[Fraction, ...]:
    """Return equal shares of all levels below the root, or of the root if it is the only cell."""
    return (Fraction(1),) if levels == 1 else (Fraction(0), *[Fraction(1, levels - 1)] * (levels - 1))


@lru_cache(maxsize=32)
def _best(shape: tuple[int, ...], workload: Operator | None) -> Blocks:
    work = fitted_workload(workload, shape)
    found: dict[float, Blocks] = {}
    for branching in sorted({*range(2, min(MOST, max(shape)) + 1), max(2, *shape)}):
        tree = Blocks(shape=shape, branching=branching)
        if tree.levels in {other.levels for other in found.values()} and workload is not None:
            continue  # the least branching of a height wastes least; only closed forms are cheap enough to try all
        shares = np.array(_equal(tree.levels), dtype=np.float64)
        sizes = np.array([float(np.prod(side)) for side in tree.sides])
        found.setdefault(error_of_shares(shares, level_energies(energies(work, tree)), sizes), tree)
    return found[min(found)]
