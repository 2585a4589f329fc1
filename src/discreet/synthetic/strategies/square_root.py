"""The square root of the matrix of running totals.

Fichtenberger, Henzinger and Upadhyay, "Constant Matters: Fine-grained Complexity of Differentially Private Continual
Observation", ICML 2023; Henzinger, Upadhyay and Upadhyay, "Almost Tight Error Bounds on Differentially Private
Continual Counting", SODA 2023. The lower triangle of ones is the square of the Toeplitz matrix of
``c(k) = binomial(2 k, k) / 4^k``; both factors have the same small norms, ``log(n) / pi`` plus a constant when squared.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.signal import fftconvolve

from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import Array, Operator, positive_size

__all__ = ["SquareRoot", "inverse_series", "series"]

BITS = 20
"""The series is rounded to multiples of 2^-20, and everything said here is about what was rounded."""

FULLY = 8192
"""Cells up to which all distances of columns are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareRoot(Operator):
    """The square root of ``Prefix(size=size)``, its entries rounded to multiples of 2^-20.

    The column of the first cell has the largest norm.

    >>> SquareRoot(size=4).dense()[:, 0].tolist()
    [1.0, 0.5, 0.375, 0.3125]
    >>> SquareRoot(size=2).change(2, relation="add_remove").power
    Fraction(5, 4)
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_size(self.size))

    @property
    def shape(self) -> tuple[int, int]:
        """As many rows as cells."""
        return self.size, self.size

    @property
    def denominator(self) -> int:
        """2^20."""
        return 1 << BITS

    @property
    def reach(self) -> int:
        """The sum of the series."""
        return int(series(self.size).sum())

    @property
    def nonnegative(self) -> bool:
        """The series is."""
        return True

    @property
    def determines_cells(self) -> bool:
        """It has an inverse."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return the convolution with the series, exact for whole numbers."""
        return _convolved(series(self.size), x)

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return the convolution from the end."""
        return _convolved(series(self.size), y[::-1])[::-1]

    def column_norms(self, p: int, /) -> Array:
        """Sums of the series, or of its squares, as far as each column goes."""
        return np.cumsum(series(self.size) ** p)[::-1].copy()

    def largest_column(self, p: int, /) -> int:
        """That of the first cell."""
        return int((series(self.size) ** p).sum())

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """That of the first column from another, since the series falls; for very many cells a bound.

        Columns i < j differ by the first ``j - i`` terms and then by differences of the series, all of one sign, and
        the more of these the earlier they start.
        """
        if self.size > FULLY:
            return 2 * self.largest_column(p), False
        return self._from_the_first(self.furthest_cells(p)[1], p), True

    def furthest_cells(self, p: int, /) -> tuple[int, int]:
        """The first cell, and another one."""
        if self.size > FULLY:
            return Operator.furthest_cells(self, p)
        return 0, max(range(self.size), key=lambda shift: self._from_the_first(shift, p))

    def _from_the_first(self, shift: int, p: int) -> int:
        """Return the p-th power of the distance of a column from the first."""
        values = series(self.size)
        rest = values[: self.size - shift] - values[shift:]
        return int((values[:shift] ** p).sum() + (rest**p).sum())

    def gram(self) -> Floats:
        """Return the products of the shifted series."""
        table = np.asarray(self.matvec(np.eye(self.size)), dtype=np.float64)
        return table.T @ table

    def covariance(self) -> Floats:
        """Return the product of the inverse and its transpose."""
        inverse = self.solve(np.eye(self.size))
        return inverse @ inverse.T

    def solve(self, y: npt.ArrayLike, /) -> Floats:
        """Return the convolution with the inverse series."""
        answers = np.asarray(y, dtype=np.float64)
        kernel = inverse_series(self.size).reshape(-1, *(1,) * (answers.ndim - 1))
        return np.asarray(fftconvolve(answers, kernel, axes=0)[: self.size], dtype=np.float64)


@lru_cache(maxsize=16)
def series(size: int) -> npt.NDArray[np.int64]:
    """Return ``c(0), ..., c(size - 1)`` in multiples of 2^-20.

    >>> (series(4) / 2**20).tolist()
    [1.0, 0.5, 0.375, 0.3125]
    """
    k = np.arange(1, size, dtype=np.float64)
    values = np.concatenate([[1.0], np.cumprod((2 * k - 1) / (2 * k))])
    whole: npt.NDArray[np.int64] = np.rint(np.ldexp(values, BITS)).astype(np.int64)
    whole.setflags(write=False)
    return whole


@lru_cache(maxsize=16)
def inverse_series(size: int) -> Floats:
    """Return the power series with which the rounded one gives 1, by Newton's iteration ``g <- g (2 - c g)``.

    >>> inverse_series(3).round(12).tolist()
    [1.0, -0.5, -0.125]
    """
    values, inverse = series(size) / float(1 << BITS), np.ones(1)
    while len(inverse) < size:
        length = min(2 * len(inverse), size)
        rest = -fftconvolve(values[:length], inverse)[:length]
        rest[0] += 2
        inverse = np.asarray(fftconvolve(inverse, rest)[:length], dtype=np.float64)
    inverse.setflags(write=False)
    return inverse


def _convolved(kernel: npt.NDArray[np.int64], x: Array) -> Array:
    size = len(kernel)
    if x.dtype.kind == "f":
        spread = kernel.astype(np.float64).reshape(-1, *(1,) * (x.ndim - 1))
        return np.asarray(fftconvolve(x, spread, axes=0)[:size] if size > 64 else _direct(kernel, x))
    return _direct(kernel, x)


def _direct(kernel: npt.NDArray[np.int64], x: Array) -> Array:
    total = np.zeros_like(x)
    for shift, value in enumerate(kernel.tolist()):
        total[shift:] += value * x[: len(x) - shift]
    return total
