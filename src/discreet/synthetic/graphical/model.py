"""A distribution over product domains that is a product of potentials on the cliques of a tree.

All marginals of cliques come from two passes of messages. Any other marginal is put together at one clique, from what
the branches that hang on it tell of the wanted attributes given what they share with it; what a branch tells is kept
and serves many marginals. Answers agree with each other since they are of one distribution.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, along, broadcast, summed
from discreet.synthetic.graphical.junction_tree import JunctionTree
from discreet.synthetic.graphical.marginals import Branches
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.propagation import Propagation

__all__ = ["GraphicalModel"]


@dataclass(frozen=True, slots=True, eq=False)
class GraphicalModel:
    """A distribution with a total: how many records it stands for.

    >>> from discreet.synthetic.graphical.junction_tree import junction_tree
    >>> tree = junction_tree((2, 2, 2), [(0, 1), (1, 2)])
    >>> model = GraphicalModel(tree, [np.log([[1.0, 2.0], [3.0, 4.0]]), np.zeros((2, 2))], 20.0)
    >>> model.marginal((0,)).round(6).tolist(), model.marginal((0, 2)).round(6).tolist()
    ([6.0, 14.0], [[3.0, 3.0], [7.0, 7.0]])
    """

    tree: JunctionTree
    potentials: Sequence[Floats]
    total: float
    measurements: Sequence[Measured] = ()
    """Noisy tables that it was fitted to, as far as they are by all values of their attributes."""

    _tables: Sequence[Floats] = field(init=False, repr=False)
    _branches: Branches = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables, _ = Propagation(self.tree).tables(self.potentials)
        object.__setattr__(self, "_tables", tables)
        object.__setattr__(self, "_branches", Branches(self.tree, tables))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return self.tree.sizes

    def cliques(self) -> Mapping[Attributes, Floats]:
        """Return the expected counts of the tables of all cliques."""
        return {clique: table * self.total for clique, table in zip(self.tree.cliques, self._tables, strict=True)}

    def marginal(self, attributes: Attributes) -> Floats:
        """Return the expected counts by some attributes, one axis for each in the order of their numbers."""
        wanted = tuple(sorted(set(attributes)))
        if any(not 0 <= i < len(self.sizes) for i in wanted):
            raise InvalidParameter("a marginal is by attributes of the model.")
        home = self.tree.home(wanted)
        if home is not None:
            table = self._tables[home]
            axes = along(self.tree.cliques[home], wanted)
            return np.asarray((summed(table, axes)) * self.total)
        return self._branches.marginal(wanted) * self.total

    def refined(
        self,
        places: Sequence[npt.NDArray[np.int64]],
        shares: Sequence[Floats],
        first: Sequence[Measured] = (),
    ) -> "GraphicalModel":
        """Return the model on finer values: value v of attribute i is ``places[i][v]`` here, with a share of it.

        ``first`` are noisy tables by finer values, of which as many of the model's own were put together first.

        >>> from discreet.synthetic.graphical.junction_tree import junction_tree
        >>> coarse = GraphicalModel(junction_tree((2,), [(0,)]), [np.log([1.0, 3.0])], 8.0)
        >>> coarse.refined([np.array([0, 1, 1])], [np.array([1.0, 0.5, 0.5])]).marginal((0,)).round(6).tolist()
        [2.0, 3.0, 3.0]
        """
        sizes = tuple(len(one) for one in places)
        kept = [
            Measured(one.attributes, one.counts[np.ix_(*(places[i] for i in one.attributes))], one.sigma)
            for one in self.measurements[len(first) :]
            if all(_renames(places[i], self.sizes[i]) for i in one.attributes)
        ]
        seen: set[int] = set()
        potentials = []
        for clique, table in zip(self.tree.cliques, self.potentials, strict=True):
            finer = np.asarray(table)
            for axis, i in enumerate(clique):
                finer = np.take(finer, places[i], axis=axis)
                if i not in seen:
                    seen.add(i)
                    with np.errstate(divide="ignore"):
                        finer = finer + broadcast(np.log(shares[i]), (i,), clique)
            potentials.append(finer)
        tree = JunctionTree(sizes, self.tree.cliques, self.tree.parents)
        return GraphicalModel(tree, potentials, self.total, [*first, *kept])


def _renames(places: npt.NDArray[np.int64], size: int) -> bool:
    """Tell whether each of so many values is one finer value, perhaps in another order."""
    return len(places) == size == np.unique(places).size
