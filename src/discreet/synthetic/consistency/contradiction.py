"""Which of several linear constraints cannot hold together.

A linear program gives every constraint room to be broken and minimises how much of it is used. If none is, the
constraints agree. Otherwise the constraints with a dual value that is not zero form a certificate of Farkas: together
they cannot hold. Leaving out one after another, as long as the rest still contradicts itself, makes the set minimal
(Chinneck and Dravnieks, ORSA Journal on Computing 1991): without any one of them the others could hold.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

__all__ = ["contradiction"]

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-7


def contradiction(matrix: sparse.csr_array, low: Floats, high: Floats, names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of a smallest contradictory set, or None if some ``x >= 0`` keeps all constraints.

    >>> rows = sparse.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> contradiction(rows, np.array([2.0, 3.0]), np.array([2.0, np.inf]), ["all", "first"])
    ('all', 'first')
    """
    if not names:
        return None
    rows = np.arange(len(names))
    support = _support(matrix, low, high)
    if support is None:
        return None
    suspects = support if support.size and _broken(matrix, low, high, support) else rows
    for row in suspects.copy():
        rest = suspects[suspects != row]
        if rest.size and _broken(matrix, low, high, rest):
            suspects = rest
    return tuple(names[row] for row in suspects.tolist())


def _broken(matrix: sparse.csr_array, low: Floats, high: Floats, rows: npt.NDArray[np.int64]) -> bool:
    return _support(matrix[rows], low[rows], high[rows]) is not None


def _support(matrix: sparse.csr_array, low: Floats, high: Floats) -> npt.NDArray[np.int64] | None:
    """Return the rows that carry the certificate, or None if all rows can be kept."""
    count, size = matrix.shape
    under, over = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    eye = sparse.eye_array(count, format="csr")
    above = sparse.hstack([-matrix[under], -eye[under], sparse.csr_array((under.size, count))])
    below = sparse.hstack([matrix[over], sparse.csr_array((over.size, count)), -eye[over]])
    scale = 1 + np.abs(np.concatenate([low[under], high[over]])).max(initial=0.0)
    solve: Any = optimize.linprog  # its stubs know no sparse matrices
    found = solve(
        np.concatenate([np.zeros(size), np.ones(2 * count)]),
        A_ub=sparse.csr_array(sparse.vstack([above, below])),
        b_ub=np.concatenate([-low[under], high[over]]) / scale,
        bounds=(0, None),
        method="highs",
    )
    if found.status != 0 or found.fun <= TOLERANCE:
        return None
    duals = np.abs(found.ineqlin.marginals) > TOLERANCE
    return np.unique(np.concatenate([under, over])[duals])
