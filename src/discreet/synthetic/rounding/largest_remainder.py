"""Whole numbers with a given sum, by the largest remainders.

Every entry is rounded down; what is missing goes to the entries with the largest remainders, one each (Hamilton's
method of apportionment: Balinski and Young, "Fair Representation", 1982). No whole vector with that sum is closer, in
any Lp norm, if the entries sum to the total.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter

__all__ = ["largest_remainder"]

Integers = npt.NDArray[np.int64]

LARGEST = 2**63 - 1
SMALL = 1 << 62
"""Sums below this leave room in 64 bits."""

NEARLY = 1e-9
"""A number this close below a whole one is taken for it: floats that should be whole are not always."""


def largest_remainder(values: npt.ArrayLike, total: npt.ArrayLike, *, axis: int = -1) -> Integers:
    """Return whole numbers of at least 0, each the floor or the ceiling of its entry, that sum to ``total``.

    Works along one axis. Where floors and ceilings cannot have that sum, entries are lowered or raised further, one
    unit after another in turn; with equal remainders the first comes first. Totals go up to 2**63 - 1; the sums are
    exact however large the values are.

    >>> largest_remainder([1.5, 1.5, 1.0], 4).tolist()
    [2, 1, 1]
    >>> largest_remainder([[0.4, 0.6], [2.5, 0.5]], [1, 3]).tolist()
    [[0, 1], [3, 0]]
    """
    v = np.atleast_1d(np.asarray(values, dtype=np.float64))
    n = np.asarray(total)
    if not -v.ndim <= axis < v.ndim:
        raise InvalidParameter(f"axis must be one of the {v.ndim} axes of values.")
    v = np.moveaxis(v, axis, -1)
    if n.dtype.kind not in "iu" or np.any(n < 0) or np.any(n > LARGEST):
        raise InvalidParameter("a total must be a whole number of at least 0 and below 2**63.")
    try:
        n = np.broadcast_to(n, v.shape[:-1])
    except ValueError as error:
        raise InvalidParameter("there must be one total, or one for each line of values.") from error
    if v.shape[-1] == 0 or not np.all(np.isfinite(v)) or np.any(v < 0):
        raise InvalidParameter("values must be one or more finite numbers of at least 0. Project them first.")
    floors = np.floor(v + NEARLY)
    # Where sums could pass what 64 bits hold, the numbers are Python's own.
    small = v.shape[-1] * (float(v.max(initial=0.0)) + 1) < SMALL and int(n.max(initial=0)) < SMALL
    whole: npt.NDArray[Any] = floors.astype(np.int64) if small else np.asarray(np.frompyfunc(int, 1, 1)(floors))
    missing = np.asarray(n.astype(whole.dtype) - whole.sum(axis=-1))
    order = np.argsort(floors - v, axis=-1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(v.shape[-1]), order.shape), axis=-1)
    given = np.asarray(np.maximum(missing, 0))
    turns, extra = np.asarray(given // v.shape[-1]), np.asarray(given % v.shape[-1]).astype(np.int64)
    whole = whole + turns[..., None] + (rank < extra[..., None]).astype(np.int64)
    for line in zip(*np.nonzero(missing < 0), strict=True) if missing.ndim else [()] * int(missing < 0):
        whole[line] = _lowered(whole[line], int(-missing[line]), order[line][::-1])
    return np.asarray(np.moveaxis(whole, -1, axis), dtype=np.int64)


def _lowered(whole: Integers, surplus: int, order: Integers) -> Integers:
    """Return a line with ``surplus`` units taken away, in turns, from the smallest remainders first."""
    left = whole.copy()
    while surplus:
        takers = order[left[order] > 0]
        turns = max(1, min(surplus // takers.size, int(left[takers].min())))
        takers = takers[:surplus]
        left[takers] -= turns
        surplus -= turns * takers.size
    return left
