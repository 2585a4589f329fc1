"""Cumulative sums: how many records are in the first k cells."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import Array, Line

__all__ = ["Prefix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix(Line):
    """The sums of the first 1, 2, ..., ``size`` cells, an unnormalised distribution function.

    A record of the first cell is in all of them; one that moves from the first cell to the last leaves all but one.

    >>> Prefix(size=4).sensitivity(1, relation="add_remove"), Prefix(size=4).sensitivity(1, relation="replace_one")
    (Fraction(4, 1), Fraction(3, 1))
    """

    @property
    def shape(self) -> tuple[int, int]:
        """One row for each cell."""
        return self.size, self.size

    @property
    def nonnegative(self) -> bool:
        """Entries are 0 and 1."""
        return True

    @property
    def determines_cells(self) -> bool:
        """As differences."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return the cumulative sums."""
        return np.asarray(np.cumsum(x, axis=0))

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return the cumulative sums from the end."""
        return np.asarray(np.cumsum(y[::-1], axis=0)[::-1])

    def column_norms(self, p: int, /) -> Array:
        """From ``size`` down to 1."""
        return np.arange(self.size, 0, -1, dtype=np.int64)

    def largest_column(self, p: int, /) -> int:
        """That of the first cell."""
        return self.size

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """That of the first cell from the last."""
        return self.size - 1, True

    def gram(self) -> Floats:
        """Return ``size - max(i, j)``."""
        place = np.arange(self.size, dtype=np.float64)
        return self.size - np.maximum(place[:, None], place[None, :])

    def covariance(self) -> Floats:
        """Return the second difference, which inverts the Gram matrix."""
        inverse = 2 * np.eye(self.size) - np.eye(self.size, k=1) - np.eye(self.size, k=-1)
        inverse[0, 0] = 1.0
        return inverse

    def variances(self, covariance: Floats, /) -> Floats:
        """Return the diagonal of the sums of the covariance along both sides."""
        return np.diagonal(np.cumsum(np.cumsum(covariance, axis=0), axis=1)).copy()

    def solve(self, y: npt.ArrayLike, /) -> Floats:
        """Return the differences."""
        answers = np.asarray(y, dtype=np.float64)
        return np.diff(answers, axis=0, prepend=np.zeros_like(answers[:1]))
