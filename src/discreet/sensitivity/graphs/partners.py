"""The best partner of every vertex: what an edge between two vertices can do rises with their degrees."""

import numpy as np

from discreet.sensitivity.graphs.graph import Graph, Integers

__all__ = ["partners"]


def partners(graph: Graph) -> Integers:
    """Return pairs of degrees that no pair of vertices exceeds in both, each as (higher, lower).

    Degrees do not count an edge between the two. Among the vertices that are adjacent to a given one, the one of the
    highest degree is at least as good as the others, and so among those that are not; hence two partners for each
    vertex stand for all pairs. With vertices in falling order of degree, the best vertex that is not adjacent is the
    first one missing in a closed neighbourhood, so that all are found in one sorting of the edges.

    >>> partners(Graph.of([(0, 1), (0, 2), (0, 3)], vertices=5))     # centre and fifth vertex, or two leaves
    array([[3, 0],
           [1, 1]])
    """
    ranked = graph.ranked()
    n, degrees = ranked.vertices, ranked.degrees
    a, b = ranked.ends.T
    everyone = np.arange(n)
    vertex, near = np.concatenate([a, b, everyone]), np.concatenate([b, a, everyone])
    order = np.lexsort((near, vertex))
    vertex, near = vertex[order], near[order]
    place = np.arange(vertex.size) - np.searchsorted(vertex, everyone)[vertex]
    missing = np.bincount(vertex[near == place], minlength=n)
    apart = missing < n
    first = np.full(n, n)
    np.minimum.at(first, np.concatenate([a, b]), np.concatenate([b, a]))
    joined = first < n
    found = np.concatenate(
        [
            np.stack([degrees[apart], degrees[missing[apart]]], axis=1),
            np.stack([degrees[joined], degrees[first[joined]]], axis=1) - 1,
        ]
    )
    return _undominated(np.sort(found, axis=1)[:, ::-1])


def _undominated(pairs: Integers) -> Integers:
    pairs = np.unique(pairs, axis=0)[::-1]
    second = np.maximum.accumulate(pairs[:, 1])
    better = np.ones(len(pairs), dtype=bool)
    better[1:] = pairs[1:, 1] > second[:-1]
    kept: Integers = pairs[better]
    return kept
