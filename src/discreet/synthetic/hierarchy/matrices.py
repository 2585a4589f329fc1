"""The two passes of least squares with matrices, where no basis serves all levels.

Nodes with the same shape below them have the same precision matrices, so these are worked out once for each shape. All
nodes of a level leave the same directions untold (``null``): what no table on this level or below tells of a node. In
these directions a node's children share evenly.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.synthetic.consistency.tree import Floats, Places, add_up
from discreet.synthetic.hierarchy.bases import gram, table_sums
from discreet.synthetic.hierarchy.cells import Cells

__all__ = ["ByMatrices"]

RANK = 1e-11

Shape = int
Rows = Callable[[Floats], Floats]


@dataclass(slots=True, eq=False)
class ByMatrices:
    """Precision matrices of all shapes of subtrees, and the passes with them."""

    cells: Cells
    parents: Sequence[Places]
    nodes: Sequence[int]
    precisions: Sequence[dict[tuple[str, ...], float]]
    known: list[Floats] = field(init=False)
    shapes: list[Places] = field(init=False)
    own: dict[tuple[int, Shape], Floats] = field(init=False)
    below: dict[tuple[int, Shape], Floats] = field(init=False)
    spread: dict[tuple[int, Shape], Floats] = field(init=False)
    null: list[Floats] = field(init=False)
    covers: list[list[tuple[Floats, Floats, int]]] = field(init=False)

    def __post_init__(self) -> None:
        zero = np.zeros((self.cells.count, self.cells.count))
        self.known = [
            sum((p * gram(self.cells.labels(a)) for a, p in level.items()), zero.copy()) for level in self.precisions
        ]
        self.shapes = _shapes(self.parents, self.nodes)
        self.own, self.below, self.spread, self.null = {}, {}, {}, [zero] * len(self.known)
        self.covers = []
        for level in range(len(self.known) - 1, -1, -1):
            deepest = level == len(self.known) - 1
            self.null[level] = _untold(self.known[level:])
            for shape in np.unique(self.shapes[level]).tolist():
                below = zero if deepest else inverse(self._children_spread(level, shape))
                self.below[level, shape] = below
                self.own[level, shape] = self.known[level] + below
                self.spread[level, shape] = inverse(self.own[level, shape])

    def estimates(self, told: Sequence[Floats]) -> tuple[Floats, ...]:
        """Combine upward, then share out downward what is missing."""
        last = len(told) - 1
        up: list[Floats] = [np.empty(0)] * len(told)
        sums: list[Floats] = [np.empty(0)] * len(told)
        for level in range(last, -1, -1):
            rows = told[level].copy()
            if level < last:
                sums[level] = np.asarray(add_up(up[level + 1], self.parents[level], self.nodes[level]), np.float64)
                rows += self._apply(self.below, level, sums[level])
            up[level] = self._apply(self.spread, level, rows)
        values = [up[0]]
        for level, parent in enumerate(self.parents):
            missing = values[-1] - sums[level]
            force = self._apply(self.below, level, missing)[parent]
            children = np.bincount(parent, minlength=self.nodes[level])[parent][:, None]
            even = (missing @ self.null[level + 1])[parent] / children
            values.append(up[level + 1] + self._apply(self.spread, level + 1, force) + even)
        return tuple(values)

    def variance(self, level: int, attributes: tuple[str, ...]) -> float:
        """Go down all kinds of paths with what the rest of the tree tells, each kind once."""
        each = [(float(entries.mean()), count) for entries, count in self._entries(level, attributes)]
        return sum(mean * count for mean, count in each) / self.nodes[level]

    def largest_variance(self, level: int, attributes: tuple[str, ...]) -> float:
        """The largest over all kinds of paths."""
        return max(float(entries.max()) for entries, _ in self._entries(level, attributes))

    def _entries(self, level: int, attributes: tuple[str, ...]) -> list[tuple[Floats, int]]:
        """Return for each kind of node the variances of the entries of a table, and how many nodes there are."""
        labels = self.cells.labels(attributes)
        if not self.covers:
            self.covers = self._covers()
        found = []
        for cover, untold, count in self.covers[level]:
            told = np.abs(table_sums(untold, labels)).max() <= 1e-6
            entries = np.diagonal(table_sums(table_sums(cover, labels).T.copy(), labels))
            found.append((entries if told else np.full(len(entries), np.inf), count))
        return found

    def metric(self, level: int) -> tuple[Rows, Callable[[float], Rows], float]:
        """The mean over the nodes of a level of what each node's own subtree tells of it."""
        shapes, counts = np.unique(self.shapes[level], return_counts=True)
        zero = np.zeros_like(self.known[level])
        w = sum((c * self.own[level, s] for s, c in zip(shapes.tolist(), counts.tolist(), strict=True)), zero)
        w = w / counts.sum()
        values, vectors = np.linalg.eigh(w)
        positive = values[values > RANK * values.max()]
        typical = float(np.exp(np.log(positive).mean())) if positive.size else 1.0

        def solver(r: float) -> Rows:
            solved = (vectors / (np.maximum(values, 0.0) + r)) @ vectors.T
            return lambda rows: np.asarray(rows @ solved)

        return lambda rows: np.asarray(rows @ w), solver, typical

    def _apply(self, matrices: dict[tuple[int, Shape], Floats], level: int, rows: Floats) -> Floats:
        result = np.empty_like(rows)
        for shape in np.unique(self.shapes[level]).tolist():
            chosen = self.shapes[level] == shape
            result[chosen] = rows[chosen] @ matrices[level, shape]
        return result

    def _children_spread(self, level: int, shape: Shape) -> Floats:
        node = int(np.argmax(self.shapes[level] == shape))
        children = self.shapes[level + 1][self.parents[level] == node]
        kinds, counts = np.unique(children, return_counts=True)
        zero = np.zeros_like(self.known[0])
        return sum((c * self.spread[level + 1, k] for k, c in zip(kinds.tolist(), counts.tolist(), strict=True)), zero)

    def _covers(self) -> list[list[tuple[Floats, Floats, int]]]:
        """Return for each level and each kind of node its covariance, the directions left untold, and their number.

        A kind is a shape in a kind of place: what the rest of the tree tells of a node is its parent less its siblings.
        """
        zero = np.zeros_like(self.known[0])
        shapes, counts = np.unique(self.shapes[0], return_counts=True)
        kinds = [(s, zero, c) for s, c in zip(shapes.tolist(), counts.tolist(), strict=True)]
        covers = [self._covered(0, kinds)]
        for level in range(len(self.parents)):
            kinds = [below for kind in kinds for below in self._below(level, *kind)]
            covers.append(self._covered(level + 1, kinds))
        return covers

    def _covered(self, level: int, kinds: list[tuple[Shape, Floats, int]]) -> list[tuple[Floats, Floats, int]]:
        covered = []
        for shape, outside, count in kinds:
            precision = self.own[level, shape] + outside
            cover = inverse(precision)
            covered.append((cover, np.eye(len(cover)) - cover @ precision, count))
        return covered

    def _below(self, level: int, shape: Shape, outside: Floats, count: int) -> list[tuple[Shape, Floats, int]]:
        """Return the kinds of children of a kind of node."""
        node = int(np.argmax(self.shapes[level] == shape))
        children = self.shapes[level + 1][self.parents[level] == node]
        above, spread = outside + self.known[level], self._children_spread(level, shape)
        found = []
        for kind, many in zip(*(part.tolist() for part in np.unique(children, return_counts=True)), strict=True):
            rest = above
            if len(children) > 1:
                siblings = inverse(spread - self.spread[level + 1, kind])
                rest = above @ inverse(above + siblings) @ siblings
                rest = (rest + rest.T) / 2
            found.append((kind, rest, count * many))
        return found


def inverse(matrix: Floats) -> Floats:
    """Return the pseudo-inverse of a symmetric matrix without negative eigenvalues.

    >>> inverse(np.diag([2.0, 0.0])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    values, vectors = np.linalg.eigh(matrix)
    kept = values > RANK * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray((vectors[:, kept] / values[kept]) @ vectors[:, kept].T)


def _untold(known: list[Floats]) -> Floats:
    """Return the projection to the directions of which no matrix tells anything."""
    total = sum((k / max(float(np.trace(k)), 1e-300) for k in known), np.zeros_like(known[0]))
    return np.asarray(np.eye(len(total)) - inverse(total) @ total)


def _shapes(parents: Sequence[Places], nodes: Sequence[int]) -> list[Places]:
    """Return for each level a number for each node that tells the shape of the subtree below it."""
    shapes = [np.zeros(nodes[-1], dtype=np.int64)]
    for level in range(len(nodes) - 2, -1, -1):
        below: list[list[int]] = [[] for _ in range(nodes[level])]
        for child, parent in enumerate(parents[level].tolist()):
            below[parent].append(int(shapes[0][child]))
        names = [tuple(sorted(kinds)) for kinds in below]
        number = {name: i for i, name in enumerate(dict.fromkeys(names))}
        shapes.insert(0, np.array([number[name] for name in names], dtype=np.int64))
    return shapes
