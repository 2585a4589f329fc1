"""Trees of sums: every node of a tree over the cells is measured.

Hay, Rastogi, Miklau and Suciu, "Boosting the Accuracy of Differentially Private Histograms Through Consistency", VLDB
2010. The best branching depends on the workload (Qardaji, Yang and Li, "Understanding Hierarchical Methods for
Differentially Private Histograms", VLDB 2013), and is found here by the exact error of each.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import Array, Operator, positive_size
from discreet.synthetic.strategies.variances import total_variance

__all__ = ["Hierarchical", "best_hierarchy"]

SMALL = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchical(Operator):
    """The sums of all nodes of a tree, from the root down to the cells; without ``root`` those of the levels below it.

    A node at height h holds up to ``branching ** h`` neighbouring cells; the last of a level may hold fewer. A record
    is in one node of each level, and one that moves to another part of the root changes two in all but that of the
    root.

    >>> tree = Hierarchical(size=4, branching=2)
    >>> tree.matvec([1, 2, 3, 4])
    array([10,  3,  7,  1,  2,  3,  4])
    >>> tree.sensitivity(1, relation="add_remove"), tree.sensitivity(1, relation="replace_one")
    (Fraction(3, 1), Fraction(4, 1))
    """

    size: int
    branching: int = 2
    root: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_size(self.size))
        object.__setattr__(self, "branching", positive_size(self.branching, "branching"))
        if self.branching < 2:
            raise InvalidParameter("branching must be a whole number of at least 2, got 1.")
        if not isinstance(self.root, bool):
            raise InvalidParameter(f"root must be True or False, got {type(self.root).__name__}.")

    @property
    def height(self) -> int:
        """How far the root is above the cells."""
        height, cells = 0, 1
        while cells < self.size:
            height, cells = height + 1, cells * self.branching
        return height

    @property
    def heights(self) -> list[int]:
        """The heights whose nodes are measured, from the top."""
        top = self.height
        return list(range(top if self.root or not top else top - 1, -1, -1))

    @property
    def shape(self) -> tuple[int, int]:
        """One row for each node that is measured."""
        return sum(len(self._starts(height)) for height in self.heights), self.size

    @property
    def reach(self) -> int:
        """As many as there are cells."""
        return self.size

    @property
    def nonnegative(self) -> bool:
        """Entries are 0 and 1."""
        return True

    @property
    def separable(self) -> bool:
        """Without the root, cells in different parts of it share no node."""
        return not self.root and self.size > 1

    @property
    def determines_cells(self) -> bool:
        """They are its lowest nodes."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return the sums of each level, from the top."""
        return np.concatenate([np.add.reduceat(x, self._starts(height), axis=0) for height in self.heights])

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return, for each cell, the sum over the nodes that hold it."""
        total = np.zeros((self.size, *y.shape[1:]), dtype=y.dtype)
        for height, level in zip(self.heights, self._levels(y), strict=True):
            total += np.repeat(level, self._widths(height), axis=0)
        return total

    def column_norms(self, p: int, /) -> Array:
        """As many as there are levels."""
        return np.full(self.size, len(self.heights), dtype=np.int64)

    def largest_column(self, p: int, /) -> int:
        """As many as there are levels."""
        return len(self.heights)

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """Two for each level below the root."""
        return (2 * (len(self.heights) - int(self.root)) if self.size > 1 else 0), True

    def covariance(self) -> Floats:
        """Invert the Gram matrix level by level: each node adds a matrix of rank 1 to its own block."""
        result = np.eye(self.size)
        for height in sorted(self.heights)[1:]:
            for start, width in zip(self._starts(height), self._widths(height), strict=True):
                block = result[start : start + width, start : start + width]
                sums = block.sum(axis=1)
                block -= np.outer(sums, sums / (1 + sums.sum()))
        return result

    def solve(self, y: npt.ArrayLike, /) -> Floats:
        """Return the least squares estimate in two passes over the tree.

        Upward each node's own measurement and the sum of its children are weighted by their precision; downward what is
        missing is shared among the children in proportion to their variances.
        """
        measured = dict(zip(self.heights, self._levels(np.asarray(y, dtype=np.float64)), strict=True))
        up, variances = [measured[0]], [np.ones(self.size)]
        for height in range(1, self.height + 1):
            first = self._first_children(height)
            sums, spread = np.add.reduceat(up[-1], first, axis=0), np.add.reduceat(variances[-1], first)
            if height in measured:
                own = _along(spread / (1 + spread), sums)
                sums, spread = own * measured[height] + (1 - own) * sums, spread / (1 + spread)
            up.append(sums)
            variances.append(spread)
        down = up[-1]
        for height in range(self.height, 0, -1):
            first, below, spread = self._first_children(height), up[height - 1], variances[height - 1]
            children = np.diff(np.append(first, len(below)))
            missing = (down - np.add.reduceat(below, first, axis=0)) / _along(np.add.reduceat(spread, first), down)
            down = below + _along(spread, below) * np.repeat(missing, children, axis=0)
        return down

    def _starts(self, height: int) -> npt.NDArray[np.int64]:
        return np.arange(0, self.size, min(self.branching**height, self.size), dtype=np.int64)

    def _widths(self, height: int) -> npt.NDArray[np.int64]:
        return np.diff(np.append(self._starts(height), self.size))

    def _first_children(self, height: int) -> npt.NDArray[np.int64]:
        return np.arange(0, len(self._starts(height - 1)), self.branching, dtype=np.int64)

    def _levels(self, y: Array) -> list[Array]:
        ends = np.cumsum([len(self._starts(height)) for height in self.heights])
        return np.split(y, ends[:-1])


def best_hierarchy(workload: Operator, *, p: int = 1) -> Hierarchical:
    """Return the tree of least expected squared error for a workload, under noise calibrated to the p-norm.

    Every branching is tried up to 64 cells; with more, for each height the least and some above it. Each is tried with
    and without its root.

    >>> from discreet.synthetic.operators import Prefix
    >>> best_hierarchy(Prefix(size=256)).branching > 2
    True
    """
    size = workload.shape[1]
    found: dict[tuple[float, bool], Hierarchical] = {}
    for branching in _branchings(size):
        for root in (False, True):
            tree = Hierarchical(size=size, branching=branching, root=root)
            if size == 1 and not root:
                continue
            power = float(tree.change(p, relation="add_remove").power) ** (2 // p)
            found.setdefault((power * total_variance(workload, tree), root), tree)
    return found[min(found)]


def _branchings(size: int) -> list[int]:
    if size <= SMALL:
        return list(range(2, max(size, 2) + 1))
    tried = {2, 3, 4, size}
    for height in range(1, max(1, math.ceil(math.log2(max(size, 2)))) + 1):
        least = math.ceil(size ** (1 / height) - 1e-9)
        tried |= set(range(max(2, least), least + 4))
    return sorted(tried)


def _along(weights: Floats, like: Array) -> Floats:
    return weights.reshape(-1, *(1,) * (like.ndim - 1))
