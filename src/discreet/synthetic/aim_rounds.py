"""What the rounds of AIM choose from, and how far each of it is from the model: exact scores on a public grid."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.synthetic.coded import Tallied
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.model import GraphicalModel

__all__ = [
    "GRID",
    "Tables",
    "Worked",
    "all_sets",
    "closure",
    "expected_tables",
    "noise_norm",
    "overlaps",
    "sets_of",
    "shares_of",
    "within",
]

Int64 = npt.NDArray[np.int64]

GRID = 1024
"""Scores are whole multiples of one over this."""

LARGEST_TOTAL = float(1 << 50)

CACHED = 1 << 24
"""So many entries of exact tables are kept from round to round, and the others counted again."""

MOST_SETS = 2000


def all_sets(count: int) -> tuple[Attributes, ...]:
    """Return all sets of three attributes, or of two where there are too many of three.

    >>> len(all_sets(14)), len(all_sets(30)), all_sets(2)
    (364, 435, ((0, 1),))
    """
    size = 3 if math.comb(count, 3) <= MOST_SETS else 2
    return tuple(combinations(range(count), min(size, count)))


def sets_of(workload: Iterable[Iterable[int]], count: int) -> tuple[Attributes, ...]:
    """Return a workload as sorted sets of attributes, or say what is wrong with it."""
    found = []
    for one in workload:
        given = tuple(one)
        if not given or any(type(i) is not int or not 0 <= i < count for i in given):
            raise InvalidParameter(f"a workload has sets of attributes, numbered from 0 to {count - 1}.")
        found.append(tuple(sorted(set(given))))
    if not found:
        raise InvalidParameter("a workload has one set of attributes at least.")
    return tuple(found)


def closure(workload: Iterable[Attributes]) -> tuple[Attributes, ...]:
    """Return all sets of attributes within a set of the workload, the smaller first.

    >>> closure([(0, 2), (1,)])
    ((0,), (1,), (2,), (0, 2))
    """
    found = {part for one in workload for size in range(1, len(one) + 1) for part in combinations(one, size)}
    return tuple(sorted(found, key=lambda one: (len(one), one)))


def overlaps(candidates: Sequence[Attributes], workload: Sequence[Attributes]) -> dict[Attributes, int]:
    """Return for each candidate how many attributes it shares with the sets of the workload, all together.

    >>> overlaps([(0,), (0, 1)], [(0, 1), (1, 2)])
    {(0,): 1, (0, 1): 3}
    """
    often: dict[int, int] = {}
    for one in workload:
        for i in one:
            often[i] = often.get(i, 0) + 1
    return {one: sum(often.get(i, 0) for i in one) for one in candidates}


def shares_of(weights: Iterable[float]) -> tuple[Fraction, ...]:
    """Return shares in proportion to weights, which are 1 together exactly.

    >>> shares_of([1.0, 3.0])
    (Fraction(1, 4), Fraction(3, 4))
    """
    exact = [Fraction(one) for one in weights]
    return tuple(one / sum(exact) for one in exact)


def within(told: Iterable[Measured]) -> list[Measured]:
    """Return the sums of measured tables over some of their attributes, with the noise that sums have.

    >>> [(one.attributes, one.counts.tolist()) for one in within([Measured((0, 3), np.ones((2, 3)), 1.0)])]
    [((0,), [3.0, 3.0]), ((3,), [2.0, 2.0, 2.0])]
    """
    found = []
    for one in told:
        for size in range(1, len(one.attributes)):
            for kept in combinations(range(len(one.attributes)), size):
                table = one.counts.sum(tuple(i for i in range(len(one.attributes)) if i not in kept))
                sigma = one.sigma * math.sqrt(one.counts.size / table.size)
                found.append(Measured(tuple(one.attributes[i] for i in kept), table, sigma))
    return found


@dataclass(slots=True, eq=False)
class Tables:
    """The exact tables of candidates, counted when they are first asked for and kept: as secret as the data."""

    tally: Tallied
    sizes: tuple[int, ...]
    _kept: dict[Attributes, Int64] = field(default_factory=dict, repr=False)
    _cells: int = 0

    def table(self, attributes: Attributes) -> Int64:
        """Return the exact counts by some attributes."""
        if attributes in self._kept:
            return self._kept[attributes]
        table = self.tally.table(attributes, self.sizes)
        if self._cells + table.size <= CACHED:
            self._kept[attributes] = table
            self._cells += table.size
        return table

    def distance(self, attributes: Attributes, expected: Int64) -> int:
        """Return the L1 distance of the exact table from one on the grid, in its multiples.

        Whole numbers, so that nothing is rounded: a record more or less changes it by ``GRID`` at most.
        """
        table: npt.NDArray[Any] = self.table(attributes)
        if table.sum() > LARGEST_TOTAL:
            table = table.astype(object)
        return int(np.abs(table * GRID - expected).sum())


def expected_tables(model: GraphicalModel, candidates: Iterable[Attributes]) -> Mapping[Attributes, Int64]:
    """Return what a model expects of all candidates, in multiples of the grid; more records than 2^50 count as 2^50."""
    scale = GRID * min(1.0, LARGEST_TOTAL / model.total)
    return {one: np.rint(model.marginal(one) * scale).astype(np.int64) for one in candidates}


def noise_norm(sigma: float, cells: int) -> float:
    """Return the expected L1 norm of Gaussian noise on so many cells."""
    return math.sqrt(2 / math.pi) * sigma * cells


@dataclass(slots=True)
class Worked:
    """A clock that runs only inside of ``with``: for work on what is released already, never on data."""

    seconds: float = 0.0
    _since: float = 0.0

    def __enter__(self) -> Self:
        self._since = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += perf_counter() - self._since
