"""A distribution over product domains that is a product of potentials on the cliques of a tree.

All marginals of cliques come from two passes of messages; any other marginal by eliminating what lies between. Answers
agree with each other since they are of one distribution.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, Factor, broadcast, log_sum
from discreet.synthetic.graphical.junction_tree import JunctionTree

__all__ = ["GraphicalModel", "beliefs"]


def beliefs(tree: JunctionTree, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
    """Return the log of the marginal of every clique, not normalised, and the log of the sum of everything.

    >>> from discreet.synthetic.graphical.junction_tree import junction_tree
    >>> tree = junction_tree((2, 2), [(0, 1)])
    >>> logs, total = beliefs(tree, [np.zeros((2, 2))])
    >>> round(float(np.exp(total)), 9)
    4.0
    """
    count = len(tree.cliques)
    up: list[Floats] = [np.zeros(())] * count
    collected = [table.copy() for table in potentials]
    for place in range(count - 1, 0, -1):
        separator, parent = tree.separator(place), tree.parents[place]
        up[place] = Factor(tree.cliques[place], collected[place]).summed(separator).logs
        collected[parent] = collected[parent] + broadcast(up[place], separator, tree.cliques[parent])
    total = float(log_sum(collected[0], tuple(range(collected[0].ndim))))
    done = list(collected)
    for place in range(1, count):
        separator, parent = tree.separator(place), tree.parents[place]
        down = Factor(tree.cliques[parent], done[parent]).summed(separator).logs
        with np.errstate(invalid="ignore"):
            news = np.where(np.isneginf(up[place]), -np.inf, down - up[place])
        done[place] = collected[place] + broadcast(news, separator, tree.cliques[place])
    return done, total


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
    _beliefs: Sequence[Floats] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        logs, scale = beliefs(self.tree, self.potentials)
        if not math.isfinite(scale):
            raise InvalidParameter("the potentials leave nothing possible.")
        object.__setattr__(self, "_beliefs", [table - scale for table in logs])

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return self.tree.sizes

    def cliques(self) -> Mapping[Attributes, Floats]:
        """Return the expected counts of the tables of all cliques."""
        return {
            clique: np.exp(logs) * self.total for clique, logs in zip(self.tree.cliques, self._beliefs, strict=True)
        }

    def refined(self, places: Sequence[npt.NDArray[np.int64]], shares: Sequence[Floats]) -> "GraphicalModel":
        """Return the model on finer values: value v of attribute i is ``places[i][v]`` here, with a share of it.

        >>> from discreet.synthetic.graphical.junction_tree import junction_tree
        >>> coarse = GraphicalModel(junction_tree((2,), [(0,)]), [np.log([1.0, 3.0])], 8.0)
        >>> coarse.refined([np.array([0, 1, 1])], [np.array([1.0, 0.5, 0.5])]).marginal((0,)).round(6).tolist()
        [2.0, 3.0, 3.0]
        """
        sizes = tuple(len(one) for one in places)
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
        return GraphicalModel(JunctionTree(sizes, self.tree.cliques, self.tree.parents), potentials, self.total)

    def marginal(self, attributes: Attributes) -> Floats:
        """Return the expected counts by some attributes, one axis for each in the order of their numbers."""
        wanted = tuple(sorted(set(attributes)))
        home = self.tree.home(wanted)
        if home is not None:
            clique = self.tree.cliques[home]
            return np.exp(Factor(clique, self._beliefs[home]).summed(wanted).logs) * self.total
        return np.exp(self._eliminated(wanted).logs) * self.total

    def _eliminated(self, wanted: Attributes) -> Factor:
        """Collect towards a clique all tables conditional on their separators, keeping what is wanted."""
        used = self._needed(set(wanted))
        messages: dict[int, list[Factor]] = {place: [] for place in used}
        for place in sorted(used, reverse=True):
            own = Factor(self.tree.cliques[place], self._beliefs[place])
            parent = self.tree.parents[place]
            root = parent not in used
            separator = () if root else self.tree.separator(place)
            if not root:
                given = own.summed(separator)
                with np.errstate(invalid="ignore"):
                    table = own.logs - broadcast(given.logs, separator, own.attributes)
                own = Factor(own.attributes, np.where(np.isnan(table), -np.inf, table))
            joint = _product([own, *messages[place]], set(wanted) | set(separator))
            if root:
                return joint
            messages[parent].append(joint)
        raise InvalidParameter("a marginal is by attributes of the model.")

    def _needed(self, wanted: set[int]) -> set[int]:
        """Return the cliques of the smallest subtree that holds all wanted attributes."""
        used, parents = set(range(len(self.tree.cliques))), self.tree.parents
        changed = True
        while changed:
            changed = False
            for place in sorted(used, reverse=True):
                near = [o for o in used if parents[o] == place or parents[place] == o]
                if len(near) > 1 or len(used) == 1:
                    continue
                own = wanted & set(self.tree.cliques[place])
                if not near and own:
                    continue
                if all(any(i in self.tree.cliques[other] for other in near) for i in own):
                    used.remove(place)
                    changed = True
        return used


def _product(factors: Sequence[Factor], kept: set[int]) -> Factor:
    """Multiply factors, summing out each attribute that is not kept as soon as it can be."""
    left = list(factors)
    names = {i for factor in left for i in factor.attributes}
    gone = sorted(names - kept)
    for i in gone:
        touching = [factor for factor in left if i in factor.attributes]
        left = [factor for factor in left if i not in factor.attributes]
        joined = _joined(touching)
        left.append(joined.summed(tuple(j for j in joined.attributes if j != i)))
    return _joined(left)


def _joined(factors: Sequence[Factor]) -> Factor:
    names = tuple(sorted({i for factor in factors for i in factor.attributes}))
    total: Floats = np.zeros((1,) * len(names))
    for factor in factors:
        total = total + broadcast(factor.logs, factor.attributes, names)
    return Factor(names, total)
