"""Which ends of a window can matter: the few that no other end beats, whatever the opposite end is.

An end at distance y from the nearest opposite end and b ranks further out counts ``(y + z) e^(-rate b)`` where the
opposite end adds some ``z >= 0``. An end whose count at z = 0 is not above all counts nearer by is beaten by one of
those for every z. And between two ends p and q an end j is beaten for every z if it is beaten at the one z at which p
and q count the same. What is left are the corners of a convex hull: some hundred of ten million random numbers. All
tests work outwards, block by block, and stop where even the bound would count too little.
"""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from discreet.sensitivity.smooth.sample import Floats

__all__ = ["Ranks", "candidates", "peak"]

Ranks = npt.NDArray[np.int64]

FEW, FIRST, LARGEST = 64, 1 << 10, 1 << 16
"""So few ends are all kept; so many are looked at first, and at most at once."""

STEPS = (64, 8)
"""One in so many points of a block is looked at first: its corners beat most others at once."""

WIDEST = 2.0**1010
"""No opposite end adds so much."""

TURNS = 16
SLACK = 2.0**-38
LOSS = (3 * TURNS + 1) * SLACK
"""What is left out may count more than what is kept, by a relative part of at most this (below 2^-32).

Each test gives up a part ``SLACK``, so that smooth data, all of whose points are corners, are thinned as well."""


def candidates(values: Floats, origin: float, rate: float) -> Ranks:
    """Return the ranks of ends that suffice, the nearest first; ``values`` move away from ``origin``.

    >>> candidates(np.append(np.ones(70), [5.0, 5.0, 6.0]), 0.0, 0.01)
    array([ 0, 72])
    """
    if values.size <= FEW:
        return np.arange(values.size)
    kept = [np.zeros(1, dtype=np.int64)]
    top = np.abs(values[:1] - origin)
    for start, end in _blocks(values, origin, rate):
        highest = float(_counts(top, kept[-1][-1:], rate)[0])
        if _log(abs(values[end - 1] - origin)) - rate * start > highest:
            gaps, ranks = np.abs(values[start:end] - origin), np.arange(start, end)
            chosen = _unbeaten(gaps, ranks, np.append(top, kept[-1][-1]), rate, highest)
            if chosen.size:
                kept.append(ranks[chosen])
                top = gaps[chosen[-1:]]
    ranks = np.concatenate(kept)
    return ranks[_thinned(np.abs(values[ranks] - origin), ranks, rate)]


def peak(values: Floats, origin: float, rate: float) -> Ranks:
    """Return the rank of the one end that counts most at z = 0.

    >>> peak(np.array([1.0, 1.0, 1.0, 5.0, 5.0, 6.0]), 0.0, 0.1)
    array([3])
    """
    best, found = _log(abs(values[0] - origin)), 0
    for start, end in _blocks(values, origin, rate):
        if _log(abs(values[end - 1] - origin)) - rate * start > best:
            counts = _counts(np.abs(values[start:end] - origin), np.arange(start, end), rate)
            here = int(np.argmax(counts))
            if counts[here] > best:
                best, found = float(counts[here]), start + here
    return np.array([found])


def _blocks(values: Floats, origin: float, rate: float) -> Iterator[tuple[int, int]]:
    """Yield blocks of ranks outwards, while the last value would count more than some end before them."""
    farthest, best = _log(abs(values[-1] - origin)), -math.inf
    start, length = 1, FIRST
    while start < values.size:
        best = max(best, _log(abs(values[start - 1] - origin)) - rate * (start - 1))
        if not farthest - rate * start > best:
            break
        end = min(start + length, values.size)
        yield start, end
        start, length = end, min(2 * length, LARGEST)


def _unbeaten(gaps: Floats, ranks: Ranks, before: Floats, rate: float, highest: float) -> Ranks:
    """Return the positions in a block that neither the best end before it nor its own corners beat."""
    left = ranks
    for step in STEPS:
        left = _above_chords(gaps, ranks, before, rate, _corners(gaps[::step], ranks[::step], rate, highest) * step)
        if left.size < ranks.size / 4:
            break
    return left[_corners(gaps[left], ranks[left], rate, highest)]


def _above_chords(gaps: Floats, ranks: Ranks, before: Floats, rate: float, rough: Ranks) -> Ranks:
    """Return the positions of some corners and of all that those before and behind them do not beat."""
    tips, places = np.append(before[0], gaps[rough]), np.append(before[1], ranks[rough])
    even = np.zeros(tips.size)  # where two corners count the same; behind the last one only z = 0 is left
    with np.errstate(over="ignore"):
        even[:-1] = np.maximum(np.diff(tips) / np.expm1(rate * np.diff(places)) - tips[:-1], 0.0)
    np.minimum(even, WIDEST, out=even)
    limits = _counts(tips + even, places, rate)
    limits[:-1] = np.maximum(limits[:-1], _counts(tips[1:] + even[:-1], places[1:], rate))
    lengths = np.diff(rough, prepend=0, append=ranks.size)
    alive = _counts(gaps + np.repeat(even, lengths), ranks, rate) > np.repeat(limits + SLACK, lengths)
    alive[rough] = True
    return np.flatnonzero(alive)


def _corners(gaps: Floats, ranks: Ranks, rate: float, highest: float) -> Ranks:
    """Return the positions of ends that count more at z = 0 than all before them, thinned."""
    counts = _counts(gaps, ranks, rate)
    before = np.append(highest, counts[:-1])
    above = np.flatnonzero(counts > np.maximum.accumulate(before))
    return above[_thinned(gaps[above], ranks[above], rate)]


def _thinned(gaps: Floats, ranks: Ranks, rate: float) -> Ranks:
    """Return positions without every other end that its neighbours beat, again and again until hardly any is.

    An end p before j counts at least ``e^-slack`` times as much as j from ``z = (gap_j - gap_p) / (e^t - 1) - gap_p``
    on, where ``t = rate (rank_j - rank_p) + slack``; an end q behind j up to the same with ``t = rate (...) - slack``.
    """
    left = np.arange(ranks.size)
    idle = 0
    for turn in range(TURNS):
        if left.size < 3 or idle == 2:
            break
        first = turn % 2
        before, here, behind = (left[first + i : left.size - 2 + i : 2] for i in range(3))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            gain = np.expm1(rate * (ranks[here] - ranks[before]) + SLACK)
            since = (gaps[here] - gaps[before]) / gain - gaps[before]
            loss = np.expm1(rate * (ranks[behind] - ranks[here]) - SLACK)
            until = np.where(loss > 0, (gaps[behind] - gaps[here]) / loss - gaps[here], np.inf)
        keep = np.ones(left.size, dtype=np.bool_)
        keep[first + 1 : left.size - 1 : 2] = since > np.maximum(until, 0.0)
        kept = left[keep]
        idle = idle + 1 if kept.size > 0.9 * left.size else 0
        left = kept
    return left


def _counts(gaps: Floats, ranks: Ranks | Floats, rate: float) -> Floats:
    """Return the logarithms of what ends count."""
    with np.errstate(divide="ignore", over="ignore"):
        logs: Floats = np.log(gaps)
        logs -= rate * ranks
    return logs


def _log(number: float) -> float:
    return math.log(number) if number > 0 else -math.inf
