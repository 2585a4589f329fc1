"""How to share a budget among the levels of a tree, fitted to a workload.

Li, Hay and Miklau, "A Data- and Workload-Aware Algorithm for Range Queries Under Differential Privacy", VLDB 2014,
choose the weights of a hierarchy greedily, node by node. Here all levels are fitted at once. With shares w of epsilon,
noise of variance ``2 / (epsilon w)^2`` on each block and blocks of s cells, least squares on a full tree leaves the
expected total squared error ``2 / epsilon^2 * sum over levels j of g_j / sum over levels l at or below j of w_l^2 s_l``
(``energies``). A level without a share is not measured: a binary tree whose every second level is empty is one of
branching 4, so that the best branching is found as well.
"""

import numpy as np
from scipy import optimize

from discreet.noise.fast import Floats

__all__ = ["error_of_shares", "fitted_shares"]

STEPS = 80

LOWEST = -40.0
"""The logarithm of the least share that is tried, where a step goes far: its square still divides."""

NEGLIGIBLE = 2e-3
"""A level whose share of a budget is below this is not measured."""


def error_of_shares(shares: Floats, levels: Floats, sizes: Floats) -> float:
    """Return the expected total squared error for epsilon = 1, up to the factor 2.

    Levels are from the top: ``levels`` are their energies, ``sizes`` the cells in a block.

    >>> error_of_shares(np.array([0.0, 1.0]), np.array([2.5, 0.5]), np.array([2.0, 1.0]))
    3.0
    """
    precision = np.cumsum((shares**2 * sizes)[::-1])[::-1]
    needed = levels > 0
    if np.any(precision[needed] <= 0):
        return float("inf")
    return float(np.sum(levels[needed] / precision[needed]))


def fitted_shares(levels: Floats, sizes: Floats, *, public_top: bool = False) -> Floats:
    """Return shares of a budget, which sum to 1, of least expected squared error, found from several starts.

    With ``public_top`` the sum of everything is known and needs no share.

    >>> fitted_shares(np.array([1.0, 0.0, 0.0]), np.array([4.0, 2.0, 1.0])).tolist()
    [1.0, 0.0, 0.0]
    """
    count = len(levels)
    first = 1 if public_top and count > 1 else 0
    energy, size = levels[first:].astype(np.float64), sizes[first:].astype(np.float64)
    if not energy.any():
        return np.eye(1, count, first).reshape(-1)
    lowest = int(np.max(np.flatnonzero(energy > 0), initial=0))
    energy, size = energy[: lowest + 1] / max(float(energy.sum()), 1e-300), size[: lowest + 1] / size[lowest]

    def objective(logs: Floats) -> tuple[float, Floats]:
        shares = np.exp(np.maximum(logs - logs.max(), LOWEST))
        shares /= shares.sum()
        precision = np.cumsum((shares**2 * size)[::-1])[::-1]
        value = float(np.sum(energy / precision))
        slope = -2 * shares * size * np.cumsum(energy / precision**2)
        return np.log(value), shares * (slope - float(slope @ shares)) / value

    best = min(
        (
            # L-BFGS-B is as good, but on a busy machine its small products wait long for threads of their own
            optimize.minimize(objective, start, jac=True, method="BFGS", options={"maxiter": STEPS})
            for start in _starts(lowest + 1)
        ),
        key=lambda found: float(found.fun),
    )
    shares = np.exp(best.x - best.x.max())
    shares /= shares.sum()
    shares[:-1][shares[:-1] < NEGLIGIBLE] = 0.0
    result = np.zeros(count)
    result[first : first + lowest + 1] = shares / shares.sum()
    return result


def _starts(count: int) -> list[Floats]:
    """Return logarithms of shares: all alike, and with all but each second, third or fourth level small."""
    starts = [np.zeros(count)]
    for step in range(2, min(5, count)):
        kept = (np.arange(count) - (count - 1)) % step == 0
        starts.append(np.where(kept, 0.0, -4.0))
    return starts
