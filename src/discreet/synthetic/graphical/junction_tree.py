"""Which sets of attributes a graphical model works on: a tree of cliques.

Attributes that are measured together are joined, and the graph is filled up until every cycle has a chord: its maximal
cliques then form a tree in which all cliques with an attribute hang together (Lauritzen and Spiegelhalter, Journal of
the Royal Statistical Society B 1988). Attributes are eliminated where that makes the smallest table first. Sets of
attributes are kept as the bits of whole numbers, since a search for what to measure next asks for many trees.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from discreet.errors import InvalidParameter
from discreet.synthetic.graphical.factor import Attributes

__all__ = ["Growth", "JunctionTree", "junction_tree", "model_cells"]


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
        return self.cells_by(self.sizes)

    def cells_by(self, sizes: tuple[int, ...]) -> int:
        """Return how many numbers the tables of all cliques would have with other sizes of attributes."""
        return sum(math.prod(sizes[i] for i in clique) for clique in self.cliques)

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
    return _joined(sizes, _maximal(_eliminated(sizes, _graph(len(sizes), sets))))


def model_cells(sizes: tuple[int, ...], sets: Iterable[Attributes]) -> int:
    """Return how many numbers a model would hold that measures these sets."""
    return _cells(sizes, _maximal(_eliminated(sizes, _graph(len(sizes), sets))))


@dataclass(slots=True, eq=False)
class Growth:
    """A graph that sets are added to one by one, asked before each how large its tree would become.

    >>> grown = Growth((2, 3, 4))
    >>> grown.cells_with((0, 1)), grown.cells_with((0, 1, 2))
    ((10, 10), (24, 24))
    >>> grown.add((0, 1))
    >>> grown.holds((1,)), grown.holds((1, 2))
    (True, False)
    """

    sizes: tuple[int, ...]
    finer: tuple[int, ...] | None = None
    """Other sizes of the same attributes; the second of two answers is by them."""

    _near: list[int] = field(init=False, repr=False)
    _cliques: list[int] = field(init=False, repr=False)
    _known: dict[tuple[int, ...], tuple[int, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._near = [0] * len(self.sizes)
        self._settle()

    def add(self, attributes: Attributes) -> None:
        """Join attributes."""
        self._near = _with(self._near, attributes)
        self._settle()

    def holds(self, attributes: Attributes) -> bool:
        """Tell whether some attributes lie within a clique, so that adding them changes nothing."""
        mask = _mask(attributes)
        return any(mask & ~clique == 0 for clique in self._cliques)

    def cells_with(self, attributes: Attributes) -> tuple[int, int]:
        """Return how many numbers the model would hold with some attributes joined, by either sizes."""
        if self.holds(attributes):
            return self._counted(self._cliques)
        near = _with(self._near, attributes)
        key = tuple(near)
        if key not in self._known:
            self._known[key] = self._counted(_maximal(_eliminated(self.sizes, near)))
        return self._known[key]

    def _settle(self) -> None:
        self._cliques = _maximal(_eliminated(self.sizes, list(self._near)))
        self._known = {}

    def _counted(self, cliques: list[int]) -> tuple[int, int]:
        return _cells(self.sizes, cliques), _cells(self.finer or self.sizes, cliques)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _mask(attributes: Iterable[int]) -> int:
    mask = 0
    for i in attributes:
        mask |= 1 << i
    return mask


def _with(near: list[int], attributes: Iterable[int]) -> list[int]:
    """Return the neighbours of all attributes, with some attributes joined."""
    joined, mask = list(near), _mask(attributes)
    for i in _bits(mask):
        joined[i] |= mask & ~(1 << i)
    return joined


def _graph(count: int, sets: Iterable[Attributes]) -> list[int]:
    near = [0] * count
    for one in sets:
        if any(not 0 <= i < count for i in one):
            raise InvalidParameter(f"attributes are numbered from 0 to {count - 1}.")
        near = _with(near, one)
    return near


def _eliminated(sizes: tuple[int, ...], near: list[int]) -> list[int]:
    """Return the cliques made by eliminating all attributes, the cheapest first."""
    near = list(near)
    left = (1 << len(sizes)) - 1
    costs = {i: _cost(sizes, near, i, left) for i in range(len(sizes))}
    found = []
    while costs:
        chosen = min(costs, key=lambda i: (costs[i], i))
        neighbours = near[chosen] & left
        found.append(neighbours | 1 << chosen)
        left &= ~(1 << chosen)
        del costs[chosen]
        stale = neighbours
        for i in _bits(neighbours):
            fill = neighbours & ~near[i] & ~(1 << i)
            if fill:
                near[i] |= fill
                stale |= near[i]
        for i in _bits(stale & left):
            costs[i] = _cost(sizes, near, i, left)
    return found


def _cost(sizes: tuple[int, ...], near: list[int], i: int, left: int) -> tuple[bool, int]:
    """Return whether neighbours would have to be joined, and how large their table would be.

    An attribute whose neighbours are joined already costs nothing: a graph without cycles stays one.
    """
    neighbours = near[i] & left
    cells, missing = sizes[i], False
    for j in _bits(neighbours):
        cells *= sizes[j]
        missing = missing or bool(neighbours & ~near[j] & ~(1 << j))
    return missing, cells


def _maximal(cliques: list[int]) -> list[int]:
    """Return the cliques that lie within no other; an attribute's own lies only in one that was made before."""
    kept: list[int] = []
    for clique in cliques:
        if all(clique & ~other for other in kept):
            kept.append(clique)
    return kept


def _cells(sizes: tuple[int, ...], cliques: Iterable[int]) -> int:
    return sum(math.prod(sizes[i] for i in _bits(clique)) for clique in cliques)


def _joined(sizes: tuple[int, ...], cliques: list[int]) -> JunctionTree:
    """Join cliques by the largest separators, from the first on (Prim); parts that share nothing are joined by none."""
    order, parents = [0], [-1]
    rest = list(range(1, len(cliques)))
    best = {place: ((cliques[place] & cliques[0]).bit_count(), 0) for place in rest}
    while rest:
        chosen = max(rest, key=lambda place: best[place][0])
        rest.remove(chosen)
        parents.append(best[chosen][1])
        order.append(chosen)
        for place in rest:
            shared = (cliques[place] & cliques[chosen]).bit_count()
            if shared > best[place][0]:
                best[place] = (shared, len(order) - 1)
    return JunctionTree(sizes, tuple(tuple(_bits(cliques[place])) for place in order), tuple(parents))
