"""The Haar wavelet: one total, and at every split of the cells the difference of both halves.

Xiao, Wang and Gehrke, "Differential Privacy via Wavelet Transforms", ICDE 2010. Their weights make the noise of every
coefficient the same in units of sums, so these are the rows.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import Array, Line

__all__ = ["Haar"]

Ends = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Haar(Line):
    """The total, and the left half less the right half of every part of the cells, halved down to single cells.

    Any size will do: a part of odd size has the larger half on the left. As many rows as cells, so the estimate is the
    inverse. A record moves the total and one difference at each level; one that changes halves at the top moves that
    difference by 2.

    >>> Haar(size=4).matvec([1, 2, 3, 4])
    array([10, -4, -1, -1])
    >>> Haar(size=4).sensitivity(1, relation="add_remove"), Haar(size=4).sensitivity(1, relation="replace_one")
    (Fraction(3, 1), Fraction(4, 1))
    """

    @property
    def shape(self) -> tuple[int, int]:
        """As many rows as cells."""
        return self.size, self.size

    @property
    def nonnegative(self) -> bool:
        """Only a single cell has no difference."""
        return self.size == 1

    @property
    def determines_cells(self) -> bool:
        """It has an inverse."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return the total and the differences, from the top."""
        sums = np.concatenate([np.zeros_like(x[:1]), np.cumsum(x, axis=0)])
        differences = [2 * sums[middle] - sums[low] - sums[high] for low, middle, high in _splits(self.size)]
        return np.concatenate([sums[-1:], *differences])

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return, for each cell, the total and the differences with their signs."""
        steps = np.zeros((self.size + 1, *y.shape[1:]), dtype=y.dtype)
        place = 1
        for low, middle, high in _splits(self.size):
            level = y[place : place + len(low)]
            place += len(low)
            np.add.at(steps, low, level)
            np.add.at(steps, middle, -2 * level)
            np.add.at(steps, high, level)
        return np.asarray(np.cumsum(steps[:-1], axis=0) + y[:1])

    def column_norms(self, p: int, /) -> Array:
        """One more than the number of parts that hold the cell."""
        steps = np.zeros(self.size + 1, dtype=np.int64)
        for low, _, high in _splits(self.size):
            np.add.at(steps, low, 1)
            np.add.at(steps, high, -1)
        return 1 + np.cumsum(steps[:-1])

    def largest_column(self, p: int, /) -> int:
        """One more than the number of levels."""
        return 1 + _depth(self.size)

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """That of two cells in different halves, each at the bottom of its own."""
        if self.size == 1:
            return 0, True
        left = (self.size + 1) // 2
        return 2**p + _depth(left) + _depth(self.size - left), True

    def covariance(self) -> Floats:
        """Return the product of the inverse and its transpose."""
        inverse = self.solve(np.eye(self.size))
        return inverse @ inverse.T

    def solve(self, y: npt.ArrayLike, /) -> Floats:
        """Return the inverse: half of sum and difference is the left half."""
        answers = np.asarray(y, dtype=np.float64)
        sums = np.zeros((self.size + 1, *answers.shape[1:]))
        sums[-1] = answers[0]
        place = 1
        for low, middle, high in _splits(self.size):
            level = answers[place : place + len(low)]
            place += len(low)
            sums[middle] = (sums[low] + sums[high] + level) / 2
        return np.asarray(np.diff(sums, axis=0), dtype=np.float64)


@lru_cache(maxsize=64)
def _splits(size: int) -> tuple[Ends, ...]:
    """Return low ends, middles and high ends of the parts that are split, level by level from the top."""
    low, high = np.array([0]), np.array([size])
    levels: list[Ends] = []
    while (high - low).max() > 1:
        wide = high - low > 1
        low, high = low[wide], high[wide]
        middle = low + (high - low + 1) // 2
        levels.append((low, middle, high))
        low, high = np.stack([low, middle], axis=1).reshape(-1), np.stack([middle, high], axis=1).reshape(-1)
    return tuple(levels)


def _depth(size: int) -> int:
    return (size - 1).bit_length()
