"""All intervals of neighbouring cells."""

from dataclasses import dataclass

import numpy as np

from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import Array, Line

__all__ = ["AllRanges"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllRanges(Line):
    """The sums of cells a to b for all a <= b, ordered by a and then b.

    Cell j is in ``(j + 1) (n - j)`` of the ``n (n + 1) / 2`` ranges. Of the ranges with a cells before i and b beyond
    j, those that hold just one of i < j number ``s (n + 1 - s)`` with ``s = (i + 1) + (n - j)``, so both relations have
    the sensitivity ``floor((n + 1)^2 / 4)`` in L1 norm from two cells on.

    >>> AllRanges(size=3).matvec([1, 10, 100])
    array([  1,  11, 111,  10, 110, 100])
    """

    @property
    def shape(self) -> tuple[int, int]:
        """One row for each pair of ends."""
        return self.size * (self.size + 1) // 2, self.size

    @property
    def nonnegative(self) -> bool:
        """Entries are 0 and 1."""
        return True

    @property
    def determines_cells(self) -> bool:
        """Single cells are ranges."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return differences of cumulative sums."""
        sums = np.concatenate([np.zeros_like(x[:1]), np.cumsum(x, axis=0)])
        first, last = np.triu_indices(self.size)
        return np.asarray(sums[last + 1] - sums[first])

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return, for each cell, the sum over the ranges that hold it: those begun less those ended."""
        first, last = np.triu_indices(self.size)
        square = np.zeros((self.size, self.size, *y.shape[1:]), dtype=y.dtype)
        square[first, last] = y
        begun, ended = square.sum(axis=1), square.sum(axis=0)
        ended = np.concatenate([np.zeros_like(ended[:1]), ended[:-1]])
        return np.asarray(np.cumsum(begun - ended, axis=0))

    def column_norms(self, p: int, /) -> Array:
        """``(j + 1) (n - j)``."""
        place = np.arange(self.size, dtype=np.int64)
        return (place + 1) * (self.size - place)

    def largest_column(self, p: int, /) -> int:
        """That of the cell in the middle."""
        return (self.size + 1) ** 2 // 4

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """The same, from two cells on."""
        return ((self.size + 1) ** 2 // 4 if self.size > 1 else 0), True

    def gram(self) -> Floats:
        """Return ``(min(i, j) + 1) (n - max(i, j))``."""
        place = np.arange(self.size, dtype=np.float64)
        low, high = np.minimum(place[:, None], place), np.maximum(place[:, None], place)
        return np.asarray((low + 1) * (self.size - high), dtype=np.float64)

    def variances(self, covariance: Floats, /) -> Floats:
        """Return ``S[b, b] + S[a, a] - 2 S[a, b]`` for the covariance S of the cumulative sums."""
        sums = np.zeros((self.size + 1, self.size + 1))
        sums[1:, 1:] = np.cumsum(np.cumsum(covariance, axis=0), axis=1)
        first, last = np.triu_indices(self.size)
        own = np.diagonal(sums)
        return np.asarray(own[last + 1] + own[first] - 2 * sums[first, last + 1], dtype=np.float64)
