"""How many edges hold a graph together: its edge connectivity, the least number of edges across any cut.

Changing one edge changes it by at most 1.
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from discreet.sensitivity.graphs.graph import Integers

__all__ = ["connectivity", "held_twice"]

TAKEN = np.iinfo(np.int64).min // 2


def connectivity(adjacent: npt.NDArray[np.bool_], most: int | None = None) -> int:
    """Return the edge connectivity of a graph with two vertices or more, from its matrix.

    If it is below ``most``, any number from it to ``most - 1`` may come back; otherwise, ``most``.

    It is the least degree where any two vertices are at distance 2 or less (Plesnik, "Critical graphs of given
    diameter", Acta Fac. Rerum Natur. Univ. Comenian. Math. 1975). Otherwise vertices are taken one after the other,
    always the one that most edges join to those before. The last one is cut off by its edges, and as many paths without
    common edges join any vertex to the one before it as edges led to it when it was taken (Nagamochi and Ibaraki,
    "Computing Edge-Connectivity in Multigraphs and Capacitated Graphs", SIAM J. Discrete Math. 1992): where these are
    no fewer than the best cut so far, no better cut is between the two, and they are merged.

    >>> connectivity(np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]], dtype=bool))
    1
    """
    edges = adjacent.astype(np.int64)
    best = int(edges.sum(axis=0).min())
    if most is not None and best < most:
        return best
    links = adjacent.astype(np.float32)
    near = (links @ links > 0) | adjacent
    np.fill_diagonal(near, val=True)
    least, best = (0, best) if most is None else (most - 1, most)
    while len(edges) > 1 and best > least and not near.all():
        order, reached = _taken(edges)
        best = min(best, int(reached[-1]))
        starts = np.flatnonzero(reached < best)
        edges = edges[np.ix_(order, order)]
        edges = np.add.reduceat(np.add.reduceat(edges, starts, axis=0), starts, axis=1)
        np.fill_diagonal(edges, 0)
    return best


def _taken(edges: Integers) -> tuple[Integers, Integers]:
    """Return the order in which vertices are taken, and how many edges led to each (to the first, none)."""
    n = len(edges)
    order, reached = np.zeros(n, dtype=np.int64), np.full(n, -1)
    reach = edges[0].copy()
    reach[0] = TAKEN
    for i in range(1, n):
        order[i] = vertex = int(np.argmax(reach))
        reached[i] = reach[vertex]
        reach += edges[vertex]
        reach[vertex] = TAKEN
    return order, reached


def held_twice(matrix: sparse.csr_array) -> int:
    """Return the edge connectivity or 2, whichever is less, of a graph with two vertices or more.

    Two forests tell it: one that spans the graph, and one that spans what is left. If a single edge of theirs led out
    of some set of vertices, any other edge of the graph that does would join two trees of the second forest. Each edge
    of the second closes a cycle with the first, and an edge on no such cycle is a bridge.

    >>> held_twice(sparse.csr_array(np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])))
    2
    """
    matrix = matrix.astype(np.float64)
    if csgraph.connected_components(matrix, directed=False)[0] > 1:
        return 0
    tree = csgraph.minimum_spanning_tree(matrix)
    tree = tree + tree.T
    order, parents = csgraph.breadth_first_order(tree, 0, directed=False)
    place = np.argsort(order).tolist()
    parent = parents.tolist()
    rest = csgraph.minimum_spanning_tree(matrix - matrix.multiply(tree > 0)).tocoo()
    top = list(range(len(order)))

    def topmost(vertex: int) -> int:
        while top[vertex] != vertex:
            top[vertex] = vertex = top[top[vertex]]
        return vertex

    bridges = len(order) - 1
    for a, b in zip(rest.row.tolist(), rest.col.tolist(), strict=True):
        u, v = topmost(a), topmost(b)
        while u != v:
            u, v = (u, v) if place[u] > place[v] else (v, u)
            top[u] = u = topmost(parent[u])
            bridges -= 1
    return 1 if bridges else 2
