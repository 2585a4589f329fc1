"""How much of a workload lies on each level of a tree.

With the same noise on all blocks of a level and full blocks, least squares on a tree is diagonal in the basis of its
levels: the averages of blocks, and what each block differs from the average of the block above. The expected total
squared error of a workload W is then a sum over levels of ``|W P|^2`` over a precision, P the projection to a level.
And ``|W P|^2`` is the difference of ``|W A|^2`` of two levels, A the averages of blocks, which is computed here: for a
block of s cells with indicator b, ``|W b|^2 / s``, summed over all blocks.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from discreet.noise.fast import Floats
from discreet.synthetic.estimators.block_tree import Blocks
from discreet.synthetic.estimators.rows import spread_rows, units
from discreet.synthetic.operators.all_ranges import AllRanges
from discreet.synthetic.operators.kronecker import Kronecker
from discreet.synthetic.operators.operator import Operator
from discreet.synthetic.operators.prefix import Prefix
from discreet.synthetic.operators.union import Union

__all__ = ["all_ranges", "energies", "fitted_workload", "level_energies", "ramp_energy"]

Int64 = npt.NDArray[np.int64]

MOST_UNITS = 1 << 17
"""Nothing is fitted to a workload with more rows than this, and than cells, that can be found one by one alone."""


def all_ranges(shape: tuple[int, ...]) -> Operator:
    """Return all ranges of a line, or all boxes on several axes.

    >>> all_ranges((2, 3)).shape
    (18, 6)
    """
    lines = tuple(AllRanges(size=side) for side in shape)
    return lines[0] if len(lines) == 1 else Kronecker(of=lines)


def fitted_workload(workload: Operator | None, shape: tuple[int, ...]) -> Operator:
    """Return what an estimator is fitted to: the workload or, without one, all ranges.

    All ranges serve as well in place of a workload of a kind of its own that has more than ``MOST_UNITS`` rows: to
    sample its rows would take minutes. The fit is public, and the answers are as private with any.

    >>> fitted_workload(None, (4,)), fitted_workload(Prefix(size=4), (4,))
    (AllRanges(size=4), Prefix(size=4))
    """
    if workload is None or units(workload) > max(MOST_UNITS, workload.shape[1]):
        return all_ranges(shape)
    return workload


def energies(workload: Operator, tree: Blocks) -> Floats:
    """Return, for each level of a tree from the top, the energy of the averages of its blocks.

    All ranges and prefixes, products of them and unions of these have closed forms; of other workloads that are large
    the rows of a sample are taken.

    >>> energies(Prefix(size=2), Blocks(shape=(2,))).tolist()
    [2.5, 3.0]
    """
    if isinstance(workload, Union):
        return np.asarray(sum(float(weight) ** 2 * energies(part, tree) for weight, part in workload.parts))
    sizes = np.array([float(np.prod(side)) for side in tree.sides])
    lines = tuple(factor for factor in workload.factors if isinstance(factor, AllRanges | Prefix))
    if len(lines) == len(workload.factors) and tuple(line.size for line in lines) == tree.shape:
        each = [[_of_line(line, side) for line, side in zip(lines, sides, strict=True)] for sides in tree.sides]
        return np.asarray(np.prod(np.array(each), axis=1) / sizes)
    rows = spread_rows(workload)
    total = np.array([float(np.sum(level**2)) for level in _of_rows(rows, tree)])
    return np.asarray(total * (workload.shape[0] / len(rows)) / sizes)


def level_energies(averages: Floats) -> Floats:
    """Return the energy of each level itself: what its averages have more than those above.

    >>> level_energies(np.array([2.5, 3.0])).tolist()
    [2.5, 0.5]
    """
    return np.maximum(np.diff(averages, prepend=0.0), 0.0)


def ramp_energy(workload: AllRanges | Prefix, starts: Int64, ends: Int64, ramp: Floats, heights: Floats) -> Floats:
    """Return ``|W b|^2`` for blocks of neighbouring cells, all ranges or all prefixes, in time linear in the cells.

    ``ramp`` holds the cumulative sums of the columns at the n + 1 ends of cells, counted over all blocks one after the
    other; a block goes from ``starts`` to ``ends``, its own ramp from 0 to ``heights``. The answer of the range from a
    to b is the ramp at b less that at a, so the squares of all pairs sum to ``(n + 1) sum u^2 - (sum u)^2``.
    """
    n = workload.shape[1]
    first = np.concatenate([[0.0], np.cumsum(ramp)])
    second = np.concatenate([[0.0], np.cumsum(ramp**2)])
    base, count = ramp[starts], (ends - starts).astype(np.float64)
    sums = first[ends] - first[starts] - base * count + (n + 1 - ends) * heights
    squares = second[ends] - second[starts] - 2 * base * (first[ends] - first[starts]) + base**2 * count
    squares = squares + (n + 1 - ends) * heights**2
    return np.asarray(squares if isinstance(workload, Prefix) else (n + 1) * squares - sums**2, dtype=np.float64)


def _of_line(workload: AllRanges | Prefix, side: int) -> float:
    n = workload.shape[1]
    starts = np.arange(0, n, side, dtype=np.int64)
    ends = np.minimum(starts + side, n)
    heights = (ends - starts).astype(np.float64)
    return float(ramp_energy(workload, starts, ends, np.arange(n + 1.0), heights).sum())


def _of_rows(rows: Floats, tree: Blocks) -> list[Floats]:
    """Return what rows give for each block, level by level from the top."""
    held = rows.reshape(len(rows), *tree.shape)
    found = [held]
    for finer, coarser in pairwise(reversed(tree.sides)):
        for axis, (small, large) in enumerate(zip(finer, coarser, strict=True), start=1):
            if large > small:
                held = np.add.reduceat(held, np.arange(0, held.shape[axis], large // small), axis=axis)
        found.append(held)
    return found[::-1]
