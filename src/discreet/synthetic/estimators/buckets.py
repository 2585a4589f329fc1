"""A tree of sums over buckets of a line, fitted to a workload: the second stage of DAWA.

Li, Hay and Miklau, VLDB 2014. Counts within a bucket are taken as even, so a workload W becomes ``W D`` on the buckets,
where D spreads a bucket over its cells, and the tree is fitted to that. The buckets are known to the public by then.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np

from discreet.noise.fast import Floats
from discreet.synthetic.estimators.block_tree import Blocks
from discreet.synthetic.estimators.energies import level_energies, ramp_energy
from discreet.synthetic.estimators.estimator import Int64
from discreet.synthetic.estimators.levels import exact_shares
from discreet.synthetic.estimators.shares import fitted_shares
from discreet.synthetic.operators.all_ranges import AllRanges
from discreet.synthetic.operators.prefix import Prefix

__all__ = ["bucket_shares"]


def bucket_shares(workload: AllRanges | Prefix | Floats, ends: Int64, public_total: bool) -> tuple[Fraction, ...]:
    """Return the shares of the levels of a binary tree over buckets, from the top.

    ``ends`` are the ends of the buckets from 0 on; the workload is a known one on the line, or rows of one.
    """
    tree = Blocks(shape=(len(ends) - 1,))
    sizes = np.array([float(side[0]) for side in tree.sides])
    found = _by_rows(workload, ends, tree) if isinstance(workload, np.ndarray) else _by_ramp(workload, ends, tree)
    return exact_shares(fitted_shares(level_energies(found / sizes), sizes, public_top=public_total))


def _by_ramp(workload: AllRanges | Prefix, ends: Int64, tree: Blocks) -> Floats:
    cells, buckets = int(ends[-1]), len(ends) - 1
    ramp = np.interp(np.arange(cells + 1.0), ends.astype(np.float64), np.arange(buckets + 1.0))
    found = []
    for (side,) in tree.sides:
        first = np.arange(0, buckets, side)
        last = np.minimum(first + side, buckets)
        found.append(float(ramp_energy(workload, ends[first], ends[last], ramp, (last - first).astype(float)).sum()))
    return np.array(found)


def _by_rows(rows: Floats, ends: Int64, tree: Blocks) -> Floats:
    held = np.add.reduceat(rows, ends[:-1], axis=1) / np.diff(ends)
    found = [float(np.sum(held**2))]
    for (upper,), (lower,) in pairwise(reversed(tree.sides)):
        held = np.add.reduceat(held, np.arange(0, held.shape[1], lower // upper), axis=1)
        found.append(float(np.sum(held**2)))
    return np.array(found[::-1])
