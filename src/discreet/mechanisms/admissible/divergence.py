"""How far two laws of one shape can be told apart that differ in place and scale: by integration, for any density."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from discreet.noise.fast import Floats

__all__ = ["LogDensity", "hockey_stick", "largest_ratio", "normalised", "renyi"]

LogDensity: TypeAlias = Callable[[Floats], Floats]

REACH = 80.0
LOST = -1e5
"""Where the logarithm of a density is below this, its difference to another has lost too many digits to count, and so
little of the law is there that nothing is missed. Where the other density is 0 the ratio is infinite, and counts."""

PANELS = 600
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def hockey_stick(log_density: LogDensity, epsilon: float, shift: float, stretch: float) -> float:
    """Return the divergence ``integral of (p - e^epsilon q)+`` of Z from ``shift + e^stretch Z``.

    It is what an observer gains beyond epsilon, the least delta of this pair of laws, in this direction. The line is
    cut where the densities cross and where they may have a kink, and each piece integrated by Gauss and Legendre's
    rule: to many digits if the density is smooth elsewhere, but with no certificate. Where the second law has no
    density the first counts in full.

    >>> round(hockey_stick(lambda z: -abs(z) - math.log(2), 0.5, 0.4, -0.05), 12)
    0.00195102542
    >>> round(hockey_stick(lambda z: np.where(abs(z) <= 1, -math.log(2), -math.inf), 0.1, 0.5, 0.0), 9)
    0.25
    """

    def excess(z: Floats) -> Floats:
        return _ratio(log_density, shift, stretch, z) - epsilon

    edges = _edges(shift)
    signs = excess(edges) > 0
    crossings = _crossings(excess, edges[:-1][signs[:-1] != signs[1:]], edges[1:][signs[:-1] != signs[1:]])
    x, w = _rule(np.union1d(edges, crossings))
    over = excess(x)
    kept = over > 0
    return math.fsum((w[kept] * np.exp(log_density(x[kept])) * -np.expm1(-over[kept])).tolist())


def renyi(log_density: LogDensity, order: float, shift: float, stretch: float) -> float:
    """Return the Renyi divergence of Z from ``shift + e^stretch Z`` for an order above 1, infinite off its support.

    >>> round(renyi(lambda z: -z * z / 2 - math.log(2 * math.pi) / 2, 3.0, 0.5, 0.0), 9)
    0.375
    """
    x, w = _rule(_edges(shift))
    logs = np.log(w) + log_density(x) + (order - 1) * _ratio(log_density, shift, stretch, x)
    top = float(logs.max())
    if top == math.inf:
        return math.inf
    return (top + math.log(math.fsum(np.exp(logs - top).tolist()))) / (order - 1)


def largest_ratio(log_density: LogDensity, shift: float, stretch: float) -> float:
    """Return the largest log-ratio of Z to ``shift + e^stretch Z``, both ways, on a fine net that reaches very far.

    It is infinite where one law has a density and the other has none.

    >>> round(largest_ratio(lambda z: -abs(z) - math.log(2), 0.4, 0.0), 9)
    0.4
    >>> largest_ratio(lambda z: np.where(abs(z) <= 1, -math.log(2), -math.inf), 0.4, 0.0)
    inf
    """
    x, _ = _rule(_edges(shift))
    x = np.union1d(x, _edges(shift))
    here, there = _pair(log_density, shift, stretch, x)
    return float(max(np.max(_difference(here, there)), np.max(_difference(there, here))))


def normalised(log_density: LogDensity) -> LogDensity:
    """Return the log-density with the constant that makes it integrate to 1.

    >>> law = normalised(lambda z: -abs(z))
    >>> round(float(law(np.zeros(1))[0]), 9) == round(-math.log(2), 9)
    True
    """
    edges = _edges(0.0)
    inside = log_density(edges) > -math.inf
    ends = inside[:-1] != inside[1:]
    support = _crossings(lambda z: np.where(log_density(z) > -math.inf, 1.0, -1.0), edges[:-1][ends], edges[1:][ends])
    x, w = _rule(np.union1d(edges, support))
    logs = log_density(x)
    top = float(logs.max())
    constant = top + math.log(math.fsum((w * np.exp(logs - top)).tolist()))
    return lambda z: log_density(z) - constant


def _ratio(log_density: LogDensity, shift: float, stretch: float, z: Floats) -> Floats:
    return _difference(*_pair(log_density, shift, stretch, z))


def _pair(log_density: LogDensity, shift: float, stretch: float, z: Floats) -> tuple[Floats, Floats]:
    """Return the log-densities of both laws."""
    return log_density(z), log_density((z - shift) * math.exp(-stretch)) - stretch


def _difference(here: Floats, there: Floats) -> Floats:
    """Return the log-ratio: infinite where the second density is 0, and 0 where the first is 0 or lost.

    >>> _difference(np.array([0.0, 0.0, -np.inf, -1e6]), np.array([-1.0, -np.inf, 0.0, 0.0])).tolist()
    [1.0, inf, 0.0, 0.0]
    """
    with np.errstate(invalid="ignore"):
        ratio = here - there
    return np.where((here > LOST) & ~np.isnan(ratio), ratio, 0.0)


def _edges(shift: float) -> Floats:
    """Return cuts that are dense near both places and reach to ``e^REACH``."""
    steps = np.sinh(np.linspace(0, REACH**0.5, PANELS) ** 2 / 2) * 1e-3
    steps = np.concatenate([steps, np.linspace(0, 12, PANELS // 2)])
    return np.unique(np.concatenate([place + side * steps for place in (0.0, shift) for side in (-1, 1)]))


def _rule(edges: Floats) -> tuple[Floats, Floats]:
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = middle[:, None] + half[:, None] * NODES
    w = np.broadcast_to(half[:, None] * WEIGHTS, x.shape)
    kept = w.ravel() > 0
    return x.ravel()[kept], w.ravel()[kept]


def _crossings(excess: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Halve all pieces in which a sign changes until they are points."""
    side = excess(low) > 0
    for _ in range(70):
        middle = (low + high) / 2
        same = (excess(middle) > 0) == side
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low
