"""The number of stars of a graph."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.sensitivity.graphs.graph import Graph, Integers, OfEdges, check_whole
from discreet.sensitivity.graphs.partners import partners
from discreet.sensitivity.smooth.levels import Levels

__all__ = ["Stars", "stars"]

MOST_BITS = 1000
"""Counts up to 2^1000 are floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stars(OfEdges):
    """Count the stars with k rays, ``sum of C(degree, k)`` over vertices, under ``add_remove`` of an edge.

    Let p and q be the degrees of i and j without the edge between them. That edge is in ``C(p, k-1) + C(q, k-1)``
    stars. Another edge raises one of p and q by 1, up to ``vertices - 2``, and binomials are convex, so s edges do most
    if they all go to the higher one, and what is left over to the other. ``A(x, s)`` is the largest sum over all pairs:
    Karwa, Raskhodnikova, Smith and Yaroslavtsev, "Private Analysis of Graph Structure", VLDB 2011. It is exact, up to
    the rounding of integers beyond 2^53, which is upwards.

    >>> star = Stars(k=2, vertices=5).at([(0, 1), (0, 2), (0, 3)])
    >>> star.value, [star.local(s) for s in range(5)]
    (3, [3.0, 4.0, 5.0, 6.0, 6.0])
    """

    k: int
    vertices: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", check_whole(self.vertices, "vertices, their public number,"))
        object.__setattr__(self, "k", check_whole(self.k, "k, the rays of a star,", least=2))
        if _log2_peak(self.vertices, min(self.k, self.vertices)) + math.log2(self.vertices) > MOST_BITS:
            raise InvalidParameter(
                f"there must be fewer than 2^{MOST_BITS} stars, and so many vertices may have more. Write a smaller k."
            )

    @property
    def range(self) -> tuple[int, int]:
        """From none to those of the complete graph."""
        return 0, self.vertices * math.comb(self.vertices - 1, self.k)

    def at(self, records: Iterable[object], /) -> Levels:
        """Look at a list of edges."""
        graph = Graph.of(records, self.vertices)
        if self.vertices < 3:
            return Levels(0, np.zeros(1))
        through = _binomials(self.vertices - 2, self.k - 1)
        levels = np.max([_levels(int(x), int(y), through) for x, y in partners(graph)], axis=0)
        last = int(np.argmax(levels == levels[-1]))
        return Levels(stars(graph, self.k), levels[: last + 1])


def stars(graph: Graph, k: int) -> int:
    """Count the stars with k rays."""
    degrees, times = np.unique(graph.degrees, return_counts=True)
    return sum(int(many) * math.comb(int(degree), k) for degree, many in zip(degrees, times, strict=True))


def _levels(x: int, y: int, through: npt.NDArray[np.float64] | Integers) -> npt.NDArray[np.float64]:
    """Return what the edge between degrees x and y is in once 0, 1, 2, ... other edges were added to the higher."""
    most = through.size - 1
    added = np.arange(2 * most + 1)
    first = np.minimum(x + added, most)
    second = np.minimum(y + added - (first - x), most)
    sums = through[first] + through[second]
    levels = sums.astype(np.float64)
    upwards: npt.NDArray[np.float64] = np.where(levels > 2.0**53, levels * (1 + 2.0**-51), levels)
    return upwards


def _binomials(most: int, choose: int) -> npt.NDArray[np.float64] | Integers:
    """Return ``C(0, choose)`` to ``C(most, choose)``: exactly if these are small, otherwise as floats rounded up."""
    x = np.arange(most + 1)
    if choose > most:
        return np.zeros(most + 1, dtype=np.int64)
    if _log2_peak(most, choose) + math.log2(most) < 61:
        exact = np.ones(most + 1, dtype=np.int64)
        for t in range(choose):
            exact = exact * (x - t) // (t + 1)
        return exact
    rounded = np.ones(most + 1)
    for t in range(choose):
        rounded *= np.maximum(x - t, 0) / (t + 1)
    return rounded * (1 + (choose + 1) * 2.0**-51)  # two roundings a step, and this one


def _log2_peak(most: int, choose: int) -> float:
    """Return the logarithm of the largest binomial on the way to ``C(most, choose)``."""
    t = min(choose, most // 2)
    return (math.lgamma(most + 1) - math.lgamma(t + 1) - math.lgamma(most - t + 1)) / math.log(2)
