"""Squares within squares: a plane is cut into quarters, these into quarters, and every level is measured.

Cormode, Procopiuc, Srivastava, Shen and Yu, "Differentially Private Spatial Decompositions", ICDE 2012: the quadtree
with the geometric budget. Where the plane is cut is public. A query meets about twice as many nodes of each level as of
that above; the sum of variances ``sum 2^d / epsilon_d^2`` is least for shares of the budget that grow by ``2^(1/3)``
from level to level. What was measured is made consistent by least squares over the tree.

The proof. A record is in one node of each level. Under add_remove one node of each level changes by 1; under
replace_one one loses and one gains 1, or one of both where a cell is full: 1 or 2 in L1 norm. The levels compose, and
their shares of epsilon add up to it exactly. Under replace_one the root is the number of records, which is public and
not measured.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidParameter
from discreet.mechanisms.geometric import Geometric
from discreet.noise.fast import Floats
from discreet.synthetic.consistency.tree import tree_least_squares
from discreet.synthetic.estimators.blocks import Places, block_of
from discreet.synthetic.estimators.estimator import Counted, Estimator
from discreet.synthetic.estimators.levels import KNOWN, released_variance

__all__ = ["QuadTree"]

HIGHEST = 20
FINE = 1 << 30
"""Budget shares are whole numbers of this fineness over their sum."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QuadTree(Estimator):
    """Measure all squares of a quadtree over a plane of cells, and take the least squares estimate.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. The tree ends at single cells, or after ``height`` levels below the root; blocks of several cells are
    then spread evenly, and the estimate keeps an error at any epsilon.

    >>> tree = QuadTree(shape=(8, 8), epsilon=1, relation="add_remove")
    >>> len(tree.parts), tree.loss.epsilon()
    (4, 1.0)
    >>> tree.release(np.eye(8, dtype=int)).shape
    (8, 8)
    """

    height: int = 10

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        self._check_workload(None, (2,))
        height: object = self.height
        if type(height) is not int or not 0 <= height <= HIGHEST:
            raise InvalidParameter(f"height must be a whole number from 0 to {HIGHEST}, got {height!r}.")

    @property
    def depth(self) -> int:
        """How many levels there are below the root."""
        return min(self.height, math.ceil(math.log2(max(self.shape))))

    @property
    def measured(self) -> range:
        """The levels that are measured, by their distance from the root."""
        return range(1 if self.relation == "replace_one" and self.depth else 0, self.depth + 1)

    @property
    def parts(self) -> tuple[Geometric, ...]:
        """The noise of each level that is measured, from the top."""
        weights = [round(FINE * 2 ** (level / 3)) for level in self.measured]
        return tuple(self.count_noise(Fraction(weight, sum(weights))) for weight in weights)

    def grid(self, level: int) -> tuple[int, int]:
        """Return how many rows and columns of squares a level has: twice those above, until they are single cells."""
        rows, columns = (min(side, 1 << level) for side in self.shape)
        return rows, columns

    def _estimate(self, counted: Counted) -> Floats:
        labels = [self._labels(level) for level in range(self.depth + 1)]
        noises = dict(zip(self.measured, self.parts, strict=True))
        values: list[Floats] = []
        parents: list[Places] = []
        variances = []
        for level, label in enumerate(labels):
            count = math.prod(self.grid(level))
            if level in noises:
                sums = np.zeros(count, dtype=np.int64)
                np.add.at(sums, label, counted.line)
                values.append(noises[level].release(sums).astype(np.float64))
                variances.append(released_variance(noises[level]))
            else:
                values.append(np.array([self.public_total(counted)], dtype=np.float64))
                variances.append(KNOWN)
            if level:
                above = np.zeros(count, dtype=np.int64)
                above[label] = labels[level - 1]
                parents.append(above)
        leaves = tree_least_squares(values, parents, variances).values[-1]
        return np.asarray((leaves / np.bincount(labels[-1]))[labels[-1]])

    def _labels(self, level: int) -> Places:
        """Return for each cell the number of its square.

        A side that is no power of 2 is cut at ``floor(t side / 2^level)``; cuts that fall together count once, which
        makes single cells of a side as soon as there are more cuts than cells.
        """
        places = []
        for side, count in zip(self.shape, self.grid(level), strict=True):
            whole = np.arange(side, dtype=np.int64)
            places.append(whole if count == side else block_of(whole, side, 1 << level))
        return np.asarray(places[0][:, None] * self.grid(level)[1] + places[1], dtype=np.int64).reshape(-1)
