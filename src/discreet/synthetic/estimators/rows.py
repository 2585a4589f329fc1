"""Some rows of a workload, spread over all of it.

What is fitted to them is public, and only tuned by them: a sample serves.
"""

import math
from functools import lru_cache

import numpy as np

from discreet.noise.fast import Floats
from discreet.synthetic.operators.all_ranges import AllRanges
from discreet.synthetic.operators.explicit import Explicit
from discreet.synthetic.operators.identity import Identity
from discreet.synthetic.operators.kronecker import Kronecker
from discreet.synthetic.operators.operator import Operator
from discreet.synthetic.operators.prefix import Prefix
from discreet.synthetic.operators.total import Total
from discreet.synthetic.operators.union import Union

__all__ = ["largest_entry", "rows_of", "spread_rows", "units"]

GOLDEN = (5**0.5 - 1) / 2
SIZE = 1 << 23
"""Numbers that rows may hold altogether."""


@lru_cache(maxsize=32)
def largest_entry(workload: Operator) -> int:
    """Return the largest size of an entry of the whole matrix of a workload.

    >>> largest_entry(Explicit(matrix=[[1, -3], [0, 2]]))
    3
    """
    if isinstance(workload, AllRanges | Prefix | Identity | Total):
        return 1
    if isinstance(workload, Kronecker):
        return math.prod(largest_entry(factor) for factor in workload.of)
    if isinstance(workload, Explicit):
        return int(abs(workload.matrix.data).max(initial=0))
    if isinstance(workload, Union):
        common = workload.denominator
        return max(int(weight * common / part.denominator) * largest_entry(part) for weight, part in workload.parts)
    rows = workload.shape[0]
    step, largest = max(1, SIZE // max(workload.shape)), 1
    for low in range(0, rows, step):
        unit = np.zeros((rows, min(step, rows - low)), dtype=np.int64)
        unit[np.arange(low, low + unit.shape[1]), np.arange(unit.shape[1])] = 1
        largest = max(largest, int(np.abs(workload.whole_rmatvec(unit)).max()))
    return largest


@lru_cache(maxsize=4)
def spread_rows(workload: Operator) -> Floats:
    """Return rows of a workload at places that a golden section spreads evenly; all if they are not too many.

    >>> from discreet.synthetic.operators import Prefix
    >>> spread_rows(Prefix(size=2)).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    total, cells = workload.shape
    most = min(total, max(16, SIZE // max(cells, units(workload))))
    places = np.arange(total) if most == total else np.floor((np.arange(1, most + 1) * GOLDEN % 1.0) * total)
    found = rows_of(workload, places.astype(np.int64))
    found.setflags(write=False)
    return found


def units(workload: Operator) -> int:
    """Return how many rows an operator has that are found one by one, as the product of its transpose with a unit.

    >>> units(Prefix(size=8)), units(Kronecker(of=(AllRanges(size=8), Prefix(size=5))))
    (8, 5)
    """
    if isinstance(workload, AllRanges | Explicit):
        return 0
    if isinstance(workload, Kronecker | Union):
        return max(units(part) for part in workload.of)
    return workload.shape[0]


def rows_of(workload: Operator, places: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Floats:
    """Return the rows at some places.

    >>> rows_of(AllRanges(size=3), np.array([1, 5])).tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if isinstance(workload, AllRanges):
        n = workload.size
        begun = np.arange(n + 1, dtype=np.int64)
        first_rows = begun * n - begun * (begun - 1) // 2
        first = np.searchsorted(first_rows, places, side="right") - 1
        last = first + places - first_rows[first]
        cells = np.arange(n)
        return ((cells >= first[:, None]) & (cells <= last[:, None])).astype(np.float64)
    if isinstance(workload, Kronecker):
        found, left = np.ones((len(places), 1)), places
        sizes = [factor.shape[0] for factor in workload.of]
        for factor, place in zip(workload.of, np.unravel_index(left, sizes), strict=True):
            part = rows_of(factor, np.asarray(place, dtype=np.int64))
            found = (found[:, :, None] * part[:, None, :]).reshape(len(places), -1)
        return found
    if isinstance(workload, Explicit):
        return np.asarray(workload.matrix.entries[places].toarray() / workload.denominator, dtype=np.float64)
    if isinstance(workload, Union):
        found, start = np.empty((len(places), workload.shape[1])), 0
        for weight, stacked in workload.parts:
            held = (places >= start) & (places < start + stacked.shape[0])
            found[held] = float(weight) * rows_of(stacked, places[held] - start)
            start += stacked.shape[0]
        return found
    unit = np.zeros((workload.shape[0], len(places)))
    unit[places, np.arange(len(places))] = 1.0
    return np.ascontiguousarray(np.asarray(workload.rmatvec(unit), dtype=np.float64).T)
