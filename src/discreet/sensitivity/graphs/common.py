"""Pairs of vertices by their common neighbours: which of them matter, without looking at all of them."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from discreet.sensitivity.graphs.graph import Graph, Integers
from discreet.sensitivity.graphs.partners import partners

__all__ = ["frontier", "triangles"]

Flags = npt.NDArray[np.bool_]

BATCH = 4_000_000
"""So many paths of length two are listed at a time."""

FIRST_BATCH = 100_000
"""The first batch is small, because it shows which pairs need no listing."""


def frontier(graph: Graph) -> Integers:
    """Return for ``c = 0, 1, ...`` the most common neighbours of a pair whose degrees sum to c or more.

    Degrees do not count an edge between the two. The graph is ``ranked`` and has two vertices or more. A pair is left
    out only where a pair that was found has as many common neighbours and as large a sum of degrees. The common
    neighbours of a pair are at most the degree of each, so vertices of low degree soon need no listing. Vertices of
    very high degree, which would make nearly all pairs of vertices have a common neighbour, are listed as one of the
    pair first and as a common neighbour apart from the others.
    """
    best = np.zeros(int(partners(graph).sum(axis=1).max()) + 1, dtype=np.int64)
    degrees, matrix = graph.degrees, graph.matrix
    heavy = int(np.searchsorted(-degrees, -2 * (1 + np.sqrt(degrees.sum()))))  # the first so many vertices
    through_heavy = matrix[:, :heavy].tocsr()
    heavies = np.diff(through_heavy.indptr).astype(np.int64)

    def admit(i: Integers, j: Integers, common: Integers) -> None:
        sums = degrees[i] + degrees[j]
        kept = common > best[np.minimum(sums, best.size - 1)]
        i, j, common, sums = i[kept], j[kept], common[kept], sums[kept]
        sums = sums - 2 * graph.adjacent(i, j)
        np.maximum.at(best, sums, common)
        best[:] = np.maximum.accumulate(best[::-1])[::-1]

    def admit_light(i: Integers, j: Integers, light: Integers) -> None:
        sums = np.minimum(degrees[i] + degrees[j], best.size - 1)
        kept = light + np.minimum(heavies[i], heavies[j]) > best[sums]
        i, j, light = i[kept], j[kept], light[kept]
        for part in range(0, i.size, BATCH // 8):
            some = slice(part, part + BATCH // 8)
            both = through_heavy[i[some]].multiply(through_heavy[j[some]]).sum(axis=1) if heavy else 0
            admit(i[some], j[some], light[some] + both)

    def hopeless(vertex: Integers, row: int, most: Integers) -> Flags:
        """Tell which vertices are beaten in every pair with a row or those after it, having at most so much."""
        beaten: Flags = best[np.minimum(degrees[row] + degrees[vertex], best.size - 1)] >= most[vertex]
        return beaten

    everyone = np.arange(graph.vertices)
    _scan(matrix, everyone[:heavy], everyone, lambda v, row: hopeless(v, row, degrees), admit)
    light = matrix[:, heavy:].tocsr()
    _scan(light, everyone[heavy:], everyone[heavy:], lambda v, row: hopeless(v, row, degrees), admit_light)
    _scan(through_heavy, everyone[heavy:], everyone[heavy:], lambda v, row: hopeless(v, row, heavies), admit)
    return best


def _scan(
    matrix: sparse.csr_array,
    rows: Integers,
    columns: Integers,
    hopeless: Callable[[Integers, int], Flags],
    admit: Callable[[Integers, Integers, Integers], None],
) -> None:
    """List the pairs of a row and a later column that share an entry, batch by batch, without the hopeless."""
    batch = FIRST_BATCH
    while rows.size:
        columns = columns[columns >= rows[0]]
        columns = columns[~hopeless(columns, int(rows[0]))]
        rows = rows[~hopeless(rows, int(rows[0]))] if rows.size else rows
        if not (rows.size and columns.size):
            return
        others = matrix[columns].T.tocsr()
        paths = np.cumsum(matrix[rows] @ np.diff(others.indptr).astype(np.int64))
        count = max(1, int(np.searchsorted(paths, batch)))
        found = (matrix[rows[:count]] @ others).tocoo()
        i, j = rows[found.row], columns[found.col]
        later = j > i
        admit(i[later], j[later], found.data[later].astype(np.int64))
        rows, batch = rows[count:], min(2 * batch, BATCH)


def triangles(graph: Graph) -> int:
    """Count the triangles of a ``ranked`` graph.

    Each is counted at its vertex of the lowest degree, which has few neighbours of a higher one: at most the square
    root of twice the number of edges.

    >>> triangles(Graph.of([(0, 1), (1, 2), (0, 2), (2, 3)], vertices=4).ranked())
    1
    """
    above = sparse.tril(graph.matrix, k=-1).tocsr()
    paths = np.cumsum(above @ np.diff(above.indptr).astype(np.int64))
    return sum(int((above[rows] @ above).multiply(above[rows]).sum(dtype=np.int64)) for rows in _batches(paths))


def _batches(paths: Integers) -> Iterator[slice]:
    start = 0
    while start < paths.size:
        stop = int(np.searchsorted(paths, (paths[start - 1] if start else 0) + BATCH))
        yield slice(start, max(stop, start + 1))
        start = max(stop, start + 1)
