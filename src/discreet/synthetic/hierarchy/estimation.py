"""The best linear estimate of all nodes from all measurements.

On each level every node's cells x are measured through tables: together they tell x with the precision matrix
``K = sum over tables of (Gram matrix) / sigma^2``. Generalised least squares over the whole spine, with every node the
sum of its children, takes one pass up and one pass down. Where all levels have a common basis it is the scalar problem
of ``consistency.tree``, once for each coordinate; otherwise the same two passes are made with matrices (``matrices``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency.tree import Floats, Places, TreeEstimate, tree_least_squares
from discreet.synthetic.hierarchy.bases import WIDEST, Basis, common_basis
from discreet.synthetic.hierarchy.cells import Cells
from discreet.synthetic.hierarchy.matrices import RANK, ByMatrices

__all__ = ["ByCoordinates", "Estimation", "estimation"]

Precisions = Sequence[dict[tuple[str, ...], float]]
Rows = Callable[[Floats], Floats]


class Estimation(Protocol):
    """The passes over one spine, with one set of precisions."""

    def estimates(self, told: Sequence[Floats]) -> tuple[Floats, ...]:
        """Return the estimate of every node from ``told[l] = sum of (measurements spread over cells) / sigma^2``."""
        ...

    def variance(self, level: int, attributes: tuple[str, ...]) -> float:
        """Return the variance of an entry of a table on a level, averaged over entries and nodes."""
        ...

    def largest_variance(self, level: int, attributes: tuple[str, ...]) -> float:
        """Return the variance of the least accurate entry of a table on a level."""
        ...

    def metric(self, level: int) -> tuple[Rows, Callable[[float], Rows], float]:
        """Return ``W x``, ``(W + r)^-1 x`` for any r and a typical size of W, the precision of a level's nodes."""
        ...


def estimation(cells: Cells, parents: Sequence[Places], nodes: Sequence[int], precisions: Precisions) -> Estimation:
    """Return the passes by coordinates if there is a common basis, or else by matrices."""
    basis = common_basis(cells, precisions)
    if basis is not None:
        return ByCoordinates.prepare(basis, parents, nodes, precisions)
    if cells.count > WIDEST // 2:
        raise InvalidParameter(
            "with impossible cells and budgets that are shared differently on different levels there are at most "
            f"{WIDEST // 2} cells. Share the budget among tables in the same way on every level, or coarsen an "
            "attribute."
        )
    return ByMatrices(cells, parents, nodes, precisions)


@dataclass(frozen=True, slots=True, eq=False)
class ByCoordinates:
    """One scalar tree for each coordinate of a common basis."""

    basis: Basis
    parents: Sequence[Places]
    known: tuple[Floats, ...]
    law: TreeEstimate

    @classmethod
    def prepare(
        cls, basis: Basis, parents: Sequence[Places], nodes: Sequence[int], precisions: Precisions
    ) -> "ByCoordinates":
        """Work out all variances, which do not depend on what is measured."""
        spectra = {attributes: basis.spectrum(attributes) for level in precisions for attributes in level}
        width = len(next(iter(spectra.values())))
        known = tuple(sum((p * spectra[a] for a, p in level.items()), np.zeros(width)) for level in precisions)
        known = tuple(np.where(k > RANK * max(1e-300, float(k.max(initial=0.0))), k, 0.0) for k in known)
        nothing = [np.zeros((count, width)) for count in nodes]
        law = tree_least_squares(nothing, parents, [_inverse(k) for k in known])
        return cls(basis, parents, known, law)

    def estimates(self, told: Sequence[Floats]) -> tuple[Floats, ...]:
        """Change coordinates, make the two passes, and change back."""
        measured = [
            np.divide(self.basis.forward(rows), k, out=np.zeros_like(rows), where=np.broadcast_to(k > 0, rows.shape))
            for rows, k in zip(told, self.known, strict=True)
        ]
        done = tree_least_squares(measured, self.parents, [_inverse(k) for k in self.known])
        return tuple(self.basis.backward(level) for level in done.values)

    def variance(self, level: int, attributes: tuple[str, ...]) -> float:
        """The variances of the coordinates, by how much of each goes into the table."""
        share = self.basis.spectrum(attributes)
        share = np.where(share > RANK * share.max(), share, 0.0)
        entries = int(self.basis.cells.labels(attributes).max()) + 1
        used = np.where(share > 0, self.law.variances[level], 0.0)
        return float((used * share).sum(axis=1).mean() / entries)

    def largest_variance(self, level: int, attributes: tuple[str, ...]) -> float:
        """The largest over nodes, of which many are alike, and entries."""
        kinds = np.unique(self.law.variances[level], axis=0)
        return float(self.basis.entries(kinds, attributes).max())

    def metric(self, level: int) -> tuple[Rows, Callable[[float], Rows], float]:
        """The mean over the nodes of a level of what each node's own subtree tells of it."""
        w = self.law.own[level].mean(axis=0)
        positive = w[w > 0]
        typical = float(np.exp(np.log(positive).mean())) if positive.size else 1.0
        return self.basis.scaled(w), lambda r: self.basis.scaled(1 / (w + r)), typical


def _inverse(precision: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / precision)
