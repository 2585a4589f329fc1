"""A coarse grid over a plane, whose blocks are cut further where many records are.

Qardaji, Yang and Li, "Differentially Private Grids for Geospatial Data", ICDE 2013. A coarse grid of
``max(10, sqrt(n epsilon / c) / 4)`` blocks in each direction is measured with a part of epsilon; a block with the noisy
count v is then cut into ``sqrt(v epsilon' / c2)`` parts in each direction, which are measured with the rest; c = 10,
c2 = c / 2 and halves are the authors' choice. Both counts of a block are joined by their variances, and the difference
is shared among its parts: the least squares estimate.

The proof. The number of records, where it is not public, is measured with a share of epsilon, and changes by 1. The
coarse grid depends on what came out alone, and how its blocks are cut on their noisy counts alone. A record is in one
block of the coarse grid and in one part of all blocks together, so that either list of counts changes by 1 in L1 norm
under add_remove and by at most 2 under replace_one, also where a record moves to another block. The three compose
adaptively.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.exact import Real, positive
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.blocks import Places, block_of, grid_labels
from discreet.synthetic.estimators.estimator import Counted, Estimator, fraction
from discreet.synthetic.estimators.levels import released_variance

__all__ = ["AdaptiveGrid"]

LEAST = 10
"""The coarse grid has at least so many blocks in each direction, where there are as many cells."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdaptiveGrid(Estimator):
    """Measure a coarse grid over a plane, then cut and measure its blocks as finely as their counts deserve.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. The number of records is measured with ``total_share`` of epsilon under add_remove and public under
    replace_one; of what is left, ``first_share`` goes to the coarse grid. As noise is twice as large under replace_one,
    half of epsilon counts for the fineness of the grids.

    >>> grid = AdaptiveGrid(shape=(64, 64), epsilon=1, relation="add_remove")
    >>> grid.side(1_000_000), grid.loss.epsilon()
    (78, 1.0)
    >>> grid.release(np.ones((64, 64), dtype=int)).shape
    (64, 64)
    """

    constant: Real = 10
    second_constant: Real = 5
    first_share: Real = Fraction(1, 2)
    total_share: Real = Fraction(1, 20)

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        self._check_workload(None, (2,))
        positive(self.constant, "constant")
        positive(self.second_constant, "second_constant")
        store(
            self,
            constant=self.constant,
            second_constant=self.second_constant,
            first_share=fraction(self.first_share, "first_share"),
            total_share=fraction(self.total_share, "total_share"),
        )

    @property
    def parts(self) -> tuple[Geometric, ...]:
        """The noise of the number of records, where it is not public, of the coarse grid and of the parts of blocks."""
        total = self.total_noise(self.total_share)
        left = Fraction(1) if total is None else 1 - Fraction(self.total_share)
        grids = [self.count_noise(left * share) for share in (self.first_share, 1 - Fraction(self.first_share))]
        return (*grids,) if total is None else (total, *grids)

    def side(self, persons: float) -> int:
        """Return how many blocks the coarse grid has in each direction, before it ends at the cells."""
        epsilon = sum(float(part.epsilon) for part in self.parts[-2:]) / self.touched
        return max(LEAST, math.ceil(math.sqrt(persons * epsilon / float(self.constant)) / 4))

    def sides(self, noisy: Floats) -> Places:
        """Return how many parts blocks of so many noisy records have in each direction, before they end at cells."""
        epsilon = float(self.parts[-1].epsilon) / self.touched
        wanted = np.sqrt(np.maximum(noisy, 0.0) * epsilon / float(self.second_constant))
        return np.maximum(1, np.ceil(np.minimum(wanted, max(self.shape)))).astype(np.int64)

    def _estimate(self, counted: Counted) -> Floats:
        rows, columns = self.shape
        side = self.side(self.measured_total(counted, self.total_share))
        grid = min(side, rows), min(side, columns)
        coarse = grid_labels((rows, columns), grid).reshape(-1)
        first, second = self.parts[-2:]
        above = _noisy_sums(counted.line, coarse, math.prod(grid), first)
        fine, parts = _cut((rows, columns), grid, self.sides(above))
        below = _noisy_sums(counted.line, fine, int(parts.sum()), second)
        return _joined(above, below, parts, released_variance(first), released_variance(second), fine)


def _noisy_sums(cells: Places, labels: Places, count: int, noise: Geometric) -> Floats:
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, labels, cells)
    return np.asarray(noise.release(sums), dtype=np.float64)


def _cut(shape: tuple[int, int], grid: tuple[int, int], sides: Places) -> tuple[Places, Places]:
    """Return for each cell the number of its part, and for each block how many parts it has.

    Parts are numbered block by block. A block is cut into as many rows and columns as wanted, or as it has.
    """
    inside, pieces, counts = [], [], []
    for axis in (0, 1):
        starts = np.arange(grid[axis] + 1, dtype=np.int64) * shape[axis] // grid[axis]
        lengths = np.diff(starts)
        block = block_of(np.arange(shape[axis], dtype=np.int64), shape[axis], grid[axis])
        count = np.minimum(sides.reshape(grid), lengths[:, None] if axis == 0 else lengths[None, :])
        along = (slice(None), None) if axis == 0 else (None, slice(None))
        inside.append((np.arange(shape[axis], dtype=np.int64) - starts[block])[along])
        pieces.append(lengths[block][along])
        counts.append(count)
    parts = (counts[0] * counts[1]).reshape(-1)
    first = np.concatenate([[0], np.cumsum(parts)[:-1]])
    coarse = grid_labels(shape, grid)
    across = counts[1].reshape(-1)[coarse]
    row = block_of(inside[0], pieces[0], counts[0].reshape(-1)[coarse])
    column = block_of(inside[1], pieces[1], across)
    return np.asarray(first[coarse] + row * across + column, dtype=np.int64).reshape(-1), parts


def _joined(above: Floats, below: Floats, parts: Places, coarse: float, fine: float, labels: Places) -> Floats:
    """Return the least squares estimate of all parts, spread evenly over their cells."""
    owner = np.repeat(np.arange(len(parts)), parts)
    sums = np.bincount(owner, weights=below, minlength=len(parts))
    spread = parts * fine
    weight = spread / (spread + coarse)
    missing = weight * (above - sums)
    estimate = below + (missing / parts)[owner]
    return np.asarray((estimate / np.bincount(labels))[labels])
