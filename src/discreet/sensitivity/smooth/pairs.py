"""The best pair of ends: a window's width against its length, for all lower ends at once.

The lower a window begins, the wider it is already, and the less it gains by a further upper end: the best upper end
moves one way as the lower end does. So the middle lower end is matched first, which halves what is left for the others
(Nissim, Raskhodnikova and Smith, STOC 2007, for the median). All middles of one depth are matched together. Where the
upper ends are the corners of a convex hull there is nothing to divide: each beats the next up to a certain lower end.
"""

from typing import NamedTuple

import numpy as np

from discreet.sensitivity.smooth.candidates import Ranks
from discreet.sensitivity.smooth.sample import Floats

__all__ = ["Pair", "best_pair"]


class Pair(NamedTuple):
    """A window: how wide it is, and how many ranks both ends have moved outwards together."""

    width: float
    ranks: int
    log: float


def best_pair(lower: Floats, below: Ranks, upper: Floats, above: Ranks, rate: float) -> Pair:
    """Return the pair with the largest ``(upper - lower) e^(-rate (above + below))``; both sides go outwards.

    >>> lower, upper = np.array([3.0, 2.0, 0.0]), np.array([4.0, 9.0])
    >>> best_pair(lower, np.arange(3), upper, np.arange(2), 0.1)[:2]
    (9.0, 3)
    """
    with np.errstate(over="ignore", invalid="ignore"):  # two infinities have no order, and are divided
        steps = np.expm1(rate * np.diff(above))
        until = np.diff(upper) / steps - (upper[:-1] - lower[0])  # the next end is better while lower ends add less
        falling = bool((np.diff(until) <= 0).all())
    if falling:
        return _tangents(lower, below, upper, above, until, rate)
    return _divided(lower[::-1], below[::-1], upper, above, rate)


def _tangents(lower: Floats, below: Ranks, upper: Floats, above: Ranks, until: Floats, rate: float) -> Pair:
    """Match every lower end where the order of the upper ends is known."""
    match = np.searchsorted(-until, lower - lower[0])
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(upper[match] - lower) - rate * (below + above[match])
    i = int(np.argmax(logs))
    j = int(match[i])
    return Pair(float(upper[j] - lower[i]), int(below[i] + above[j]), float(logs[i]))


def _divided(lower: Floats, below: Ranks, upper: Floats, above: Ranks, rate: float) -> Pair:
    """Match the middle lower ends first; they go inwards, so that the best upper end moves outwards."""
    size = lower.size
    match = np.zeros(size + 2, dtype=np.int64)
    match[-1] = upper.size - 1
    best = Pair(0.0, 0, -np.inf)
    stride = 1 << size.bit_length()
    while stride := stride >> 1:
        middle = np.arange(stride, size + 1, 2 * stride)
        first = match[middle - stride]
        counts = match[np.minimum(middle + stride, size + 1)] - first + 1
        starts = np.cumsum(counts) - counts
        ends = np.arange(int(counts.sum())) - np.repeat(starts - first, counts)
        with np.errstate(divide="ignore", over="ignore"):
            logs = np.log(upper[ends] - np.repeat(lower[middle - 1], counts)) - rate * above[ends]
            tops = np.maximum.reduceat(logs, starts)
            totals = tops - rate * below[middle - 1]
        hits = np.flatnonzero(logs == np.repeat(tops, counts))
        match[middle] = ends[hits[np.searchsorted(hits, starts)]]
        here = int(np.argmax(totals))
        if totals[here] > best.log:
            i, j = int(middle[here]) - 1, int(match[middle[here]])
            best = Pair(float(upper[j] - lower[i]), int(below[i] + above[j]), float(totals[here]))
    return best
