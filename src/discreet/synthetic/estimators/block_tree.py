"""Trees over a grid of cells, of any number of axes: blocks of cells, each split into smaller ones.

A block at height h holds up to ``branching ** h`` neighbours along each axis, the last of an axis fewer. With
``in_turn`` an axis is split at a time, the longest first, so that a node has two children whatever the axes: a k-d tree
whose splits are public.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from discreet.noise.fast import Floats
from discreet.synthetic.consistency.tree import Places, tree_least_squares
from discreet.synthetic.operators.operator import Array

__all__ = ["Blocks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The blocks of a grid, level by level from the whole grid down to the cells.

    >>> [level.tolist() for level in Blocks(shape=(4,)).sums(np.array([1, 2, 3, 4]))]
    [[10], [3, 7], [1, 2, 3, 4]]
    >>> Blocks(shape=(4, 4)).levels, Blocks(shape=(4, 4), in_turn=True).levels
    (3, 5)
    """

    shape: tuple[int, ...]
    branching: int = 2
    in_turn: bool = False

    @property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """How many cells a block has along each axis, for each level from the top."""
        return _sides(self.shape, self.branching, self.in_turn)

    @property
    def levels(self) -> int:
        """How many levels there are, the cells included."""
        return len(self.sides)

    @property
    def parents(self) -> tuple[Places, ...]:
        """For each level below the top, which block of the level above each of its blocks is in."""
        return _parents(self.shape, self.branching, self.in_turn)

    def grid(self, level: int) -> tuple[int, ...]:
        """How many blocks there are along each axis."""
        return tuple(-(-cells // side) for cells, side in zip(self.shape, self.sides[level], strict=True))

    def sums(self, cells: Array) -> list[Array]:
        """Return the sum of each block, level by level from the top, exact for whole numbers."""
        found = [cells.reshape(self.shape)]
        for upper, lower in pairwise(reversed(self.sides)):
            found.append(_coarser(found[-1], tuple(b // a for a, b in zip(upper, lower, strict=True))))
        return [level.reshape(-1) for level in reversed(found)]

    def sizes(self) -> list[Array]:
        """Return how many cells each block holds."""
        return self.sums(np.ones(self.shape, dtype=np.int64))

    def solve(self, measured: list[Floats], variances: list[float]) -> Floats:
        """Return the least squares estimate of the cells from measured blocks; an infinite variance is no measure."""
        return tree_least_squares(measured, self.parents, variances).values[-1].reshape(self.shape)


def _coarser(cells: Array, steps: tuple[int, ...]) -> Array:
    for axis, step in enumerate(steps):
        if step > 1:
            cells = np.add.reduceat(cells, np.arange(0, cells.shape[axis], step), axis=axis)
    return cells


@lru_cache(maxsize=64)
def _sides(shape: tuple[int, ...], branching: int, in_turn: bool) -> tuple[tuple[int, ...], ...]:
    sides = [1] * len(shape)
    found = [tuple(sides)]
    while any(side < cells for side, cells in zip(sides, shape, strict=True)):
        counts = [-(-cells // side) for side, cells in zip(sides, shape, strict=True)]
        joined = [counts.index(max(counts))] if in_turn else range(len(shape))
        for axis in joined:
            sides[axis] *= branching
        found.append(tuple(sides))
    return tuple(reversed(found))


@lru_cache(maxsize=16)
def _parents(shape: tuple[int, ...], branching: int, in_turn: bool) -> tuple[Places, ...]:
    tree = Blocks(shape=shape, branching=branching, in_turn=in_turn)
    found = []
    for level in range(1, tree.levels):
        upper, lower = tree.sides[level - 1], tree.sides[level]
        places = np.indices(tree.grid(level)).reshape(len(shape), -1)
        above = [place // (u // v) for place, u, v in zip(places, upper, lower, strict=True)]
        parents = np.ravel_multi_index(tuple(above), tree.grid(level - 1)).astype(np.int64)
        parents.setflags(write=False)
        found.append(parents)
    return tuple(found)
