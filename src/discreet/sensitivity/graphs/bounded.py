"""Statistics of graphs whose degrees are cut to a public bound, which makes their sensitivity small everywhere.

On a graph whose degrees are within the bound they are the statistics themselves; on any other they are off, and as
private. Neighbours are either graphs that differ in one edge (``neighbours="edge"``) or graphs that differ in the edges
of one vertex (``neighbours="node"``). Among the latter, ``add_remove`` means that this vertex has no edges in one of
the two, and ``replace_one`` that it may have any in both.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real
from discreet.sensitivity.graphs.common import triangles
from discreet.sensitivity.graphs.graph import Graph, Integers, check_whole
from discreet.sensitivity.graphs.projection import first_edges, grown
from discreet.sensitivity.graphs.stars import stars
from discreet.sensitivity.norms import norm
from discreet.units import Relation, check_relation

__all__ = ["BoundedDegrees", "BoundedEdges", "BoundedStars", "BoundedTriangles"]

Neighbours = Literal["edge", "node"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeBounded:
    """A public number of vertices, the most edges that count at each, and what neighbours are."""

    vertices: int
    degree: int
    neighbours: Neighbours = "edge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", check_whole(self.vertices, "vertices, their public number,"))
        object.__setattr__(self, "degree", check_whole(self.degree, "degree, the most edges of a vertex,"))
        if self.neighbours not in get_args(Neighbours):
            raise InvalidParameter(
                'neighbours must be "edge" (graphs that differ in one edge) or "node" (in the edges of one vertex).'
            )

    @property
    def most(self) -> int:
        """The highest degree there can be."""
        return min(self.degree, self.vertices - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedEdges(DegreeBounded):
    """Count the edges of a graph ``grown`` to a bounded degree.

    Has sensitivity at most 1 for edge neighbours: the degrees change by 2 in all, and there are half as many edges. Has
    sensitivity at most ``degree`` for node neighbours: if the vertex keeps t edges, the other degrees change by at most
    t in all, so the number of edges rises by at least 0 and at most t. Two graphs that differ in the edges of one
    vertex both exceed the one without these by 0 to ``degree``. An edge that is replaced changes it by at most 2.

    >>> friends = BoundedEdges(vertices=5, degree=2, neighbours="node")
    >>> friends([(0, 1), (0, 2), (0, 3), (0, 4)]), str(friends.sensitivity(relation="add_remove"))
    (2, '2')
    """

    def __call__(self, data: Iterable[object], /) -> int:
        """Return the number of edges."""
        return len(grown(Graph.of(data, self.vertices), self.degree).ends)

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return it; a single number changes by the same amount in every norm."""
        replaced = check_relation(relation) == "replace_one"
        if self.neighbours == "node":
            return norm([self.most], p)
        return norm([min(self.most, 1) * (2 if replaced else 1)], p)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedStars(DegreeBounded):
    """Count the stars with k rays of a graph ``grown`` to a bounded degree d.

    A degree that moves by 1 within the bound moves the count by at most ``C(d - 1, k - 1)``. Has sensitivity at most
    ``2 C(d - 1, k - 1)`` for edge neighbours, as the degrees change by 2 in all, and ``C(d, k) + d C(d - 1, k - 1)``
    for node neighbours: the stars at the vertex, and those at the others, whose degrees change by d in all. Under
    ``replace_one`` these are doubled, since a replacement is a removal and an addition.

    >>> BoundedStars(k=2, vertices=5, degree=3)([(0, 1), (0, 2), (0, 3), (0, 4)])
    3
    """

    k: int

    def __post_init__(self) -> None:
        DegreeBounded.__post_init__(self)
        object.__setattr__(self, "k", check_whole(self.k, "k, the rays of a star,", least=2))

    def __call__(self, data: Iterable[object], /) -> int:
        """Return the number of stars."""
        return stars(grown(Graph.of(data, self.vertices), self.degree), self.k)

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return it; a single number changes by the same amount in every norm."""
        times = 2 if check_relation(relation) == "replace_one" else 1
        most = self.most
        step = math.comb(max(most - 1, 0), self.k - 1)
        return norm([times * (2 * step if self.neighbours == "edge" else math.comb(most, self.k) + most * step)], p)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedDegrees(DegreeBounded):
    """Count the vertices of degree 0, 1, ..., ``degree`` of a graph ``grown`` to that degree.

    A vertex whose degree changes moves from one count to another. Has sensitivity at most 4 (p = 1) for edge
    neighbours, as degrees change by 2 in all, so at most two vertices move; and at most ``2 (degree + 1)`` for node
    neighbours, as those of the other vertices change by at most ``degree`` in all, and the vertex itself moves too.
    Under ``replace_one`` these are doubled.

    >>> BoundedDegrees(vertices=5, degree=2)([(0, 1), (0, 2), (0, 3), (0, 4)])
    array([2, 2, 1])
    """

    def __call__(self, data: Iterable[object], /) -> Integers:
        """Return one count for each degree."""
        degrees = grown(Graph.of(data, self.vertices), self.degree).degrees
        return np.bincount(degrees, minlength=self.degree + 1)

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return the p-norm if all vertices that move go from one count to another."""
        times = 2 if check_relation(relation) == "replace_one" else 1
        moved = times * (2 if self.neighbours == "edge" else self.most + 1)
        return norm([moved, -moved] if self.most else [0], p)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedTriangles(DegreeBounded):
    """Count the triangles among the ``first_edges`` of a graph, d at each vertex.

    An edge is in at most ``d - 1`` triangles of what is kept. One edge more in the graph may be kept, which adds as
    many, and may take the place of one at each end, which removes twice as many: has sensitivity at most ``2 (d - 1)``
    for edge neighbours, and twice that if an edge is replaced. Node neighbours are refused.

    >>> triangle = BoundedTriangles(vertices=4, degree=2)
    >>> triangle([(0, 1), (0, 2), (1, 2), (2, 3)]), str(triangle.sensitivity(relation="add_remove"))
    (1, '2')
    """

    def __post_init__(self) -> None:
        DegreeBounded.__post_init__(self)
        if self.neighbours == "node":
            raise NoTheorem(
                "the edges of one vertex may change any number of the edges that are kept, and so of triangles. "
                'Write neighbours="edge".'
            )

    def __call__(self, data: Iterable[object], /) -> int:
        """Return the number of triangles."""
        return triangles(first_edges(Graph.of(data, self.vertices), self.degree).ranked())

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return it; a single number changes by the same amount in every norm."""
        times = 2 if check_relation(relation) == "replace_one" else 1
        return norm([times * 2 * max(self.most - 1, 0)], p)
