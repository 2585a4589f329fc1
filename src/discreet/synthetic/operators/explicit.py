"""A matrix that is written out."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, issparse

from discreet.errors import InvalidParameter
from discreet.exact import finite
from discreet.synthetic.operators.operator import HELD, Array, Operator

__all__ = ["Explicit"]

ENTRY = 1 << 31
"""Entries of the whole matrix are below this, so that their squares fit into 64 bits."""

SHOWN = 64
"""Matrices of up to so many entries show themselves."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Explicit(Operator):
    """Any matrix of rational numbers, dense (nested lists, an array) or sparse (of scipy).

    Floats are taken as the rationals they are, so that the sensitivity is that of the matrix itself. The matrix is
    copied, and what is held cannot be written to.

    >>> queries = Explicit(matrix=[[1, 1, 0], [0, Fraction(1, 2), -1]])
    >>> queries.denominator, queries.sensitivity(1, relation="add_remove")
    (2, Fraction(3, 2))
    >>> queries.sensitivity(1, relation="replace_one")
    Fraction(5, 2)
    """

    matrix: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _Whole.of(self.matrix))

    def __repr__(self) -> str:
        rows, cells = self.shape
        if rows * cells > SHOWN:
            return f"Explicit(matrix=<{rows} x {cells}>)"
        shown = [[_entry(int(value), self.denominator) for value in row] for row in self.matrix.entries.toarray()]
        return f"Explicit(matrix=[{', '.join('[' + ', '.join(row) + ']' for row in shown)}])"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Explicit) and self.matrix.key == other.matrix.key

    def __hash__(self) -> int:
        return hash(self.matrix.key)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        rows, cells = self.matrix.shape
        return int(rows), int(cells)

    @property
    def denominator(self) -> int:
        """The least common one of all entries."""
        return int(self.matrix.denominator)

    @property
    def reach(self) -> int:
        """The largest L1 norm of a row."""
        return max(1, int(abs(self.matrix.entries).sum(axis=1).max()))

    @property
    def nonnegative(self) -> bool:
        """Whether no entry is below 0."""
        return bool(self.matrix.data.min(initial=0) >= 0)

    @property
    def determines_cells(self) -> bool:
        """Whether each cell has a row of its own; other ways are not looked for."""
        held = self.matrix
        single = np.flatnonzero(np.diff(held.indptr) == 1)
        return len(np.unique(held.indices[held.indptr[single]])) == self.shape[1]

    def whole_matvec(self, x: Array, /) -> Array:
        """Return the product."""
        return np.asarray(self.matrix.entries @ x)

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return the product with the transpose."""
        return np.asarray(self.matrix.entries.T @ y)

    def column_norms(self, p: int, /) -> Array:
        """Sums of sizes or squares."""
        sizes = abs(self.matrix.entries)
        return np.asarray((sizes if p == 1 else sizes.multiply(sizes)).sum(axis=0)).reshape(-1)


@dataclass(frozen=True, slots=True)
class _Whole:
    """Whole entries over a denominator, in lowest terms, row by row.

    The arrays lie on bytes, which nothing can make writable again; a sparse array would let them be replaced.
    """

    data: Array
    indices: Array
    indptr: Array
    shape: tuple[int, int]
    denominator: int

    @classmethod
    def of(cls, matrix: Any) -> "_Whole":  # noqa: ANN401 - whatever can be read as a matrix
        if isinstance(matrix, cls):
            return matrix
        if issparse(matrix):
            given: Any = matrix
            if len(given.shape) != 2:
                raise InvalidParameter("an explicit operator has rows and columns: a sparse matrix of two dimensions.")
            listed = given.tocoo(copy=True)
            if listed.data.dtype.kind in "iub":  # before what is named twice is added up
                listed = coo_array((_whole_values(listed.data)[0], (listed.row, listed.col)), shape=listed.shape)
            sparse = csr_array(listed, copy=True)
            sparse.sum_duplicates()
            values, common = _whole_values(sparse.data)
            entries = csr_array((values, sparse.indices, sparse.indptr), shape=sparse.shape)
        else:
            dense: npt.NDArray[Any] = np.asarray(matrix, dtype=None if isinstance(matrix, np.ndarray) else object)
            if dense.ndim != 2 or not dense.size:
                raise InvalidParameter("an explicit operator has rows and columns: Explicit(matrix=[[1, 0], [1, 1]]).")
            values, common = _whole_values(dense.reshape(-1))
            entries = csr_array(values.reshape(dense.shape))
        if 0 in entries.shape:
            raise InvalidParameter("an explicit operator has at least one row and one column.")
        entries.eliminate_zeros()
        entries.sort_indices()
        square = sum(int(value) ** 2 for value in np.unique(np.abs(entries.data))) * max(1, entries.shape[0])
        if square >= HELD:
            raise _too_many_digits()
        kind = np.dtype(np.int32 if max(entries.nnz, *entries.shape) < ENTRY else np.int64)
        places = (entries.indices.astype(kind).tobytes(), entries.indptr.astype(kind).tobytes())
        rows, cells = entries.shape
        return _sealed(entries.data.tobytes(), *places, kind.char, (int(rows), int(cells)), common)

    def __reduce__(self) -> "tuple[Callable[..., _Whole], tuple[object, ...]]":
        parts = (self.data.tobytes(), self.indices.tobytes(), self.indptr.tobytes())
        return _sealed, (*parts, self.indices.dtype.char, self.shape, self.denominator)

    @property
    def entries(self) -> Any:  # noqa: ANN401 - a sparse array
        """The matrix as a sparse array, a new one for each use."""
        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    @property
    def key(self) -> tuple[object, ...]:
        """What tells two matrices apart."""
        parts = (self.data.tobytes(), self.indices.tobytes(), self.indptr.tobytes())
        return self.shape, self.denominator, *parts


def _sealed(data: bytes, indices: bytes, indptr: bytes, kind: str, shape: tuple[int, int], denominator: int) -> _Whole:
    columns, rows = (np.frombuffer(part, dtype=kind) for part in (indices, indptr))
    return _Whole(np.frombuffer(data, dtype=np.int64), columns, rows, shape, denominator)


def _whole_values(values: Array) -> tuple[npt.NDArray[np.int64], int]:
    if values.dtype.kind in "iub":
        if values.size and max(int(values.max()), -int(values.min())) >= ENTRY:
            raise _too_many_digits()
        return values.astype(np.int64), 1
    exact = [finite(value, "an entry") for value in values.tolist()]
    common = math.lcm(1, *(value.denominator for value in exact))
    whole = [int(value * common) for value in exact]
    if max(map(abs, whole), default=0) >= ENTRY:
        raise _too_many_digits()
    return np.array(whole, dtype=np.int64), common


def _too_many_digits() -> InvalidParameter:
    return InvalidParameter(
        "the entries of an explicit operator have too many digits; round them to multiples of 2^-16 or so."
    )


def _entry(value: int, denominator: int) -> str:
    exact = Fraction(value, denominator)
    return str(exact.numerator) if exact.denominator == 1 else repr(exact)
