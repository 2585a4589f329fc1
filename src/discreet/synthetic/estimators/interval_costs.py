"""A private partition of a line into intervals within which counts are alike.

Li, Hay and Miklau, "A Data- and Workload-Aware Algorithm for Range Queries Under Differential Privacy", VLDB 2014, the
first stage of DAWA. Every interval whose length is a power of 2 has a cost: how uneven its counts are, and what a
bucket costs; noise is added to each, and of all partitions into such intervals the one of least noisy cost is told,
found by dynamic programming. Long intervals begin at each sixteenth of their length alone, which keeps a few per cent
of them.

Uneven means here ``dev(B) = sum |x_i - median|``, where they take the mean. By adding 1 to a count it changes by at
most 1, being a minimum over c of sums ``sum |x_i - c|`` that all change by at most 1; with the mean it is up to 2. The
deviation from the mean is at most twice that from the median, so that relative to its noise the median never tells
less. And it is a whole number. All costs are in units of ``1 / FINE`` of a record, so that a bucket may cost less than
a record where noise is small; with whole ones cells that differ by a record would be merged at any epsilon.

The proof, which holds for noise of one side as well as for their Laplace noise. Let ``G(B)`` be independent, with
``P[G >= t] = exp(-t / (f s))`` for whole ``t >= 0``, f the units in a record, and the noisy cost
``f dev(B) + constant - G(B)``, a whole number of units. Take neighbours by add_remove: one cell j changes by 1. Fix a
partition P, let B0 be its interval that holds j, and fix the noise of all other intervals. Partitions that share B0
with P compare to it as before: the noise and the cost of B0 cancel, and no other interval of theirs holds j. Those that
do not share it have one interval that holds j, whose cost changes by at most f, and so does that of B0. So P is told
just if ``G(B0) >= t``, where t, a whole number, moves by at most ``2 f`` between neighbours (ties are broken by a fixed
order of partitions, which the recursion below keeps), and the probabilities of this differ by the factor ``exp(2 / s)``
at most. Hence ``s = 2 / epsilon`` gives ``epsilon``-DP. Under replace_one a record leaves one cell and comes into
another, or one of both where a cell is full: two such steps, and twice the noise.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from discreet.noise import geometric
from discreet.synthetic.estimators.estimator import Int64

__all__ = ["deviations", "least_partition", "noise_scale", "noisy_costs"]

OFFSETS = 16
"""How many intervals of one length begin within that length."""

FINE = 1 << 10
"""Units of cost in a record. An interval is the union of at most 44 others with ends at any two places, as there are up
to 2^22 cells: fewer than this, so that to part what differs by a record is worth it where buckets cost a unit."""

WIDE = 1 << 50
"""Noise of a larger scale may not fit into 64 bits, and is added in whole numbers of any size."""

LONG = 1 << 12
"""So are the costs of longer intervals: those of this length are up to ``LARGEST * LONG / 2 * FINE = 2^61``."""


def noise_scale(epsilon: Fraction, touched: int) -> Fraction:
    """Return the scale of the noise of each cost, in records."""
    return 2 * touched / epsilon


def deviations(cells: Int64) -> list[tuple[int, int, Int64]]:
    """Return, for each power of 2, the length of intervals, the step between their starts, and their deviations.

    >>> [(length, costs.tolist()) for length, _, costs in deviations(np.array([5, 5, 0, 1]))]
    [(1, [0, 0, 0, 0]), (2, [0, 5, 1]), (4, [9])]
    """
    found = [(1, 1, np.zeros(len(cells), dtype=np.int64))]
    length = 2
    while length <= len(cells):
        step = max(1, length // OFFSETS)
        windows = np.partition(sliding_window_view(cells, length)[::step], length // 2, axis=1)
        upper, lower = windows[:, length // 2 :].sum(axis=1), windows[:, : length // 2].sum(axis=1)
        found.append((length, step, np.asarray(upper - lower)))
        length *= 2
    return found


def noisy_costs(cells: Int64, scale: Fraction, charged: Fraction) -> list[tuple[int, int, Int64]]:
    """Return the deviations and what is charged for each bucket, less the noise, all in units of ``1 / FINE``."""
    constant, spread = math.ceil(FINE * charged), FINE * scale
    narrow = max(spread, Fraction(constant)) < WIDE
    found = []
    for length, step, costs in deviations(cells):
        kind: type = np.int64 if narrow and length <= LONG else object
        noise = np.asarray(geometric(spread, size=len(costs)))
        found.append((length, step, costs.astype(kind) * FINE + constant - noise))
    return found


def least_partition(costs: list[tuple[int, int, Int64]], cells: int) -> Int64:
    """Return the ends of the intervals, from 0 to the number of cells, of the partition of least cost.

    Among equals it has the shorter last interval, and so on to the left.

    >>> least_partition([(1, 1, np.array([1, 1, 9])), (2, 1, np.array([5, 6]))], 3).tolist()
    [0, 1, 3]
    """
    listed = [(length, step, values.tolist()) for length, step, values in costs]
    best, last = [0] * (cells + 1), [0] * (cells + 1)
    for end in range(1, cells + 1):
        least, chosen = None, 0
        for length, step, values in listed:
            start = end - length
            if start < 0:
                break
            if start % step == 0:
                total = best[start] + values[start // step]
                if least is None or total < least:
                    least, chosen = total, start
        assert least is not None  # noqa: S101 - single cells always fit
        best[end], last[end] = least, chosen
    ends = [cells]
    while ends[-1]:
        ends.append(last[ends[-1]])
    return np.array(ends[::-1], dtype=np.int64)
