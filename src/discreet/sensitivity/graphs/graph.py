"""Graphs on a public set of vertices, whose edges are the records.

Two graphs are *edge neighbours* if they differ in one edge. A data set is a list of pairs of vertices; the direction of
a pair means nothing, and an edge that is there twice counts once. Adding or removing a record therefore changes at most
one edge, so what holds for edge neighbours holds under ``add_remove``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from discreet.errors import InvalidParameter
from discreet.exact import show
from discreet.quietly import Silence
from discreet.sensitivity.smooth.column import number, pairs
from discreet.sensitivity.total import safely
from discreet.units import Relation

__all__ = ["Graph", "Integers", "OfEdges", "check_whole"]

Integers = npt.NDArray[np.int64]

MOST_VERTICES = 1 << 24
"""Levels are as many as twice the vertices, so more of them would fill the memory."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple undirected graph: every edge once, its lower vertex first, in rising order.

    >>> Graph.of([(1, 0), (0, 1), (2, 2), (1, 2), (1, 7), None], vertices=3).ends
    array([[0, 1], [1, 2]])
    """

    vertices: int
    ends: Integers

    @classmethod
    def of(cls, data: Iterable[object], vertices: int) -> "Graph":
        """Read pairs of vertices 0 to ``vertices - 1``; loops and whatever is no such pair are left out, silently."""
        pairs = _pairs(data)
        inside = ((pairs >= 0) & (pairs < vertices)).all(axis=1) & (pairs[:, 0] != pairs[:, 1])
        ends = np.sort(pairs[inside], axis=1)
        keys = np.unique(ends[:, 0] * vertices + ends[:, 1])
        return cls(vertices, np.stack(np.divmod(keys, vertices), axis=1))

    @cached_property
    def degrees(self) -> Integers:
        """The number of edges at every vertex."""
        return np.bincount(self.ends.ravel(), minlength=self.vertices)

    def ranked(self) -> "Graph":
        """Return the same graph with its vertices numbered from the highest degree to the lowest."""
        rank = np.empty(self.vertices, dtype=np.int64)
        rank[np.argsort(-self.degrees, kind="stable")] = np.arange(self.vertices)
        return Graph.of(rank[self.ends], self.vertices)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The adjacency matrix, of zeros and ones."""
        a, b = self.ends.T
        ones = np.ones(2 * a.size, dtype=np.int32)
        shape = (self.vertices, self.vertices)
        return sparse.csr_array((ones, (np.concatenate([a, b]), np.concatenate([b, a]))), shape=shape)

    def adjacent(self, a: Integers, b: Integers) -> npt.NDArray[np.bool_]:
        """Tell for pairs of vertices, the lower one first, which of them are edges."""
        keys = self.ends[:, 0] * self.vertices + self.ends[:, 1]
        asked = a * self.vertices + b
        found = np.searchsorted(keys, asked)
        edges: npt.NDArray[np.bool_] = np.append(keys, -1)[found] == asked
        return edges


class OfEdges:
    """What all functions of a graph's edges have in common."""

    __slots__ = ()

    @property
    def relation(self) -> Relation:
        """One edge more or less."""
        return "add_remove"

    @property
    def size(self) -> None:
        """The number of edges is as secret as they are."""
        return

    @property
    def dimension(self) -> int:
        """One number."""
        return 1

    @property
    def norm(self) -> float:
        """One number changes by the same amount in every norm."""
        return 1.0


def check_whole(value: object, name: str, *, least: int = 1, most: int = MOST_VERTICES) -> int:
    """Return a public whole number.

    >>> check_whole(0, "vertices, their public number,")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: vertices, their public number, must be at least 1, got 0.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidParameter(f"{name} must be an integer, got {type(value).__name__}.")
    whole = int(value)
    if whole < least:
        raise InvalidParameter(f"{name} must be at least {least}, got {show(whole)}.")
    if whole > most:
        raise InvalidParameter(f"{name} must be at most {most}, got {show(whole)}.")
    return whole


def _pairs(data: Iterable[object]) -> Integers:
    """Return the records as pairs of integers, -1 where there is none."""
    with Silence():
        return _read(pairs(data))


def _read(array: npt.NDArray[Any] | Sequence[object]) -> Integers:
    if isinstance(array, np.ndarray):
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
            array = np.where((np.abs(array) < 2.0**53) & (array == np.floor(array)), array, -1)
        return array.astype(np.int64)  # an unsigned number beyond 2^63 becomes negative, and is no vertex either way
    return np.array([safely(_pair, row, otherwise=(-1, -1)) for row in array], dtype=np.int64).reshape(-1, 2)


def _pair(row: Any) -> tuple[int, int]:  # noqa: ANN401 - whatever a record is
    a, b = row
    return _vertex(a), _vertex(b)


def _vertex(value: object) -> int:
    read = number(value)
    whole = isinstance(read, Fraction) and read.denominator == 1 and 0 <= read < MOST_VERTICES
    return int(read) if whole else -1
