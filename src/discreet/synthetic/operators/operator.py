"""What a linear operator is: queries of a histogram, held without their matrix.

Every operator is a whole matrix over a ``denominator``, so what it gives on counts is exact, and how far one record
moves it is known exactly: under add_remove by the largest norm of a column, under replace_one by the largest norm of
the difference of two columns (Li, Hay, Rastogi, Miklau and McGregor, "Optimizing Linear Counting Queries Under
Differential Privacy", PODS 2010).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, finite, show, up
from discreet.noise.fast import Floats
from discreet.units import Relation, check_relation

__all__ = ["DENSE", "HELD", "Array", "Change", "Line", "Operator", "positive_size"]

Array = npt.NDArray[Any]

DENSE = 4096
"""Domains up to this size may be written out as a matrix of their covariance."""

PAIRS = 1 << 28
"""Differences of entries that are looked at to find the largest distance of two columns."""

FEW = 1 << 24
"""Products of entries that are looked at where they do not fit into 64 bits."""

HELD = 1 << 62
"""Whole numbers below this, and sums of two of them, fit into 64 bits."""

ROUNDS = 500
"""Steps of conjugate gradients where no closed form is known: a fixed number, so that no time depends on data."""


@dataclass(frozen=True, slots=True)
class Change:
    """How far one record moves an operator: the p-th ``power`` of the p-norm, and whether it is ``attained``.

    Where it is not known to be attained it is an upper bound: twice the largest column in L1 norm, in squared L2 norm
    twice it if no entry is negative and four times it otherwise.

    >>> Change(Fraction(4), 2, True).norm
    2.0
    """

    power: Fraction
    p: int
    attained: bool

    @property
    def norm(self) -> Fraction | float:
        """The norm: exact for p = 1, a float that is never below it for p = 2."""
        if self.p == 1 or not self.power:
            return self.power
        return up(lambda: ball(self.power).sqrt())


class Operator(ABC):
    """A matrix of public rational numbers, one column for each cell of a histogram and one row for each query.

    An author writes ``shape``, ``reach``, ``whole_matvec`` and ``whole_rmatvec``; the rest has a general form, and a
    closed one where that is known.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many queries there are, and how many cells."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """A bound on the L1 norm of every row of the whole matrix: how far counts grow."""

    @abstractmethod
    def whole_matvec(self, x: Array, /) -> Array:
        """Return ``denominator * A @ x`` for one or many columns, whole numbers for whole numbers."""

    @abstractmethod
    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return ``denominator * A.T @ y`` for one or many columns, whole numbers for whole numbers."""

    @property
    def denominator(self) -> int:
        """What the whole matrix is divided by."""
        return 1

    @property
    def nonnegative(self) -> bool:
        """Whether it is known that no entry is below 0."""
        return False

    @property
    def separable(self) -> bool:
        """Whether two columns of the largest norm are known that share no row."""
        return False

    @property
    def determines_cells(self) -> bool:
        """Whether the answers are known to determine every cell: no two histograms have the same."""
        return False

    @property
    def factors(self) -> "tuple[Operator, ...]":
        """The operators whose Kronecker product this is."""
        return (self,)

    @property
    def parts(self) -> "tuple[tuple[Fraction, Operator], ...]":
        """The weighted operators that are stacked in it."""
        return ((Fraction(1), self),)

    # What it does --------------------------------------------------------------------------------------------

    def matvec(self, x: npt.ArrayLike, /) -> Array:
        """Return ``A @ x`` for a histogram or for the columns of a matrix.

        >>> from discreet.synthetic.operators import Prefix
        >>> Prefix(size=3).matvec([1, 2, 3])
        array([1, 3, 6])
        """
        whole = self.whole_matvec(_columns(x, self.shape[1]))
        return whole if self.denominator == 1 else whole / self.denominator

    def rmatvec(self, y: npt.ArrayLike, /) -> Array:
        """Return ``A.T @ y`` for a vector of answers or for the columns of a matrix."""
        whole = self.whole_rmatvec(_columns(y, self.shape[0]))
        return whole if self.denominator == 1 else whole / self.denominator

    def dense(self) -> Array:
        """Return the matrix itself."""
        return self.matvec(np.eye(self.shape[1], dtype=np.int64))

    def gram(self) -> Floats:
        """Return ``A.T @ A``."""
        return np.asarray(self.rmatvec(self.matvec(np.eye(self.shape[1]))), dtype=np.float64)

    def covariance(self) -> Floats:
        """Return ``(A.T A)^+``: the covariance of the least squares estimate if each answer has noise of variance 1."""
        if self.shape[1] > DENSE:
            raise InvalidParameter(
                f"the covariance of up to {DENSE} cells is written out, got {self.shape[1]}; split the domain into "
                "factors (Kronecker)."
            )
        return np.asarray(np.linalg.pinv(self.gram(), hermitian=True, rcond=1e-12), dtype=np.float64)

    def variances(self, covariance: Floats, /) -> Floats:
        """Return the diagonal of ``A C A.T``: the variance of each answer if the histogram has covariance C."""
        rows = np.asarray(self.dense(), dtype=np.float64)
        return np.asarray(np.einsum("ij,ij->i", rows @ covariance, rows), dtype=np.float64)

    def solve(self, y: npt.ArrayLike, /) -> Floats:
        """Return the least squares estimate of a histogram from noisy answers, the shortest if there are several."""
        answers = np.asarray(_columns(y, self.shape[0]), dtype=np.float64)
        right = np.asarray(self.rmatvec(answers), dtype=np.float64)
        if self.shape[1] <= DENSE // 2:
            return self.covariance() @ right
        return self._conjugate_gradients(right)

    def _conjugate_gradients(self, right: Floats) -> Floats:
        x, r = np.zeros_like(right), right.copy()
        p, size = r.copy(), np.sum(r * r, axis=0)
        for _ in range(ROUNDS):
            image = self.rmatvec(self.matvec(p))
            curve = np.sum(p * image, axis=0)
            step = np.where(curve > 0, size / np.where(curve > 0, curve, 1.0), 0.0)
            x, r = x + step * p, r - step * image
            new = np.sum(r * r, axis=0)
            p, size = r + np.where(size > 0, new / np.where(size > 0, size, 1.0), 0.0) * p, new
        return x

    # How far one record moves it -------------------------------------------------------------------------------

    def column_norms(self, p: int, /) -> Array:
        """Return the p-th powers of the p-norms of the columns of the whole matrix, as whole numbers."""
        rows, cells = self.shape
        whole = np.abs(self.whole_matvec(np.eye(cells, dtype=np.int64 if self.reach < HELD else object)))
        if self.reach**p * rows >= HELD:
            whole = whole.astype(object)
        return np.asarray((whole if p == 1 else whole * whole).sum(axis=0))

    def largest_column(self, p: int, /) -> int:
        """Return the largest of ``column_norms``."""
        return int(self.column_norms(p).max())

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """Return the p-th power of the largest distance of two columns of the whole matrix, or a bound and False.

        Two columns of the largest norm that share no row are the furthest apart in L1 norm, and in L2 norm if no entry
        is negative; columns of both signs may be further apart than these.
        """
        rows, cells = self.shape
        if cells == 1:
            return 0, True
        largest = self.largest_column(p)
        alike = p == 1 or self.nonnegative
        if self.separable and alike:
            return 2 * largest, True
        fits = 4 * self.reach**p * rows < 2 * HELD
        few = rows * cells * (cells if p == 1 else 1) <= PAIRS and cells <= DENSE // 2
        if few and (fits or (self.reach < HELD and rows * cells * cells <= FEW)):
            return _largest_distance(self.whole_matvec(np.eye(cells, dtype=np.int64)), p), True
        return largest * (2 if alike else 4), False

    def furthest_cells(self, p: int, /) -> tuple[int, int]:
        """Return two cells whose columns are the furthest apart in the p-norm.

        Where there are too many cells to look at all pairs, it is a cell of the largest column and the one that is the
        furthest from it in L2 norm: for most operators that is the same.

        >>> from discreet.synthetic.operators import Explicit
        >>> Explicit(matrix=[[3, 0, 0], [0, 2, -2]]).furthest_cells(2)
        (1, 2)
        """
        rows, cells = self.shape
        if cells * cells * rows <= FEW and self.reach < HELD:
            return _furthest(self.whole_matvec(np.eye(cells, dtype=np.int64)), p)
        norms = self.column_norms(2).astype(np.float64)
        one = np.zeros(cells)
        one[place := int(np.argmax(self.column_norms(p)))] = 1.0
        overlap = np.asarray(self.whole_rmatvec(self.whole_matvec(one)), dtype=np.float64)
        return place, int(np.argmax(norms - 2 * overlap))

    def change(self, p: Real, *, relation: str) -> Change:
        """Return how far one record moves the answers, exactly where that is possible.

        >>> from discreet.synthetic.operators import Identity
        >>> Identity(size=4).change(2, relation="replace_one")
        Change(power=Fraction(2, 1), p=2, attained=True)
        """
        order = finite(p, "the norm p")
        if order not in (1, 2):
            raise InvalidParameter(f"the sensitivity of an operator is known in the norms 1 and 2, got {show(order)}.")
        exponent, kind = int(order), _relation(relation)
        power, attained = (
            (self.largest_column(exponent), True) if kind == "add_remove" else self.whole_distance(exponent)
        )
        return Change(Fraction(power, self.denominator**exponent), exponent, attained)

    def sensitivity(self, p: Real, *, relation: str) -> Fraction | float:
        """Return the largest p-norm of what one record changes; for p = 2 a float that is never below it.

        >>> from discreet.synthetic.operators import AllRanges
        >>> AllRanges(size=3).sensitivity(1, relation="add_remove")
        Fraction(4, 1)
        """
        return self.change(p, relation=relation).norm


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(Operator):
    """A matrix over ``size`` cells in a row; no entry of a product is a sum of more cells than there are."""

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_size(self.size))

    @property
    def reach(self) -> int:
        """As many as there are cells."""
        return self.size


def positive_size(value: object, name: str = "size") -> int:
    """Return a whole number of at least 1.

    >>> positive_size(3)
    3
    """
    exact = finite(value, name)
    if exact.denominator != 1 or exact < 1:
        raise InvalidParameter(f"{name} must be a whole number of at least 1, got {show(exact)}.")
    return exact.numerator


def _relation(value: str) -> Relation:
    return check_relation(value)


def _columns(values: npt.ArrayLike, length: int) -> Array:
    array = np.asarray(values)
    if array.dtype.kind == "b" or array.dtype.kind == "u":
        array = array.astype(np.int64)
    if array.dtype.kind not in "if":
        raise InvalidInput(f"an operator takes numbers, got an array of {array.dtype}.")
    if array.ndim not in (1, 2) or array.shape[0] != length:
        raise InvalidInput(f"this operator takes {length} numbers, or as many rows, got an array of {array.shape}.")
    return array


def _furthest(whole: Array, p: int) -> tuple[int, int]:
    columns = whole.T.astype(object) if int(np.abs(whole).max(initial=0)) ** p * len(whole) >= HELD // 4 else whole.T
    furthest = [(np.abs(columns - column) ** p).sum(axis=1) for column in columns]
    best = [int(np.argmax(distances)) for distances in furthest]
    first = max(range(len(best)), key=lambda i: furthest[i][best[i]])
    return first, best[first]


def _largest_distance(whole: Array, p: int) -> int:
    """Return the p-th power of the largest p-distance of two columns, in numbers that hold every sum exactly."""
    bound = 4 * max(1, int(np.abs(whole).max(initial=0))) ** p * whole.shape[0]
    kind: type = float if bound < 2**53 else np.int64 if bound < 2**63 else object
    columns: Array = np.ascontiguousarray(whole.T.astype(kind))
    if p == 2:
        gram = columns @ columns.T
        norms = np.diagonal(gram)
        return int((norms[:, None] + norms[None, :] - 2 * gram).max())
    step = max(1, (1 << 22) // columns.size)
    return max(
        int(np.abs(columns[start : start + step, None, :] - columns[None, :, :]).sum(axis=2).max())
        for start in range(0, len(columns), step)
    )
