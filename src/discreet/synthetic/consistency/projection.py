"""The closest vector that keeps a list of facts.

Minimise ``sum w_i (x_i - v_i)^2`` over the ``x >= 0`` that keep all constraints. A few hundred cells are solved exactly
by an active set: with the equalities eliminated it is a least-distance problem, whose dual is least squares without
negative entries (Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23). More cells are solved by a
fixed number of steps of the alternating direction method (Boyd, Parikh, Chu, Peleato and Eckstein, "Distributed
Optimization and Statistical Learning via the Alternating Direction Method of Multipliers", 2011), so the running time
does not depend on the numbers.
"""

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize, sparse
from scipy.sparse import linalg as sparse_linalg

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency.constraints import Constraints

__all__ = ["project"]

Floats = npt.NDArray[np.float64]

EXACT = 300
"""Up to this many cells are solved by an active set."""

STEPS = 3000
"""Steps of the alternating direction method."""

RELAXED = 1.6

KEPT = 1e-8
"""How far a fact may be missed, in units of the largest number in it."""

POLISHED = 20
"""How often what is still missed is mended."""


def project(values: npt.ArrayLike, constraints: Constraints, *, weights: npt.ArrayLike | None = None) -> Floats:
    """Return the vector closest to ``values`` that keeps the constraints, which must not contradict each other.

    Every fact is kept up to ``KEPT`` of the largest number in it; where the solver does not get there, an error names
    the facts that it misses, and nothing is returned.

    >>> facts = Constraints(3).equal("everybody", [0, 1, 2], 6).at_most("first", [0], 2).zero("nobody there", [2])
    >>> project([5.0, 3.0, 1.0], facts).round(6).tolist()
    [2.0, 4.0, 0.0]
    """
    v = np.asarray(values, dtype=np.float64)
    if v.shape != (constraints.size,) or not np.all(np.isfinite(v)):
        raise InvalidParameter(f"values must be {constraints.size} finite numbers, one for each cell.")
    w = np.ones_like(v) if weights is None else np.broadcast_to(np.asarray(weights, dtype=np.float64), v.shape)
    if not np.all(w > 0) or not np.all(np.isfinite(w)):
        raise InvalidParameter("weights must be finite and above 0.")
    constraints.check()
    kept = np.flatnonzero(constraints.allowed)
    x = np.zeros_like(v)
    if kept.size == 0:
        return x
    # In units of 1 / sqrt(w) the weighted distance is the plain one.
    root = np.sqrt(w[kept])
    matrix = sparse.csr_array(constraints.matrix[:, kept] * (1 / root)[None, :])
    solve = _exactly if kept.size <= EXACT else _by_steps
    x[kept] = np.maximum(solve(v[kept] * root, matrix, constraints.low, constraints.high), 0.0) / root
    x[kept] = _polished(x[kept], sparse.csr_array(constraints.matrix[:, kept]), constraints.low, constraints.high)
    missed = _missed(x, constraints.matrix, constraints.low, constraints.high)
    names = [row.name for row, far in zip(constraints.rows, missed > KEPT, strict=True) if far]
    if names:
        raise InvalidParameter(
            f"the closest vector was not found: {', '.join(map(repr, names))} would be missed by more than {KEPT:g} of "
            "the largest number in it. Give values, weights and coefficients of more similar sizes."
        )
    return x


def _missed(x: Floats, matrix: sparse.csr_array, low: Floats, high: Floats) -> Floats:
    """Return how far each constraint is missed, in units of the largest number in it, or of 1."""
    sums, sizes = matrix @ x, abs(matrix) @ np.abs(x)
    ends = np.where(np.isfinite(low), np.abs(low), 0.0) + np.where(np.isfinite(high), np.abs(high), 0.0)
    return np.asarray(np.maximum(np.maximum(low - sums, sums - high), 0.0) / np.maximum(np.maximum(sizes, ends), 1.0))


def _polished(x: Floats, matrix: sparse.csr_array, low: Floats, high: Floats) -> Floats:
    """Return x, moved by least squares along its positive entries to where it misses no constraint, if that helps."""
    best, least = x, float(_missed(x, matrix, low, high).max(initial=0.0))
    for _ in range(POLISHED):
        if least <= KEPT * 1e-3:
            break
        sums = matrix @ best
        bound = (low == high) | (sums < low) | (sums > high)
        free = np.flatnonzero(best > 0)
        gaps = (np.clip(sums, low, high) - sums)[bound]
        moved = best.copy()
        moved[free] += sparse_linalg.lsmr(matrix[bound][:, free], gaps, atol=1e-14, btol=1e-14)[0]
        moved = np.maximum(moved, 0.0)
        missed = float(_missed(moved, matrix, low, high).max(initial=0.0))
        if not missed < least:
            break
        best, least = moved, missed
    return best


def _exactly(v: Floats, matrix: sparse.csr_array, low: Floats, high: Floats) -> Floats:
    rows = matrix.toarray()
    equal = low == high
    start, free = _eliminated(rows[equal], low[equal], v)
    under, over = ~equal & np.isfinite(low), ~equal & np.isfinite(high)
    sides = np.vstack([np.eye(v.size), rows[under], -rows[over]])
    ends = np.concatenate([np.zeros(v.size), low[under], -high[over]])
    if free.shape[1] == 0:
        return start
    # start is the closest point on the equalities: what is left is the shortest t with sides (start + free t) >= ends
    normals, gaps = sides @ free, ends - sides @ start
    size = np.maximum(np.linalg.norm(normals, axis=1), 1e-12)
    normals, gaps = normals / size[:, None], gaps / size
    scale = max(1.0, float(np.abs(gaps).max()))
    stacked = np.vstack([normals.T, gaps[None, :] / scale])
    goal = np.zeros(stacked.shape[0])
    goal[-1] = 1.0
    multipliers, _ = optimize.nnls(stacked, goal, maxiter=30 * stacked.shape[1])
    residual = stacked @ multipliers - goal
    if abs(residual[-1]) < 1e-13:
        return _by_steps(v, matrix, low, high)
    return np.asarray(start + free @ (-residual[:-1] / residual[-1] * scale))


def _eliminated(rows: Floats, ends: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Return the point of ``rows x = ends`` that is closest to v, and an orthonormal basis of the directions in it."""
    if rows.shape[0] == 0:
        return v.copy(), np.eye(v.size)
    closest = v + np.linalg.lstsq(rows, ends - rows @ v, rcond=None)[0]
    return closest, linalg.null_space(rows)


def _by_steps(v: Floats, matrix: sparse.csr_array, low: Floats, high: Floats) -> Floats:
    """Alternate between the nearest point of a quadratic and the nearest point of a box, with multipliers.

    The quadratic needs ``(2 + A^T A)^-1``, which is ``(1 - A^T (2 + A A^T)^-1 A) / 2``: rows are few, cells many.
    """
    norms = np.maximum(np.sqrt(np.asarray((matrix.multiply(matrix)).sum(axis=1))).reshape(-1), 1e-12)
    scaled = sparse.csr_array(matrix.multiply(1 / norms[:, None]))
    lower = np.concatenate([low / norms, np.zeros(v.size)])
    upper = np.concatenate([high / norms, np.full(v.size, np.inf)])
    count, turned = scaled.shape[0], sparse.csr_array(scaled.T)
    solve = sparse_linalg.factorized(sparse.csc_array(2 * sparse.eye_array(count) + scaled @ turned))
    z = np.clip(np.concatenate([scaled @ v, v]), lower, upper)
    u, x = np.zeros_like(z), v
    for _ in range(STEPS):
        pull = z - u
        goal = v + turned @ pull[:count] + pull[count:]
        x = (goal - turned @ solve(scaled @ goal)) / 2
        moved = RELAXED * np.concatenate([scaled @ x, x]) + (1 - RELAXED) * z
        z = np.clip(moved + u, lower, upper)
        u = u + moved - z
    return np.asarray(x)
