"""The number of triangles of a graph."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.sensitivity.graphs.common import frontier, triangles
from discreet.sensitivity.graphs.graph import Graph, Integers, OfEdges, check_whole
from discreet.sensitivity.smooth.levels import Levels

__all__ = ["Triangles"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Triangles(OfEdges):
    """Count the triangles of a graph with a public number of vertices, under ``add_remove`` of an edge.

    An edge between i and j is in as many triangles as these have common neighbours, ``a``. Let ``b`` be the number of
    other vertices that are adjacent to one of the two. Each of them becomes a common neighbour by one more edge, and
    each of the rest by two, so within s edges there are ``min(a + floor((s + min(s, b)) / 2), vertices - 2)``, and
    ``A(x, s)`` is the largest of these over all pairs: Nissim, Raskhodnikova and Smith, STOC 2007. It is exact. With
    ``c = 2 a + b``, which is the sum of the degrees without the edge itself, the number is the lesser of ``a + s`` and
    ``floor((s + c) / 2)``, so only pairs count that no other pair exceeds in both a and c.

    >>> path = Triangles(vertices=5).at([(0, 1), (1, 2), (2, 3), (3, 4)])
    >>> path.value, [path.local(s) for s in range(4)]
    (0, [1.0, 2.0, 3.0, 3.0])
    >>> round(path.smooth(0.2), 6)
    2.01096
    """

    vertices: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", check_whole(self.vertices, "vertices, their public number,"))

    @property
    def range(self) -> tuple[int, int]:
        """From none to all there are."""
        return 0, math.comb(self.vertices, 3)

    def at(self, records: Iterable[object], /) -> Levels:
        """Look at a list of edges."""
        if self.vertices < 3:
            return Levels(0, np.zeros(1))
        graph = Graph.of(records, self.vertices).ranked()
        return Levels(triangles(graph), _levels(frontier(graph), self.vertices - 2))


def _levels(most: Integers, cap: int) -> npt.NDArray[np.float64]:
    """Return the largest ``min(most[c] + s, floor((s + c) / 2), cap)`` over c, for every s until it is the cap.

    ``c - 2 most[c]`` rises with c, so the first is the lesser of the two from some c on, where it falls, and the second
    up to there, where it rises.
    """
    s = np.arange(2 * cap + 1)
    turn = np.searchsorted(np.arange(most.size) - 2 * most, s)
    levels = np.maximum(np.append(most, -2 * cap)[turn] + s, (s + turn - 1) // 2)
    last = int(np.argmax(levels >= cap))
    capped: npt.NDArray[np.float64] = np.minimum(levels[: last + 1], cap).astype(np.float64)
    return capped
