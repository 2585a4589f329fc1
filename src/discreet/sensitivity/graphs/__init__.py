"""Statistics of graphs whose edges, or whose weights, are secret.

>>> friends = [(0, 1), (1, 2), (2, 0), (2, 3)]
>>> here = Triangles(vertices=4).at(friends)
>>> here.value, here.local()
(1, 1.0)
"""

from discreet.sensitivity.graphs.bounded import BoundedDegrees, BoundedEdges, BoundedStars, BoundedTriangles
from discreet.sensitivity.graphs.components import ConnectedComponents
from discreet.sensitivity.graphs.graph import Graph
from discreet.sensitivity.graphs.spanning_tree import SpanningTree
from discreet.sensitivity.graphs.stars import Stars
from discreet.sensitivity.graphs.triangles import Triangles

__all__ = [
    "BoundedDegrees",
    "BoundedEdges",
    "BoundedStars",
    "BoundedTriangles",
    "ConnectedComponents",
    "Graph",
    "SpanningTree",
    "Stars",
    "Triangles",
]
