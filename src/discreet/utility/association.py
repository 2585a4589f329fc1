"""How strongly attributes hang together, pair by pair, in the real records and in synthetic ones.

Cramer, "Mathematical Methods of Statistics", 1946: V is 0 for independent attributes and 1 where one tells the other.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from discreet.utility.tables import NOTE, Data, tables_of

__all__ = ["Associations", "associations", "cramers_v"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Associations:
    """Cramer's V of all pairs of attributes, a row and a column each: real, synthetic, and how these differ."""

    real: Floats
    synthetic: Floats
    note: str = NOTE

    @property
    def difference(self) -> Floats:
        """Synthetic less real: below 0 where an association was lost, above 0 where one was made up."""
        return self.synthetic - self.real

    @property
    def mean(self) -> float:
        """The mean size of the difference over all pairs."""
        pairs = self.difference[np.triu_indices(len(self.real), 1)]
        return float(np.abs(pairs).mean()) if pairs.size else 0.0

    @property
    def worst(self) -> float:
        """The largest difference of a pair."""
        return float(np.abs(self.difference).max(initial=0.0))


def associations(real: Data, synthetic: Data, *, sizes: tuple[int, ...]) -> Associations:
    """Return the associations of all pairs in both. Not private: it reads the real records without noise.

    >>> found = associations([[0, 0], [1, 1]] * 9, [[0, 0], [0, 1], [1, 0], [1, 1]], sizes=(2, 2))
    >>> found.difference.tolist()
    [[0.0, -1.0], [-1.0, 0.0]]
    """
    return Associations(_map(real, sizes), _map(synthetic, sizes))


def cramers_v(table: npt.ArrayLike) -> float:
    """Return Cramer's V of a table of counts, or of shares; values that nobody has are left out.

    >>> cramers_v([[10, 0], [0, 30]]), cramers_v([[1, 3], [2, 6]]), cramers_v([[5, 5]])
    (1.0, 0.0, 0.0)
    """
    counts = np.asarray(table, dtype=np.float64)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    least = min(counts.shape) - 1
    if least < 1:
        return 0.0
    shares = counts / counts.sum()
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    return min(1.0, math.sqrt(max(0.0, float(((shares - expected) ** 2 / expected).sum())) / least))


def _map(data: Data, sizes: tuple[int, ...]) -> Floats:
    tables = tables_of(data, sizes)
    found = np.eye(len(sizes))
    for i, j in combinations(range(len(sizes)), 2):
        found[i, j] = found[j, i] = round(cramers_v(tables.shares((i, j))), 12)
    return found
