"""An even grid over a plane, as fine as the number of records allows.

Qardaji, Yang and Li, "Differentially Private Grids for Geospatial Data", ICDE 2013. More blocks mean more noise in a
query, fewer blocks mean that a query cuts through blocks whose inside is unknown; both balance at about
``sqrt(n epsilon / c)`` blocks in each direction, with c = 10 by the authors' measurements.

The proof. The number of records, where it is not public, is measured with a share of epsilon, and changes by 1. The
grid depends on what came out alone. A record is in one block, so that the counts of all blocks change by 1 in L1 norm
under add_remove and by at most 2 under replace_one. Both parts compose.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.exact import Real, positive
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.blocks import grid_labels
from discreet.synthetic.estimators.estimator import Counted, Estimator, fraction

__all__ = ["UniformGrid"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UniformGrid(Estimator):
    """Measure the blocks of an even grid over a plane, and spread each count evenly over its cells.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. The number of records is measured with ``total_share`` of epsilon under add_remove; under replace_one
    it is public, and all of epsilon goes to the blocks. As noise is twice as large under replace_one, half of epsilon
    counts for the fineness of the grid.

    >>> grid = UniformGrid(shape=(64, 64), epsilon=1, relation="add_remove")
    >>> grid.side(100_000), grid.loss.epsilon()
    (97, 1.0)
    >>> grid.release(np.ones((64, 64), dtype=int)).shape
    (64, 64)
    """

    constant: Real = 10
    total_share: Real = Fraction(1, 20)

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        self._check_workload(None, (2,))
        positive(self.constant, "constant")
        store(self, constant=self.constant, total_share=fraction(self.total_share, "total_share"))

    @property
    def parts(self) -> tuple[Geometric, ...]:
        """The noise of the number of records, where it is not public, and that of the blocks."""
        total = self.total_noise(self.total_share)
        return (self.count_noise(),) if total is None else (total, self.count_noise(1 - Fraction(self.total_share)))

    def side(self, persons: float) -> int:
        """Return how many blocks a grid for so many records has in each direction, before it ends at the cells."""
        epsilon = float(self.parts[-1].epsilon) / self.touched
        return max(1, math.floor(0.5 + math.sqrt(persons * epsilon / float(self.constant))))

    def _estimate(self, counted: Counted) -> Floats:
        side = self.side(self.measured_total(counted, self.total_share))
        rows, columns = self.shape
        blocks = min(side, rows), min(side, columns)
        labels = grid_labels((rows, columns), blocks).reshape(-1)
        sums = np.zeros(math.prod(blocks), dtype=np.int64)
        np.add.at(sums, labels, counted.line)
        noisy = self.parts[-1].release(sums)
        return np.asarray((noisy / np.bincount(labels))[labels])
