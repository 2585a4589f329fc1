"""Every cell by itself: the plain histogram."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import Array, Operator, positive_size

__all__ = ["Identity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity(Operator):
    """All cells of a histogram.

    A record is in one cell, so its sensitivity is 1 under add_remove, and under replace_one 2 in L1 and sqrt(2) in L2
    norm.

    >>> Identity(size=3).sensitivity(1, relation="replace_one")
    Fraction(2, 1)
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_size(self.size))

    @property
    def shape(self) -> tuple[int, int]:
        """One row for each cell."""
        return self.size, self.size

    @property
    def reach(self) -> int:
        """1."""
        return 1

    @property
    def nonnegative(self) -> bool:
        """Entries are 0 and 1."""
        return True

    @property
    def separable(self) -> bool:
        """Any two columns share no row."""
        return self.size > 1

    @property
    def determines_cells(self) -> bool:
        """They are its answers."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return x."""
        return x.copy()

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return y."""
        return y.copy()

    def column_norms(self, p: int, /) -> Array:
        """1 for each."""
        return np.ones(self.size, dtype=np.int64)

    def largest_column(self, p: int, /) -> int:
        """1."""
        return 1

    def gram(self) -> Floats:
        """Return the identity."""
        return np.eye(self.size)

    def covariance(self) -> Floats:
        """Return the identity."""
        return np.eye(self.size)

    def variances(self, covariance: Floats, /) -> Floats:
        """Return the diagonal."""
        return np.diagonal(covariance).copy()

    def solve(self, y: npt.ArrayLike, /) -> Floats:
        """Return y."""
        return np.array(y, dtype=np.float64)
