"""The lightest edges across cuts, by weight: what decides how far a spanning tree moves.

For a cut of a graph with weights, ``w_t`` is the weight of its t-th lightest edge, and a bound if there are fewer.
The edges lighter than some ``w`` number k or fewer across some cut exactly if some cut has ``w_(k+1) >= w``, so the
largest ``w_(k+1)`` over all cuts is the largest ``w`` at which those edges have connectivity k or less.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from discreet.sensitivity.graphs.connectivity import connectivity, held_twice
from discreet.sensitivity.graphs.graph import Integers

__all__ = ["heaviest", "widest"]

Weights = npt.NDArray[np.float64]


def heaviest(weights: Weights, bound: float, most: int | None = None) -> Weights:
    """Return the largest ``w_1, w_2, ...`` over all cuts, until it is the bound, or the first one or two.

    The matrix of weights has infinity where there is no edge; ``most`` is 1 or 2 if so many are enough. The
    connectivity of the edges lighter than some weight rises with the weight, so each step is found by bisection.

    >>> triangle = np.array([[np.inf, 1, 2], [1, np.inf, 4], [2, 4, np.inf]])
    >>> heaviest(triangle, bound=4.0)
    array([2., 4.])
    """
    steps = _steps(weights, bound)

    def held(p: int, least: int) -> bool:
        lighter = weights < steps[p]
        if most is not None:
            return held_twice(sparse.csr_array(lighter.astype(np.int32))) >= least
        return connectivity(lighter, least) >= least

    found: list[float] = []
    start = 0
    while not found or (found[-1] < bound and len(found) != most):
        least = len(found) + 1
        start = _last(lambda p, least=least: not held(p, least), start, steps.size - 1)  # type: ignore[misc]
        found.append(float(steps[start]))
    return np.array(found)


def widest(weights: Weights, bound: float, heavy: Weights) -> Weights:
    """Return the largest ``w_2 - w_1, w_3 - w_1, ...`` over all cuts, or ``heavy`` where that is more.

    ``heavy[k]`` is the largest ``w_(k+1)``. If ``w_(k+2) - w_1 > heavy[k]`` at a cut, the edges lighter than
    ``w_(k+2)`` have connectivity k + 1, so this is a least cut of theirs. Its lightest edge joins two vertices that no
    more than k + 1 paths without common edges connect: Nissim, Raskhodnikova and Smith, STOC 2007, reduce it to such
    flows. Edges are taken from the lightest on; the one at hand is of use only if its ends are separated at a weight
    that exceeds its own by more than what was found. As this weight rises, ends that were not separated never are
    again, so they are merged, and at most ``vertices - 1`` edges are tried for each k.

    >>> triangle = np.array([[np.inf, 1, 2], [1, np.inf, 4], [2, 4, np.inf]])
    >>> widest(triangle, 4.0, heaviest(triangle, 4.0))
    array([3., 4.])
    """
    steps = _steps(weights, bound)
    ends = np.stack(np.nonzero(np.triu(weights < bound)), axis=1)
    ends = ends[np.argsort(weights[ends[:, 0], ends[:, 1]], kind="stable")]
    tops = np.append(heavy[1:], bound)
    found = [_widest(weights, steps, ends, k, float(heavy[k]), float(tops[k])) for k in range(heavy.size)]
    return np.array(found)


def _widest(weights: Weights, steps: Weights, ends: Integers, k: int, best: float, top: float) -> float:
    last = int(np.searchsorted(steps, top))
    group = np.arange(len(weights))

    def separated(p: int, a: int, b: int) -> bool:
        lighter = sparse.csr_array((weights < steps[p]).astype(np.int32))
        return int(csgraph.maximum_flow(lighter, a, b).flow_value) <= k + 1

    for a, b in ends.tolist():
        weight = float(weights[a, b])
        first = int(np.searchsorted(steps - weight, best, side="right"))
        if first > last:
            break
        if group[a] == group[b]:
            continue
        if separated(first, a, b):
            p = _last(lambda p, a=a, b=b: separated(p, a, b), first, last)  # type: ignore[misc]
            best = float(steps[p]) - weight
        group[group == group[b]] = group[a]
    return best


def _steps(weights: Weights, bound: float) -> Weights:
    """Return the weights there are, and the bound, in rising order."""
    lighter = weights[weights < bound]
    return np.append(np.unique(lighter), bound)


def _last(holds: Callable[[int], bool], first: int, last: int) -> int:
    """Return the last number at which a condition holds that holds at the first, and nowhere after it fails."""
    if holds(last):
        return last
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if holds(middle) else (first, middle)
    return first
