"""A Bayesian network: attributes in an order, each with a table of chances given a few of those before it.

Koller and Friedman, "Probabilistic Graphical Models", 2009, chapters 3 and 9. Drawing records needs its own tables
alone. A marginal needs the attributes that those asked for descend from; all others are summed out one by one, first
where that makes the smallest table. Where all cliques of the moral graph are small it is a ``GraphicalModel`` as well.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, broadcast
from discreet.synthetic.graphical.junction_tree import junction_tree
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.microdata import Step

__all__ = ["Conditional", "Network"]

MOST_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """The chances of an attribute's values, which add up to 1 for all values of what is given.

    The table has one axis for each of ``given``, which ascend, and the attribute's own axis last.
    """

    attribute: int
    given: Attributes
    table: Floats

    @property
    def attributes(self) -> Attributes:
        """The attribute and what is given, in the order of their numbers."""
        return tuple(sorted((*self.given, self.attribute)))

    @property
    def sorted_table(self) -> Floats:
        """The table with its axes in the order of the attributes' numbers."""
        return np.moveaxis(self.table, -1, self.attributes.index(self.attribute))


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A distribution with a total: how many records it stands for.

    >>> rain = Conditional(0, (), np.array([0.75, 0.25]))
    >>> wet = Conditional(1, (0,), np.array([[1.0, 0.0], [0.5, 0.5]]))
    >>> Network((2, 2), (rain, wet), 80.0).marginal((1,)).tolist()
    [70.0, 10.0]
    """

    sizes: tuple[int, ...]
    conditionals: tuple[Conditional, ...]
    total: float
    measurements: Sequence[Measured] = ()
    """Noisy tables that it was made of."""

    def __post_init__(self) -> None:
        known: set[int] = set()
        for one in self.conditionals:
            shape = tuple(self.sizes[i] for i in (*one.given, one.attribute))
            if one.attribute in known or not known.issuperset(one.given) or one.table.shape != shape:
                raise InvalidParameter("each attribute is given once, after those that it is given by.")
            known.add(one.attribute)
        if known != set(range(len(self.sizes))):
            raise InvalidParameter("a network has a table of chances for each of its attributes.")

    def marginal(self, attributes: Attributes, *, most: int = MOST_CELLS) -> Floats:
        """Return the expected counts by some attributes, one axis for each in the order of their numbers.

        Nothing is approximated: a marginal that needs a table of more than ``most`` cells on the way is refused.
        """
        wanted = tuple(sorted(set(attributes)))
        if any(not 0 <= i < len(self.sizes) for i in wanted):
            raise InvalidParameter(f"attributes are numbered from 0 to {len(self.sizes) - 1}.")
        needed = self._ancestors(wanted)
        left = [(one.attributes, one.sorted_table) for one in self.conditionals if one.attribute in needed]
        gone = needed - set(wanted)
        while gone:
            chosen = min(gone, key=lambda i: (self._cells(_joined_names(left, i)), i))
            touching = [one for one in left if chosen in one[0]]
            left = [one for one in left if chosen not in one[0]]
            names, table = self._product(touching, most)
            rest = tuple(i for i in names if i != chosen)
            left.append((rest, table.sum(axis=names.index(chosen))))
            gone.remove(chosen)
        return self._product(left, most)[1] * self.total

    def steps(self) -> Iterator[Step]:
        """Return how to draw the attributes, in their order."""
        for one in self.conditionals:
            yield Step(one.attribute, one.given, one.table, None if one.given else one.table)

    def graphical(self, *, most: int = MOST_CELLS) -> GraphicalModel | None:
        """Return the same distribution as a tree of cliques, if that has no more than ``most`` cells."""
        tree = junction_tree(self.sizes, [one.attributes for one in self.conditionals])
        if tree.cells > most:
            return None
        potentials: list[Floats] = [np.zeros(tuple(self.sizes[i] for i in clique)) for clique in tree.cliques]
        for one in self.conditionals:
            home = tree.home(one.attributes)
            assert home is not None  # noqa: S101  the tree was made for these
            with np.errstate(divide="ignore"):
                logs = np.log(one.sorted_table)
            potentials[home] = potentials[home] + broadcast(logs, one.attributes, tree.cliques[home])
        return GraphicalModel(tree, potentials, self.total, self.measurements)

    def _ancestors(self, attributes: Iterable[int]) -> set[int]:
        found = set(attributes)
        for one in reversed(self.conditionals):
            if one.attribute in found:
                found.update(one.given)
        return found

    def _cells(self, names: Iterable[int]) -> int:
        return math.prod(self.sizes[i] for i in names)

    def _product(self, factors: Sequence[tuple[Attributes, Floats]], most: int) -> tuple[Attributes, Floats]:
        names = tuple(sorted({i for own, _ in factors for i in own}))
        if self._cells(names) > most:
            raise InvalidParameter(
                f"this marginal needs a table of more than {most:,} cells: ask for fewer attributes, or count records."
            )
        product: Floats = np.ones(tuple(self.sizes[i] for i in names))
        for own, table in factors:
            product = product * broadcast(table, own, names)
        return names, product


def _joined_names(factors: Sequence[tuple[Attributes, Floats]], i: int) -> set[int]:
    return {j for own, _ in factors if i in own for j in own}
