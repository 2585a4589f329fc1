"""Two passes of messages over a tree of cliques: all its tables from its potentials.

Lauritzen and Spiegelhalter, Journal of the Royal Statistical Society B 1988; Koller and Friedman, 2009, chapter 10.
Potentials are logarithms, and minus infinity is an impossible entry. Each is scaled to a largest entry of 1, and
messages are sums and products of plain numbers, which is several times faster than in logarithms.

What is lost. All factors are at most 1, so an entry that falls below the smallest float, 1e-308, has a weight below
1e-308 times the number of all combinations of values, which is at most e^300. If the sum of all weights is at least
1e-100, what is lost is a part below 1e-70 of it. Otherwise the passes are done in logarithms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, along, broadcast, log_sum, quotient, summed
from discreet.synthetic.graphical.junction_tree import JunctionTree

__all__ = ["Propagation"]

WIDEST = 300.0
LEAST_SUM = 1e-100


@dataclass(slots=True, eq=False)
class Propagation:
    """The passes over one tree.

    >>> from discreet.synthetic.graphical.junction_tree import junction_tree
    >>> both = Propagation(junction_tree((2, 2, 2), [(0, 1), (1, 2)]))
    >>> tables, total = both.tables([np.log([[1.0, 2.0], [3.0, 4.0]]), np.zeros((2, 2))])
    >>> tables[1].round(9).tolist(), round(math.exp(total), 9)
    ([[0.2, 0.2], [0.3, 0.3]], 20.0)
    """

    tree: JunctionTree
    _edges: list["_Edge"] = field(init=False, repr=False)
    _wide: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tree = self.tree
        self._edges = [_edge(tree, place) for place in range(1, len(tree.cliques))]
        self._wide = sum(math.log(size) for size in tree.sizes) > WIDEST

    def tables(self, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
        """Return the probabilities of all cliques, and the log of the sum of all weights."""
        most = [float(table.max()) for table in potentials]
        if -math.inf in most:
            raise InvalidParameter("the potentials leave nothing possible.")
        if not self._wide:
            made = [np.exp(table - high) for table, high in zip(potentials, most, strict=True)]
            found = self._plain(made)
            if found is not None:
                return found[0], math.log(found[1]) + sum(most)
        return self._in_logs(potentials)

    def _plain(self, made: list[Floats]) -> tuple[list[Floats], float] | None:
        up: list[Floats] = []
        for edge in reversed(self._edges):
            message = summed(made[edge.child], edge.child_axes)
            up.append(message)
            made[edge.parent] *= message.reshape(edge.parent_shape)
        total = float(made[0].sum())
        if not LEAST_SUM <= total < math.inf:
            return None
        made[0] /= total
        for edge, message in zip(self._edges, reversed(up), strict=True):
            news = quotient(summed(made[edge.parent], edge.parent_axes), message)
            made[edge.child] *= news.reshape(edge.child_shape)
        return made, total

    def _in_logs(self, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
        made = [np.array(table, dtype=np.float64) for table in potentials]
        up: list[Floats] = []
        for edge in reversed(self._edges):
            message = log_sum(made[edge.child], edge.child_axes)
            up.append(message)
            made[edge.parent] += message.reshape(edge.parent_shape)
        total = float(log_sum(made[0], tuple(range(made[0].ndim))))
        if not math.isfinite(total):
            raise InvalidParameter("the potentials leave nothing possible.")
        made[0] -= total
        for edge, message in zip(self._edges, reversed(up), strict=True):
            down = log_sum(made[edge.parent], edge.parent_axes)
            with np.errstate(invalid="ignore"):
                news = np.where(np.isneginf(message), -np.inf, down - message)
            made[edge.child] += news.reshape(edge.child_shape)
        return [np.exp(table) for table in made], total


@dataclass(frozen=True, slots=True)
class _Edge:
    """A clique and its parent, what either sums over, and the shape in which either takes a message."""

    child: int
    parent: int
    child_axes: tuple[int, ...]
    parent_axes: tuple[int, ...]
    child_shape: tuple[int, ...]
    parent_shape: tuple[int, ...]


def _edge(tree: JunctionTree, child: int) -> _Edge:
    parent, separator = tree.parents[child], tree.separator(child)
    below, above = tree.cliques[child], tree.cliques[parent]
    return _Edge(
        child,
        parent,
        along(below, separator),
        along(above, separator),
        _shape(tree.sizes, separator, below),
        _shape(tree.sizes, separator, above),
    )


def _shape(sizes: tuple[int, ...], own: Attributes, wanted: Attributes) -> tuple[int, ...]:
    return broadcast(np.empty(tuple(sizes[i] for i in own)), own, wanted).shape
