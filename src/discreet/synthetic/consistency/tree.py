"""Least squares on a tree in two passes.

Every node was measured on its own, so a node differs from the sum of its children. Among all trees in which they agree,
the one closest to the measurements, each weighed by its precision, is found by one pass up and one pass down: Hay,
Rastogi, Miklau and Suciu, "Boosting the Accuracy of Differentially Private Histograms Through Consistency", VLDB 2010,
here for any shape of tree and any variances. By the Gauss-Markov theorem no other linear unbiased estimate has a
smaller variance.

Going up, a node's own measurement is combined with the sum of what its children tell: precisions of independent
estimates add, variances of sums add. Going down, what is missing between a node and its children is shared among these
in proportion to their variances. A measurement that was not made has an infinite variance; what nothing tells is
shared evenly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter

__all__ = ["Floats", "Places", "TreeEstimate", "add_up", "tree_least_squares"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeEstimate:
    """The estimates of all nodes, level by level from the top, and their variances."""

    values: tuple[Floats, ...]
    variances: tuple[Floats, ...]
    own: tuple[Floats, ...]
    """The precision of what a node's own subtree tells of it, before anything from above is used."""


def tree_least_squares(
    values: Sequence[npt.ArrayLike], parents: Sequence[npt.ArrayLike], variances: Sequence[npt.ArrayLike]
) -> TreeEstimate:
    """Return the least-squares estimate of every node of a tree, or of many trees of one shape at once.

    ``values[l]`` holds the measurements of level l, one row per node and, if there are several trees, one column per
    tree; ``parents[l]`` says for each node of level l + 1 which node of level l it belongs to; ``variances[l]`` is
    anything that fits the shape of ``values[l]``, with ``inf`` where nothing was measured.

    >>> estimate = tree_least_squares([[10], [4, 4]], [[0, 0]], [1, 1])
    >>> [level.round(4).tolist() for level in estimate.values]
    [[9.3333], [4.6667, 4.6667]]
    """
    measured = [np.asarray(level, dtype=np.float64) for level in values]
    above = [np.asarray(level, dtype=np.int64) for level in parents]
    precisions = _precisions(measured, above, variances)
    own, told = _upward(measured, above, precisions)
    estimates, outside = [told[0]], [np.zeros_like(told[0])]
    for level, parent in enumerate(above):
        spread = _inverse(own[level + 1])
        estimates.append(told[level + 1] + _shared(estimates[-1], told[level + 1], spread, parent))
        outside.append(_from_above(outside[-1] + precisions[level], spread, parent))
    totals = tuple(_inverse(a + b) for a, b in zip(own, outside, strict=True))
    return TreeEstimate(values=tuple(estimates), variances=totals, own=tuple(own))


def add_up(children: npt.NDArray[np.generic], parents: Places, count: int) -> npt.NDArray[np.generic]:
    """Return the sum of the children of each of ``count`` nodes.

    >>> add_up(np.array([1, 2, 3]), np.array([0, 0, 1]), 2).tolist()
    [3, 3]
    """
    order = np.argsort(parents, kind="stable")
    first = np.searchsorted(parents[order], np.arange(count))
    sums: npt.NDArray[np.generic] = np.add.reduceat(children[order], first, axis=0)
    return sums


def _precisions(measured: list[Floats], above: list[Places], variances: Sequence[npt.ArrayLike]) -> list[Floats]:
    if not measured or len(above) != len(measured) - 1 or len(variances) != len(measured):
        raise InvalidParameter(
            "a tree of k levels has k arrays of values, k of variances and k - 1 of parents; "
            f"got {len(measured)}, {len(variances)} and {len(above)}."
        )
    for level, parent in enumerate(above):
        nodes, children = len(measured[level]), len(measured[level + 1])
        if parent.shape != (children,) or set(parent.tolist()) != set(range(nodes)):
            raise InvalidParameter(
                f"every node of level {level + 1} has one parent on level {level}, and every node of level {level} "
                "has children. List the parents by their places, from 0."
            )
    precisions = []
    for nodes_of_level, variance in zip(measured, variances, strict=True):
        size = np.asarray(variance, dtype=np.float64)
        if not np.all(size > 0):
            raise InvalidParameter("a variance must be above 0, or inf where nothing was measured.")
        precisions.append(np.broadcast_to(1 / size, nodes_of_level.shape))
    return precisions


def _upward(measured: list[Floats], above: list[Places], precisions: list[Floats]) -> tuple[list[Floats], list[Floats]]:
    """Return, for each level, the precision of what each node's subtree tells of it, and what that is."""
    own, told = [precisions[-1]], [np.where(precisions[-1] > 0, measured[-1], 0.0)]
    for level in range(len(above) - 1, -1, -1):
        count = len(measured[level])
        below = _inverse(np.asarray(add_up(_inverse(own[0]), above[level], count), dtype=np.float64))
        sums = np.asarray(add_up(told[0], above[level], count), dtype=np.float64)
        both = precisions[level] + below
        share = np.divide(precisions[level], both, out=np.zeros_like(both), where=both > 0)
        value = np.where(precisions[level] > 0, measured[level], 0.0)
        told.insert(0, sums + share * (value - sums))
        own.insert(0, both)
    return own, told


def _shared(estimate: Floats, told: Floats, spread: Floats, parent: Places) -> Floats:
    """Return what each child gets of the difference between its parent and what the children tell together."""
    count = len(estimate)
    missing = estimate - np.asarray(add_up(told, parent, count), dtype=np.float64)
    unknown = np.isinf(spread).astype(np.float64)
    unknowns = np.asarray(add_up(unknown, parent, count), dtype=np.float64)[parent]
    known = np.where(np.isinf(spread), 0.0, spread)
    total = np.asarray(add_up(known, parent, count), dtype=np.float64)[parent]
    part = np.where(
        unknowns > 0, unknown / np.maximum(unknowns, 1.0), np.divide(known, total, out=known.copy(), where=total > 0)
    )
    return np.asarray(part * missing[parent])


def _from_above(known: Floats, spread: Floats, parent: Places) -> Floats:
    """Return the precision of what the rest of the tree tells of each child: its parent less its siblings."""
    unknown = np.isinf(spread)
    finite = np.where(unknown, 0.0, spread)
    total = np.asarray(add_up(finite, parent, len(known)), dtype=np.float64)[parent]
    unknowns = np.asarray(add_up(unknown.astype(np.float64), parent, len(known)), dtype=np.float64)[parent]
    siblings = np.where(unknowns - unknown > 0, np.inf, np.maximum(total - finite, 0.0))
    return _inverse(_inverse(known)[parent] + siblings)


def _inverse(value: Floats) -> Floats:
    """Return ``1 / value``, with 0 and inf exchanged."""
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / value)
