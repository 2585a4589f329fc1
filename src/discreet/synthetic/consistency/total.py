"""The closest vector without negative entries that has a given sum.

Setting negative entries to zero raises the sum, and a small area with many empty cells gains people that way. Water
filling takes from all entries alike until the sum is right: minimise ``sum w_i (x_i - v_i)^2`` over ``x >= 0`` with
``sum x_i = N``; the solution is ``x_i = max(0, v_i - t / w_i)`` for one level t, which a sort finds in O(n log n)
(Held, Wolfe and Crowder, "Validation of Subgradient Optimization", Mathematical Programming 1974).
"""

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter

__all__ = ["project_total"]

Floats = npt.NDArray[np.float64]


def project_total(
    values: npt.ArrayLike, total: npt.ArrayLike, *, weights: npt.ArrayLike | None = None, axis: int = -1
) -> Floats:
    """Return the projection of ``values`` to the vectors without negative entries that sum to ``total``.

    Works along one axis of an array, with one total for each line. A ``-inf`` marks an entry that must be zero.

    >>> project_total([0.5, 0.5, -4.0], 3).tolist()
    [1.5, 1.5, 0.0]
    >>> project_total([1.0, 1.0], 1, weights=[3, 1]).tolist()
    [0.75, 0.25]
    """
    v = np.moveaxis(np.asarray(values, dtype=np.float64), axis, -1)
    n = np.asarray(total, dtype=np.float64)
    if not np.all(n >= 0) or not np.all(np.isfinite(n)):
        raise InvalidParameter("a total must be a finite number of at least 0.")
    n = np.broadcast_to(n, v.shape[:-1])
    if np.any(np.isnan(v)) or np.any(v == np.inf):
        raise InvalidParameter("values must be numbers, or -inf where an entry must be zero.")
    possible = np.isfinite(v).any(axis=-1)
    if np.any(~possible & (n > 0)):
        raise InvalidParameter("where every entry must be zero the total is zero.")
    w = np.ones_like(v) if weights is None else np.broadcast_to(np.asarray(weights, dtype=np.float64), v.shape)
    if not np.all(w > 0) or not np.all(np.isfinite(w)):
        raise InvalidParameter("weights must be finite and above 0.")
    filled = np.maximum(v - _level(v, w, n)[..., None] / w, 0.0)
    return np.moveaxis(np.where(np.isfinite(v), filled, 0.0), -1, axis)


def _level(v: Floats, w: Floats, n: Floats) -> Floats:
    """Return the water level t of each line: with entries sorted by ``w v``, a prefix of them stays above zero."""
    finite = np.isfinite(v)
    height = np.where(finite, w * np.where(finite, v, 0.0), -np.inf)
    order = np.argsort(-height, axis=-1, kind="stable")
    sorted_height = np.take_along_axis(height, order, axis=-1)
    sums = np.cumsum(np.take_along_axis(np.where(finite, v, 0.0), order, axis=-1), axis=-1)
    widths = np.cumsum(np.take_along_axis(np.where(finite, 1 / w, 0.0), order, axis=-1), axis=-1)
    levels = (sums - n[..., None]) / np.maximum(widths, 1e-300)
    # Entry k stays above zero as long as its height exceeds the level that a prefix up to it would need.
    above = np.maximum((sorted_height > levels).sum(axis=-1), 1)
    return np.take_along_axis(levels, above[..., None] - 1, axis=-1)[..., 0]
