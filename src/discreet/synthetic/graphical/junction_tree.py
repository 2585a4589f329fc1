"""Which sets of attributes a graphical model works on: a tree of cliques.

Attributes that are measured together are joined, and the graph is filled up until every cycle has a chord: its maximal
cliques then form a tree in which all cliques with an attribute hang together (Lauritzen and Spiegelhalter, Journal of
the Royal Statistical Society B 1988). Attributes are eliminated where that makes the smallest table first.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.synthetic.graphical.factor import Attributes

__all__ = ["JunctionTree", "junction_tree", "model_cells"]


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Maximal cliques, and for each but the first its parent among those before it.

    >>> tree = junction_tree((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3)])
    >>> tree.cliques, tree.parents
    (((0, 1), (1, 2), (2, 3)), (-1, 0, 1))
    """

    sizes: tuple[int, ...]
    cliques: tuple[Attributes, ...]
    parents: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many numbers the tables of all cliques have."""
        return sum(math.prod(self.sizes[i] for i in clique) for clique in self.cliques)

    def separator(self, clique: int) -> Attributes:
        """Return the attributes that a clique shares with its parent."""
        above = set(self.cliques[self.parents[clique]])
        return tuple(i for i in self.cliques[clique] if i in above)

    def home(self, attributes: Attributes) -> int | None:
        """Return the smallest clique that holds some attributes, if one does."""
        wanted = set(attributes)
        found = [place for place, clique in enumerate(self.cliques) if wanted <= set(clique)]
        return min(found, key=lambda place: self._cells_of(place)) if found else None

    def _cells_of(self, place: int) -> int:
        return math.prod(self.sizes[i] for i in self.cliques[place])


def junction_tree(sizes: tuple[int, ...], sets: Iterable[Attributes]) -> JunctionTree:
    """Return a tree of cliques in which every one of the sets lies within a clique.

    >>> junction_tree((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)]).cells
    16
    """
    count = len(sizes)
    given = [tuple(sorted(set(one))) for one in sets]
    if any(not 0 <= i < count for one in given for i in one):
        raise InvalidParameter(f"attributes are numbered from 0 to {count - 1}.")
    near: list[set[int]] = [set() for _ in range(count)]
    for one in given:
        for i in one:
            near[i] |= set(one) - {i}
    found: list[frozenset[int]] = []
    left = set(range(count))
    while left:
        chosen = min(left, key=lambda i: (_cost(sizes, near, i, left), i))
        neighbours = near[chosen] & left
        found.append(frozenset(neighbours | {chosen}))
        for i in neighbours:
            near[i] |= neighbours - {i}
        left.remove(chosen)
    maximal = [one for one in dict.fromkeys(found) if not any(one < other for other in found)]
    return _joined(sizes, maximal)


def model_cells(sizes: tuple[int, ...], sets: Iterable[Attributes]) -> int:
    """Return how many numbers a model would hold that measures these sets."""
    return junction_tree(sizes, sets).cells


def _cost(sizes: tuple[int, ...], near: list[set[int]], i: int, left: set[int]) -> tuple[bool, int]:
    """Return whether neighbours would have to be joined, and how large their table would be.

    An attribute whose neighbours are joined already costs nothing: a graph without cycles stays one.
    """
    neighbours = near[i] & left
    missing = any(neighbours - near[j] - {j} for j in neighbours)
    return missing, math.prod(sizes[j] for j in neighbours) * sizes[i]


def _joined(sizes: tuple[int, ...], cliques: list[frozenset[int]]) -> JunctionTree:
    """Join cliques by the largest separators, from the first on (Prim); parts that share nothing are joined by none."""
    order, parents = [0], [-1]
    rest = list(range(1, len(cliques)))
    best = {place: (len(cliques[place] & cliques[0]), 0) for place in rest}
    while rest:
        chosen = max(rest, key=lambda place: best[place][0])
        rest.remove(chosen)
        parents.append(best[chosen][1])
        order.append(chosen)
        for place in rest:
            shared = len(cliques[place] & cliques[chosen])
            if shared > best[place][0]:
                best[place] = (shared, len(order) - 1)
    listed = tuple(tuple(sorted(cliques[place])) for place in order)
    return JunctionTree(sizes, listed, tuple(parents))
