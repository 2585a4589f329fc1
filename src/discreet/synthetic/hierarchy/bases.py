"""Coordinates in which every table of counts is measured one number at a time.

A table by some attributes sums over the others, so its Gram matrix is a product, attribute by attribute, of the
identity and of the matrix of ones. All these commute: in the basis made of constants and contrasts of each attribute
they are all diagonal, and least squares falls apart into one small problem for each coordinate (Xiao, He, Zhang and
Kifer, "An Optimal and Scalable Matrix Mechanism for Noisy Marginals under Convex Loss Functions", NeurIPS 2023, use the
same spaces). With impossible cells left out that holds no longer, but if all levels share their budget among the tables
in the same way their matrices differ by a factor only, and the eigenvectors of one serve all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.synthetic.consistency.tree import Floats, Places
from discreet.synthetic.hierarchy.cells import Cells

__all__ = ["Basis", "common_basis", "gram", "table_sums"]

WIDEST = 4000
"""Matrices with more rows than this are not decomposed."""

FAINT = 1e-9
"""Shares of a coordinate below this come from rounding."""


class Basis(Protocol):
    """An orthonormal change of coordinates of rows of cells."""

    @property
    def cells(self) -> Cells:
        """The cells."""
        ...

    def forward(self, rows: Floats) -> Floats:
        """Return the coordinates of each row."""
        ...

    def backward(self, rows: Floats) -> Floats:
        """Return the rows with these coordinates."""
        ...

    def spectrum(self, attributes: tuple[str, ...]) -> Floats:
        """Return ``|table of basis vector k|^2`` for each k, the table being that by these attributes."""
        ...

    def entries(self, variances: Floats, attributes: tuple[str, ...]) -> Floats:
        """Return the variance of each entry of a table, for rows of variances of independent coordinates."""
        ...

    def scaled(self, factors: Floats) -> Callable[[Floats], Floats]:
        """Return the map that multiplies the coordinates of rows by factors."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """Constants and contrasts of each attribute, where every combination of attributes is possible."""

    cells: Cells

    def forward(self, rows: Floats) -> Floats:
        """Apply the contrasts of one attribute after another."""
        return self._along(rows, transpose=False)

    def backward(self, rows: Floats) -> Floats:
        """Apply their transposes."""
        return self._along(rows, transpose=True)

    def spectrum(self, attributes: tuple[str, ...]) -> Floats:
        """The product of the sizes that are summed over, or 0 where a contrast is summed over."""
        total = np.ones(self.cells.shape)
        for axis, (name, size) in enumerate(zip(self.cells.names, self.cells.shape, strict=True)):
            if name not in attributes:
                factor = np.where(np.arange(size) == 0, float(size), 0.0)
                total = total * factor.reshape([-1 if i == axis else 1 for i in range(total.ndim)])
        return total.reshape(-1)

    def entries(self, variances: Floats, attributes: tuple[str, ...]) -> Floats:
        """All entries of a table are alike: each has the mean."""
        share = self.spectrum(attributes)
        used = np.where(share > 0, variances, 0.0)
        return np.asarray((used * share).sum(axis=1, keepdims=True) / (int(self.cells.labels(attributes).max()) + 1))

    def scaled(self, factors: Floats) -> Callable[[Floats], Floats]:
        """There, multiply, and back."""
        return lambda rows: self.backward(self.forward(rows) * factors)

    def _along(self, rows: Floats, *, transpose: bool) -> Floats:
        table = rows.reshape(-1, *self.cells.shape)
        for axis, size in enumerate(self.cells.shape, start=1):
            matrix = contrasts(size)
            turned = np.tensordot(table, matrix, axes=([axis], [0 if transpose else 1]))
            table = np.moveaxis(turned, -1, axis)
        return np.ascontiguousarray(table).reshape(rows.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Each:
    """The cells themselves."""

    cells: Cells

    def forward(self, rows: Floats) -> Floats:
        """The rows."""
        return rows

    def backward(self, rows: Floats) -> Floats:
        """The rows."""
        return rows

    def spectrum(self, attributes: tuple[str, ...]) -> Floats:
        """A cell adds to one entry."""
        self.cells.check(attributes)
        return np.ones(self.cells.count)

    def entries(self, variances: Floats, attributes: tuple[str, ...]) -> Floats:
        """Variances add up."""
        return table_sums(variances, self.cells.labels(attributes))

    def scaled(self, factors: Floats) -> Callable[[Floats], Floats]:
        """Multiply."""
        return lambda rows: np.asarray(rows * factors)


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Any orthonormal vectors, as the columns of a matrix."""

    cells: Cells
    matrix: Floats

    def forward(self, rows: Floats) -> Floats:
        """Multiply by the vectors."""
        return np.asarray(rows @ self.matrix)

    def backward(self, rows: Floats) -> Floats:
        """Multiply by their transposes."""
        return np.asarray(rows @ self.matrix.T)

    def spectrum(self, attributes: tuple[str, ...]) -> Floats:
        """By definition."""
        return np.asarray((table_sums(self.matrix.T, self.cells.labels(attributes)) ** 2).sum(axis=1))

    def entries(self, variances: Floats, attributes: tuple[str, ...]) -> Floats:
        """By definition; infinite where a coordinate is that nothing is told of."""
        squares = table_sums(self.matrix.T, self.cells.labels(attributes)) ** 2
        known = np.isfinite(variances)
        lost = (~known).astype(np.float64) @ squares > FAINT
        return np.where(lost, np.inf, np.where(known, variances, 0.0) @ squares)

    def scaled(self, factors: Floats) -> Callable[[Floats], Floats]:
        """One matrix does it."""
        matrix = (self.matrix * factors) @ self.matrix.T
        return lambda rows: np.asarray(rows @ matrix)


def contrasts(size: int) -> Floats:
    """Return an orthonormal matrix whose first row is constant (Helmert's).

    >>> contrasts(2).round(3).tolist()
    [[0.707, 0.707], [0.707, -0.707]]
    """
    matrix = np.tril(np.ones((size, size)), -1)
    matrix[0] = 1.0
    matrix[np.arange(1, size), np.arange(1, size)] = -np.arange(1, size)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True))


def table_sums(rows: Floats, labels: Places) -> Floats:
    """Return the table of each row of cells: the sums of cells with the same label.

    >>> table_sums(np.array([[1.0, 2.0, 3.0]]), np.array([0, 0, 1])).tolist()
    [[3.0, 3.0]]
    """
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    return np.asarray(np.add.reduceat(rows[:, order], first, axis=1))


def gram(labels: Places) -> Floats:
    """Return the Gram matrix of a table: 1 where two cells have the same label."""
    return np.asarray(labels[:, None] == labels[None, :], dtype=np.float64)


def common_basis(cells: Cells, precisions: Sequence[dict[tuple[str, ...], float]]) -> Basis | None:
    """Return a basis in which the matrices of all levels are diagonal, or None if there is none.

    ``precisions[l]`` tells how precisely each table is measured on level l.
    """
    if cells.whole:
        return Contrasts(cells)
    full = cells.count
    if all(int(cells.labels(a).max()) + 1 == full for level in precisions for a in level):
        return Each(cells)
    if full > WIDEST:
        return None
    tables = sorted({attributes for level in precisions for attributes in level})
    weights = np.array([[level.get(attributes, 0.0) for attributes in tables] for level in precisions])
    directions = [row / row.sum() for row in weights if row.sum() > 0]
    if all(np.allclose(direction, directions[0], rtol=1e-9, atol=0) for direction in directions):
        mixed = np.zeros((full, full))
        for weight, attributes in zip(directions[0], tables, strict=True):
            mixed += weight * gram(cells.labels(attributes))
        return Vectors(cells, np.asarray(np.linalg.eigh(mixed)[1]))
    return None
