"""A tree of sums whose splits are shrunk towards what most splits look like: an algorithm of our own.

Measured is a binary tree with shares of epsilon fitted to the workload, as ``GreedyH`` does. Least squares gives every
block an unbiased estimate, which for most blocks of real histograms is far worse than need be: many are empty, and many
are even. So going down the tree, the records of a block are split among its halves by the posterior mean under a prior
of even, empty and arbitrary splits, whose frequencies are fitted level by level to the noisy tree itself (``splits``).
This makes of one measurement what partitions found privately do (DAWA, AHP), and spends nothing on finding them; it
also never gives a negative count. Where data are plenty the measurements decide, and the error vanishes as epsilon
grows.

Two more changes. A tenth of epsilon measures the number of records, which anchors the splits; under replace_one it is
public and nothing is spent. Cells with fewer than about ``10 / epsilon`` records each drown in their own noise, so the
share of the lowest level is lowered, by the root of how far the mean of all cells is below this, to a fifth at least;
the measured number of records decides that, which is adaptive composition.

The proof is that of the levels: a record is in one block of each. All that follows works on what was released.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.exact import Real
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.consistency.tree import Places, tree_least_squares
from discreet.synthetic.estimators.block_tree import Blocks
from discreet.synthetic.estimators.estimator import Counted, Estimator, Part, Pure, fraction
from discreet.synthetic.estimators.greedy_h import tree_shares
from discreet.synthetic.estimators.levels import KNOWN, level_noises, measured_levels, released_variance
from discreet.synthetic.estimators.splits import KINDS, Splits, posterior_means
from discreet.synthetic.operators.operator import Operator

__all__ = ["ShrunkTree"]

CROWDED = 10
"""Records times epsilon in a mean cell from which the lowest level keeps its whole share."""

LOWEST = Fraction(1, 5)
"""What it keeps of its share at least."""

FINE = 1 << 10
EMPTY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ShrunkTree(Estimator):
    """Measure a weighted binary tree, and split the records of each block as blocks of its level mostly are.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. No estimated count is below 0. The levels are fitted to the ``workload``, by default all ranges.

    >>> tree = ShrunkTree(shape=(4096,), epsilon=1, relation="add_remove")
    >>> [float(part.epsilon) for part in tree.parts], round(tree.loss.epsilon(), 9)
    ([0.1, 0.9], 1.0)
    >>> bool(tree.release(np.ones(4096, dtype=int)).min() >= 0)
    True
    """

    workload: Operator | None = None
    total_share: Real = Fraction(1, 10)
    fitted: tuple[Fraction, ...] = field(init=False, repr=False, compare=False)
    """The shares of the levels, from the top, that least squares would have."""

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        self._check_workload(self.workload)
        object.__setattr__(self, "fitted", tree_shares(self.shape, self.workload, True))
        store(self, total_share=fraction(self.total_share, "total_share"))

    @property
    def tree(self) -> Blocks:
        """The blocks that may be measured."""
        return Blocks(shape=self.shape, in_turn=True)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The number of records, where it is not public, and the levels, whose shares depend on it."""
        total = self.total_noise(self.total_share)
        return (Pure(epsilon=self.epsilon),) if total is None else (total, Pure(epsilon=self._levels_epsilon()))

    def shares(self, records: float) -> tuple[Fraction, ...]:
        """Return the shares of the levels, from the top, if there are about so many records.

        >>> tree = ShrunkTree(shape=(4096,), epsilon=1, relation="add_remove")
        >>> tree.shares(10**6)[-1] > 2 * tree.shares(10**3)[-1] > 0
        True
        """
        shares = list(self.fitted)
        crowd = max(records, 0.0) * float(self.epsilon) / (self.touched * CROWDED * self.cells)
        kept = Fraction(math.ceil(FINE * math.sqrt(min(crowd, 1.0))), FINE)
        lowest = max(level for level, share in enumerate(shares) if share)
        shares[lowest] *= max(kept, LOWEST)
        return tuple(share / sum(shares) for share in shares)

    def _levels_epsilon(self) -> Fraction:
        return self.budget(1 if self.relation == "replace_one" else 1 - Fraction(self.total_share))

    def _estimate(self, counted: Counted) -> Floats:
        tree, public = self.tree, self.public_total(counted)
        levels = tree.sums(counted.cells)
        if public is not None and tree.levels == 1:
            return np.array([public])
        first = self.parts[0]
        if isinstance(first, Geometric):
            total, known = float(first.release(counted.cells.sum(keepdims=True)).item()), released_variance(first)
        else:
            total, known = public or 0.0, KNOWN
        noises = level_noises(self.shares(total), self._levels_epsilon(), self.touched)
        values, variances = measured_levels(levels, noises, None)
        if math.isinf(variances[0]):
            values[0], variances[0] = np.array([total]), known
        else:
            both = 1 / (1 / variances[0] + 1 / known)
            values[0], variances[0] = both * (values[0] / variances[0] + total / known), both
        return shrunk(tree, values, variances)


def shrunk(tree: Blocks, values: list[Floats], variances: list[float]) -> Floats:
    """Return the cells, split down a noisy binary tree by posterior means.

    >>> line = Blocks(shape=(4,))
    >>> cells = shrunk(line, [np.array([8.0]), np.zeros(2), np.array([9.0, 0.5, -2.0, 1.0])], [1.0, np.inf, 1.0])
    >>> int(cells.argmax())
    0
    """
    fitted = tree_least_squares(values, tree.parents, variances)
    sizes = tree.sizes()
    records = np.maximum(fitted.values[0], 0.0)
    frequencies = np.full(KINDS, 1 / KINDS)
    for level, parents in enumerate(tree.parents, start=1):
        first, second = _halves(parents, len(records))
        wide = np.flatnonzero(second > first)
        found = records[parents]
        a, b = first[wide], second[wide]
        share = sizes[level][a] / (sizes[level][a] + sizes[level][b])
        halves = share * records[wide]
        own = fitted.own[level]
        told = (own[a] > 0) & (own[b] > 0) & (records[wide] > EMPTY)
        if told.any():
            a_told, above = a[told], wide[told]
            spread_a, spread_b = 1 / own[a_told], 1 / own[b[told]]
            moved = spread_a / (spread_a + spread_b) * (records[above] - fitted.values[level - 1][above])
            splits = Splits(
                records=records[above],
                share=share[told],
                measured=fitted.values[level][a_told] + moved,
                variance=spread_a * spread_b / (spread_a + spread_b),
            )
            halves[told], frequencies = posterior_means(splits, frequencies)
        found[a], found[b] = halves, records[wide] - halves
        records = found
    return records


def _halves(parents: Places, count: int) -> tuple[Places, Places]:
    """Return the first and the last child of each block."""
    order = np.argsort(parents, kind="stable")
    ends = np.cumsum(np.bincount(parents, minlength=count))
    return order[np.concatenate([[0], ends[:-1]])], order[ends - 1]
