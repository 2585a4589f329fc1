"""Marginals that lie within no clique, many of them from the same pieces.

At a clique, the rest of the tree falls into branches, one for each neighbour. Given what a branch shares with the
clique, its attributes are independent of everything else (Koller and Friedman, 2009, chapter 10). So a marginal is the
table of the clique times what each branch tells of the wanted attributes in it, given its separator, summed over the
rest; and what a branch tells is made in the same way, one clique further out. For three attributes there is a clique at
which no branch has two of them, and all that branches tell is of single attributes: few pieces serve all triples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, along, broadcast, contracted, quotient, summed
from discreet.synthetic.graphical.junction_tree import JunctionTree

__all__ = ["Branches"]

Piece = tuple[Floats, Attributes]


@dataclass(slots=True, eq=False)
class Branches:
    """The tables of a tree's cliques, and what its branches tell, as far as it was asked for."""

    tree: JunctionTree
    tables: Sequence[Floats]
    _near: list[dict[int, Attributes]] = field(init=False, repr=False)
    _behind: dict[tuple[int, int], frozenset[int]] = field(init=False, repr=False)
    _told: dict[tuple[int, int, Attributes], Piece] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._near = [{} for _ in self.tree.cliques]
        for place in range(1, len(self.tree.cliques)):
            parent, separator = self.tree.parents[place], self.tree.separator(place)
            self._near[place][parent] = separator
            self._near[parent][place] = separator
        self._behind, self._told = {}, {}

    def marginal(self, wanted: Attributes) -> Floats:
        """Return the probabilities of some attributes."""
        place = min(range(len(self.tree.cliques)), key=lambda one: self._burden(one, set(wanted)))
        return self._collected(place, None, wanted)[0]

    def _burden(self, place: int, wanted: set[int]) -> tuple[int, int, int]:
        """Return how many attributes the fullest branch would tell of, all branches together, and the clique's size."""
        rest = wanted - set(self.tree.cliques[place])
        counts = [len(rest & self._held(other, place)) for other in self._near[place]] if rest else [0]
        return max(counts, default=0), len(rest), self.tables[place].size

    def _held(self, place: int, towards: int) -> frozenset[int]:
        """Return all attributes of the branch that begins with a clique, seen from a neighbour of it."""
        key = place, towards
        if key not in self._behind:
            further = [self._held(other, place) for other in self._near[place] if other != towards]
            self._behind[key] = frozenset(self.tree.cliques[place]).union(*further)
        return self._behind[key]

    def _collected(self, place: int, towards: int | None, wanted: Attributes) -> Piece:
        """Return what a clique and all branches but one tell of wanted attributes, given the separator to that one."""
        own, table = self.tree.cliques[place], self.tables[place]
        given: Attributes = () if towards is None else self._near[place][towards]
        rest = set(wanted) - set(own)
        pieces = []
        for other in self._near[place]:
            part = rest & self._held(other, place) if other != towards else set()
            if part:
                pieces.append(self._branch(other, place, tuple(sorted(part))))
        needed = {*wanted, *given}.union(*(names for _, names in pieces))
        axes = along(own, needed)
        table = summed(table, axes)
        own = tuple(i for i in own if i in needed)
        if given:
            table = quotient(table, broadcast(summed(table, along(own, given)), given, own))
        for done, (piece, names) in enumerate(pieces, 1):
            later = {*wanted, *given}.union(*(others for _, others in pieces[done:]))
            table, own = contracted(table, own, piece, names, later)
        return np.ascontiguousarray(table), own

    def _branch(self, place: int, towards: int, wanted: Attributes) -> Piece:
        key = place, towards, wanted
        if key not in self._told:
            self._told[key] = self._collected(place, towards, wanted)
        return self._told[key]
