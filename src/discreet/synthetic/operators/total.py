"""The sum of all cells."""

from dataclasses import dataclass

import numpy as np

from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import Array, Line

__all__ = ["Total"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Total(Line):
    """The number of records: sensitivity 1 under add_remove and 0 under replace_one, where it is public.

    >>> Total(size=3).matvec([1, 2, 3])
    array([6])
    >>> Total(size=3).sensitivity(1, relation="replace_one")
    Fraction(0, 1)
    """

    @property
    def shape(self) -> tuple[int, int]:
        """One row."""
        return 1, self.size

    @property
    def nonnegative(self) -> bool:
        """Entries are 0 and 1."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return the sum."""
        return np.asarray(x.sum(axis=0, keepdims=True))

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return the one answer for every cell."""
        return np.repeat(y, self.size, axis=0)

    def column_norms(self, p: int, /) -> Array:
        """1 for each."""
        return np.ones(self.size, dtype=np.int64)

    def largest_column(self, p: int, /) -> int:
        """1."""
        return 1

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """All columns are alike."""
        return 0, True

    def gram(self) -> Floats:
        """Return ones everywhere."""
        return np.ones((self.size, self.size))

    def covariance(self) -> Floats:
        """Return the pseudo-inverse of ones everywhere."""
        return np.full((self.size, self.size), 1.0 / self.size**2)

    def variances(self, covariance: Floats, /) -> Floats:
        """Return the sum of all entries."""
        return np.array([covariance.sum()])
