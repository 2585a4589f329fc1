"""Buckets of even counts, found privately, then measured by a tree fitted to the workload.

Li, Hay and Miklau, "A Data- and Workload-Aware Algorithm for Range Queries Under Differential Privacy", VLDB 2014. A
quarter of epsilon finds a partition of the line into intervals of nearly even counts (``interval_costs``, where the
proof is), the rest measures the buckets by a weighted hierarchy (``buckets``), and each is spread evenly over its
cells. A plane is read along Hilbert's curve.

A bucket is charged ``1 / epsilon_2`` by the authors, the expected size of its noise. The partition is the best of many
noisy ones, so that each bucket looks better than it is by about as much as the noise of its cost: ``caution`` times
that is charged as well, beyond the mean of the noise. With 0 it is their cost; with 2 fewer buckets are found, which on
data with few records for each cell is mostly better.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.block_tree import Blocks
from discreet.synthetic.estimators.buckets import bucket_shares
from discreet.synthetic.estimators.energies import fitted_workload
from discreet.synthetic.estimators.estimator import Counted, Estimator, Int64, Pure, fraction
from discreet.synthetic.estimators.hilbert import hilbert_order
from discreet.synthetic.estimators.interval_costs import least_partition, noise_scale, noisy_costs
from discreet.synthetic.estimators.levels import level_noises, measured_levels
from discreet.synthetic.estimators.rows import spread_rows
from discreet.synthetic.operators.all_ranges import AllRanges
from discreet.synthetic.operators.operator import Operator
from discreet.synthetic.operators.prefix import Prefix

__all__ = ["DAWA"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DAWA(Estimator):
    """Find buckets of even counts, measure them by a weighted tree, and spread each over its cells.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``: ``partition_share`` of epsilon finds the buckets, the rest measures them, and both compose adaptively.

    >>> line = DAWA(shape=(64,), epsilon=1, relation="add_remove")
    >>> [float(part.epsilon) for part in line.parts], line.loss.epsilon()
    ([0.25, 0.75], 1.0)
    >>> line.release(np.arange(64)).shape
    (64,)
    """

    workload: Operator | None = None
    partition_share: Real = Fraction(1, 4)
    caution: Real = 0

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        self._check_workload(self.workload, (1, 2))
        if finite(self.caution, "caution") < 0:
            raise InvalidParameter("caution must be at least 0.")
        store(self, partition_share=fraction(self.partition_share, "partition_share"), caution=self.caution)

    @property
    def parts(self) -> tuple[Pure, ...]:
        """The partition, and the measurement of whatever buckets it finds."""
        share = Fraction(self.partition_share)
        return Pure(epsilon=self.budget(share)), Pure(epsilon=self.budget(1 - share))

    def buckets(self, counted: Counted) -> Int64:
        """Return the ends of the buckets on the line, found by the first part."""
        first, second = self.parts
        scale = noise_scale(Fraction(first.epsilon), self.touched)
        charged = scale * (1 + Fraction(self.caution)) + self.touched / Fraction(second.epsilon)
        return least_partition(noisy_costs(self._line(counted.line), scale, charged), self.cells)

    def measured(self, counted: Counted, ends: Int64) -> Floats:
        """Return the estimate of the cells from buckets that are public, by the second part."""
        tree = Blocks(shape=(len(ends) - 1,))
        total = self.public_total(counted)
        if total is not None and tree.levels == 1:
            sums = np.array([total])
        else:
            shares = bucket_shares(_fitted(self.workload, self.shape), ends, total is not None)
            noises = level_noises(shares, Fraction(self.parts[1].epsilon), self.touched)
            exact = np.add.reduceat(self._line(counted.line), ends[:-1])
            sums = tree.solve(*measured_levels(tree.sums(exact), noises, total))
        widths = np.diff(ends)
        return np.repeat(sums / widths, widths)

    def _estimate(self, counted: Counted) -> Floats:
        line = self.measured(counted, self.buckets(counted))
        if len(self.shape) == 1:
            return line
        cells = np.empty_like(line)
        cells[self._order()] = line
        return cells

    def _order(self) -> Int64:
        rows, columns = self.shape
        return hilbert_order((rows, columns))

    def _line(self, cells: Int64) -> Int64:
        return cells if len(self.shape) == 1 else cells[self._order()]


@lru_cache(maxsize=4)
def _fitted(workload: Operator | None, shape: tuple[int, ...]) -> AllRanges | Prefix | Floats:
    """Return what the tree is fitted to, on the line."""
    work = fitted_workload(workload, shape)
    if len(shape) == 1:
        return work if isinstance(work, AllRanges | Prefix) else spread_rows(work)
    on_curve = spread_rows(work)[:, hilbert_order((shape[0], shape[1]))]
    on_curve.setflags(write=False)
    return on_curve
