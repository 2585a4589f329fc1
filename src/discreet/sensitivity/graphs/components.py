"""The number of connected components of a graph."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csgraph

from discreet.sensitivity.graphs.connectivity import connectivity, held_twice
from discreet.sensitivity.graphs.graph import Graph, OfEdges, check_whole
from discreet.sensitivity.smooth.levels import Levels

__all__ = ["ConnectedComponents"]

EXACT = 256
"""With so many vertices the edge connectivity is computed; with more, whether it is 0, 1 or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectedComponents(OfEdges):
    """Count the connected components of a graph, under ``add_remove`` of an edge.

    An edge joins two components or none, so the number changes by at most 1. It cannot change at a graph that is
    connected and stays so without any one edge. If l edges must go to take the graph apart, a bridge is left when
    ``l - 1`` are gone, and no sooner: ``A(x, s)`` is 1 from ``s = l - 1`` on and 0 before. This is exact up to 256
    vertices; beyond, l is counted up to 2, which is smooth too, since the lesser of l and 2 changes by at most 1.

    >>> ring = ConnectedComponents(vertices=4).at([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> ring.value, ring.local(0), ring.local(1), ring.distance(0)
    (1, 0.0, 1.0, 1)
    """

    vertices: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", check_whole(self.vertices, "vertices, their public number,"))

    @property
    def range(self) -> tuple[int, int]:
        """From one to a component for each vertex."""
        return 1, self.vertices

    def at(self, records: Iterable[object], /) -> Levels:
        """Look at a list of edges."""
        graph = Graph.of(records, self.vertices)
        if self.vertices < 2:
            return Levels(1, np.zeros(1))
        count = int(csgraph.connected_components(graph.matrix, directed=False)[0])
        held = connectivity(graph.matrix.toarray() > 0) if self.vertices <= EXACT else held_twice(graph.matrix)
        return Levels(count, np.append(np.zeros(max(held - 1, 0)), 1.0))
