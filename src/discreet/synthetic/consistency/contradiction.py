"""Which of several linear constraints cannot hold together.

Equations are checked exactly, by elimination over fractions. For the rest a linear program gives every constraint room
to be broken and minimises how much of it is used. If none is, the constraints agree. Otherwise the constraints with a
dual value that is not zero form a certificate of Farkas: together they cannot hold. Leaving out one after another, as
long as the rest still contradicts itself, makes the set minimal (Chinneck and Dravnieks, ORSA Journal on Computing
1991): without any one of them the others could hold.

A program in floats answers up to a tolerance, so what is left of it is solved again in units of how much is left
(Gleixner, Steffy and Wolter, "Iterative Refinement for Linear Programming", INFORMS Journal on Computing 2016). What
inequalities, and signs, break by less than ``ROUNDING`` of the largest number in them is not noticed.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

from discreet.synthetic.consistency.elimination import unequal

__all__ = ["contradiction"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

TOLERANCE = 1e-7
"""A program that uses less room than this, in units of the largest end, is solved again in smaller units."""

CLEARLY = 1e-4
"""One that uses more room than this in its smaller units contradicts itself."""

ROUNDING = 1e-13
ROUNDS = 5


def contradiction(matrix: sparse.csr_array, low: Floats, high: Floats, names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of a smallest contradictory set, or None if some ``x >= 0`` keeps all constraints.

    >>> rows = sparse.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> contradiction(rows, np.array([2.0, 3.0]), np.array([2.0, np.inf]), ["all", "first"])
    ('all', 'first')
    """
    if not names:
        return None
    support = _contradictory(matrix, low, high)
    if support is None:
        return None
    suspects = support if support.size and _broken(matrix, low, high, support) else np.arange(len(names))
    for row in suspects.copy():
        rest = suspects[suspects != row]
        if rest.size and _broken(matrix, low, high, rest):
            suspects = rest
    return tuple(names[row] for row in suspects.tolist())


def _broken(matrix: sparse.csr_array, low: Floats, high: Floats, rows: Places) -> bool:
    return _contradictory(matrix[rows], low[rows], high[rows]) is not None


def _contradictory(matrix: sparse.csr_array, low: Floats, high: Floats) -> Places | None:
    """Return rows that contradict each other, or None if all can be kept."""
    exactly = _equations(matrix, low, high)
    return _support(matrix, low, high) if exactly is None else exactly


def _equations(matrix: sparse.csr_array, low: Floats, high: Floats) -> Places | None:
    """Return equations that contradict each other, with the rows by which cells are empty, or None."""
    rows = [
        dict(zip(*(part[a:b].tolist() for part in (matrix.indices, matrix.data)), strict=True))
        for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]
    empty: dict[int, int] = {}
    for place, row in enumerate(rows):
        if high[place] == 0 and all(c >= 0 for c in row.values()):
            empty |= {cell: place for cell, c in row.items() if c > 0 and cell not in empty}
    equal = np.flatnonzero(low == high).tolist()
    lefts = [{cell: Fraction(c) for cell, c in rows[i].items() if c and cell not in empty} for i in equal]
    found = unequal(lefts, low[equal].tolist())
    if found is None:
        return None
    used = {equal[i] for i in found}
    return np.array(sorted(used | {empty[cell] for i in used for cell in rows[i] if cell in empty}), dtype=np.int64)


def _support(matrix: sparse.csr_array, low: Floats, high: Floats) -> Places | None:
    """Return the rows that carry the certificate, or None if all rows can be kept."""
    count, size = matrix.shape
    under, over = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    eye = sparse.eye_array(count, format="csr")
    above = sparse.hstack([-matrix[under], -eye[under], sparse.csr_array((under.size, count))])
    below = sparse.hstack([matrix[over], sparse.csr_array((over.size, count)), -eye[over]])
    rows = sparse.csr_array(sparse.vstack([above, below]))
    largest = 1 + float(np.abs(np.concatenate([low[under], high[over]])).max(initial=0.0))
    solve: Any = optimize.linprog  # its stubs know no sparse matrices
    x, unit, limit = np.zeros(size), largest, TOLERANCE
    for _ in range(ROUNDS):
        sums = matrix @ x
        found = solve(
            np.concatenate([np.zeros(size), np.ones(2 * count)]),
            A_ub=rows,
            b_ub=np.concatenate([sums[under] - low[under], high[over] - sums[over]]) / unit,
            bounds=np.column_stack(
                [np.concatenate([-x / unit, np.zeros(2 * count)]), np.full(size + 2 * count, np.inf)]
            ),
            method="highs",
        )
        if found.status != 0:
            return None
        if found.fun > limit:
            duals = np.abs(found.ineqlin.marginals) > TOLERANCE
            return np.unique(np.concatenate([under, over])[duals])
        x = np.maximum(x + unit * found.x[:size], 0.0)
        sums = matrix @ x
        missed = float(np.maximum(low - sums, sums - high).max(initial=0.0))
        if missed <= ROUNDING * max(largest, float((abs(matrix) @ x).max(initial=0.0))):
            return None
        unit, limit = missed, CLEARLY
    return None
