"""The cost of a minimum spanning tree."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from discreet.errors import InvalidParameter
from discreet.exact import Real, plain, positive
from discreet.sensitivity.graphs.cuts import heaviest, widest
from discreet.sensitivity.graphs.graph import Graph, check_whole
from discreet.sensitivity.smooth.levels import Levels
from discreet.sensitivity.smooth.sample import numbers
from discreet.units import Relation, records

__all__ = ["SpanningTree"]

EXACT = 64
"""With so many vertices all levels are exact."""

CUTS = 128
"""With so many vertices all levels are told from cuts; with more, the first one is."""

MOST_VERTICES = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanningTree:
    """Add up the weights of a minimum spanning tree, whose edges are public and whose weights are secret.

    The records are the weights, in the order of ``edges`` (by default all pairs ``(0, 1), (0, 2), ..., (1, 2), ...``);
    neighbours differ in the weight of one edge. Weights are clamped to ``[0, bound]``; a missing one counts as 0, so do
    those that the list is too short for, and those beyond its end are left out.

    With ``w_t`` the weight of the t-th lightest edge across a cut, and the bound if there are fewer, ``A(x, k)`` is the
    largest of ``w_(k+1)`` and ``w_(k+2) - w_1`` over all cuts: an edge that is lightest across a cut costs up to its
    weight less when it becomes free, and up to the difference to the next one more when it becomes dear; k others are
    made dear before. Nissim, Raskhodnikova and Smith, STOC 2007. Levels are exact up to 64 vertices. Up to 128 they are
    the largest ``w_(k+2)``, which is more than both and, as one weight moves every other by one place, smooth. Beyond,
    the first level is that one, and the others are the bound.

    >>> tree = SpanningTree(vertices=3, bound=4).at([1, 2, 4])
    >>> tree.value, [tree.local(k) for k in range(3)], round(tree.smooth(0.3), 6)
    (Fraction(3, 1), [3.0, 4.0, 4.0], 3.0)
    """

    vertices: int
    bound: Real
    edges: tuple[tuple[int, int], ...] | None = None

    def __post_init__(self) -> None:
        name = "vertices, their public number,"
        object.__setattr__(self, "vertices", check_whole(self.vertices, name, least=2, most=MOST_VERTICES))
        positive(self.bound, "bound, the largest weight,")
        object.__setattr__(self, "bound", plain(self.bound))
        if self.edges is not None:
            object.__setattr__(self, "edges", _topology(self.edges, self.vertices))

    @property
    def relation(self) -> Relation:
        """One weight is replaced by another."""
        return "replace_one"

    @property
    def size(self) -> int:
        """The number of edges, which is public."""
        return self.vertices * (self.vertices - 1) // 2 if self.edges is None else len(self.edges)

    @property
    def range(self) -> tuple[Real, Real]:
        """From a tree that is free to one whose edges all have the largest weight."""
        return 0, (self.vertices - 1) * Fraction(float(self.bound))

    @property
    def dimension(self) -> int:
        """One number."""
        return 1

    @property
    def norm(self) -> float:
        """One number changes by the same amount in every norm."""
        return 1.0

    def at(self, records: Iterable[object], /) -> Levels:
        """Look at a list of weights."""
        bound = float(self.bound)
        weights = np.full((self.vertices, self.vertices), np.inf)
        pairs = np.triu_indices(self.vertices, 1) if self.edges is None else tuple(np.array(self.edges).T)
        weights[pairs] = _weights(records, self.size, bound)
        weights = np.minimum(weights, weights.T)
        if self.vertices <= EXACT:
            heavy = heaviest(weights, bound)
            levels = np.maximum(heavy, widest(weights, bound, heavy))
        elif self.vertices <= CUTS:
            heavy = heaviest(weights, bound)
            levels = heavy[min(1, heavy.size - 1) :]
        else:
            levels = np.append(heaviest(weights, bound, most=2)[-1], bound)
        return Levels(_cost(weights), levels)


def _cost(weights: npt.NDArray[np.float64]) -> Fraction:
    """Add up the lightest tree, grown from the first vertex by the lightest edge that leads out of it (Prim 1957)."""
    reach, chosen = weights[0].copy(), []
    outside = np.arange(1, len(weights))
    while outside.size:
        i = int(np.argmin(reach[outside]))
        chosen.append(float(reach[outside[i]]))
        np.minimum(reach, weights[outside[i]], out=reach)
        outside = np.delete(outside, i)
    return sum(map(Fraction, chosen), Fraction(0))


def _weights(data: Iterable[object], size: int, bound: float) -> npt.NDArray[np.float64]:
    several = isinstance(data, np.ndarray) and data.ndim > 1
    array = numbers(records(data) if several else data, 0.0, bound)[:size]
    weights = np.zeros(size)
    weights[: array.size] = array
    return np.clip(np.nan_to_num(weights, nan=0.0), 0.0, bound)


def _topology(edges: object, vertices: int) -> tuple[tuple[int, int], ...]:
    pairs = edges if isinstance(edges, Iterable) else [None]
    given = [tuple(pair) if isinstance(pair, Iterable) else () for pair in pairs]
    graph = Graph.of(given, vertices)
    if len(graph.ends) < len(given):
        raise InvalidParameter("edges must be different pairs of different vertices, from 0 on. Write each once.")
    matrix = sparse.csr_array(graph.matrix)
    if csgraph.connected_components(matrix, directed=False)[0] > 1:
        raise InvalidParameter("edges must connect all vertices: otherwise there is no spanning tree.")
    return tuple((int(a), int(b)) for a, b in given)
