"""Many lattices composed: an exponentially tilted Fourier transform in a window that Chernoff's bound justifies.

Masses of sums of losses span hundreds of orders of magnitude, and a plain transform computes all of them to the same
absolute accuracy. Each mass is therefore multiplied by ``e^(theta l)`` first and the result divided by it: with theta
near the saddle point of the tail that is asked for, that tail is where the transform is most accurate.

Three errors are bounded, all in units of the tilted total, which is 1:

- *the window*: what lies outside it, by Chernoff's bound on both sides; a circular transform folds it back in;
- *the transform*: with ``u = 2^-53`` and N points, ``|error|_2 <= TRANSFORM u log2(N) |F|_2`` for each transform, and
  the power T multiplies the relative error of each coefficient by T;
- *the masses themselves*: a relative error k of every P and Q mass moves every loss by at most 2k and every product
  of T masses by a factor ``(1 + k)^T``. The accountant adds this to epsilon (see ``curve``).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.accounting.numerical.lattice import Lattice
from discreet.accounting.numerical.pairs import Floats

__all__ = ["Sum", "compose", "log_moment", "tilt_for"]

TRANSFORM = 8.0
UNIT = 2.0**-53
OUTSIDE = 1e-10
"""Tilted mass that may lie outside the window, on each side."""

Counted = tuple[Lattice, int]


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """Masses of P at the summed losses: ``mass[i] * exp(log_scale - theta * loss[i])``.

    ``error`` bounds the absolute error of any sum of tilted masses, ``outside`` the tilted mass beyond each end of the
    window.
    """

    losses: Floats
    mass: Floats
    theta: float
    log_scale: float
    mean: float
    shift: float
    error: float
    outside: float


def log_moment(parts: list[Counted], theta: float) -> tuple[float, float, float]:
    """Return the log-moment function of the summed loss, less its anchors, and its first two derivatives."""
    value = mean = variance = 0.0
    for lattice, count in parts:
        log_total, m, v = _tilted(lattice, theta)[1:]
        value, mean, variance = value + count * log_total, mean + count * m, variance + count * v
    return value, mean, variance


def _tilted(lattice: Lattice, theta: float) -> tuple[Floats, float, float, float]:
    losses = (lattice.first + np.arange(lattice.mass.size)) * lattice.step
    exponents = theta * losses
    top = float(exponents.max(initial=-math.inf, where=lattice.mass > 0))
    weights = lattice.mass * np.exp(exponents - top)
    total = float(weights.sum())
    weights /= total
    mean = float(np.dot(weights, losses))
    variance = float(np.dot(weights, (losses - mean) ** 2))
    return weights, math.log(total) + top, mean, variance


def tilt_for(parts: list[Counted], log_delta: float) -> float:
    """Return a tilt whose saddle point lies near the epsilon of a given delta.

    By Chernoff's bound for the hockey stick, ``delta <= e^(K(theta) - theta epsilon) / (1 + theta)``; at the saddle
    point epsilon is the tilted mean.
    """
    low, high = 0.0, 1.0
    step = parts[0][0].step
    while high < 2.0**60:
        value, mean, variance = log_moment(parts, high)
        if value - high * mean - math.log1p(high) < log_delta:
            break
        if variance < step**2:  # the law has shrunk to the largest loss: no tilt reaches further
            return low
        low, high = high, 2 * high
    for _ in range(5):
        middle = (low + high) / 2
        value, mean, _ = log_moment(parts, middle)
        low, high = (low, middle) if value - middle * mean - math.log1p(middle) < log_delta else (middle, high)
    return (low + high) / 2


def compose(parts: list[Counted], theta: float) -> Sum:
    """Return the law of the summed loss, all lattices having the same step."""
    from scipy import fft

    step = parts[0][0].step
    value, mean, variance = log_moment(parts, theta)
    low, high = _window(parts, theta, value, mean, max(math.sqrt(variance), step))
    start = math.floor(low / step)
    size = fft.next_fast_len(max(16, math.ceil(high / step) - start + 1), real=True)
    product: npt.NDArray[np.complex128] = np.ones(size // 2 + 1, dtype=np.complex128)
    offset, relative = 0, 0.0
    for lattice, count in parts:
        weights, *_ = _tilted(lattice, theta)
        norm = math.sqrt(float(np.dot(weights, weights)) * size)
        if weights.size > size:
            weights = _folded(weights, size)
        transformed = fft.rfft(weights, size)
        product *= transformed if count == 1 else transformed**count
        offset += lattice.first * count
        relative += count * norm
    spread = math.sqrt(2 * float(np.sum(product.real**2 + product.imag**2)))
    copies = sum(count for _, count in parts)
    mass = np.roll(fft.irfft(product, size), -((start - offset) % size))
    error = UNIT * (TRANSFORM * math.log2(size) * (relative + spread) + (4 * copies + 16 * len(parts)) * spread)
    return Sum(
        losses=(start + np.arange(size, dtype=np.float64)) * step,
        mass=mass,
        theta=theta,
        log_scale=value,
        mean=mean,
        shift=math.fsum(lattice.anchor * count for lattice, count in parts),
        error=error,
        outside=OUTSIDE,
    )


def _folded(weights: Floats, size: int) -> Floats:
    """Add up what a circular transform of this size cannot tell apart."""
    return np.asarray(np.bincount(np.arange(weights.size) % size, weights=weights, minlength=size), dtype=np.float64)


def _window(parts: list[Counted], theta: float, value: float, mean: float, deviation: float) -> tuple[float, float]:
    """Return losses beyond which the tilted mass is below ``OUTSIDE`` on each side (Chernoff)."""
    reach = -math.log(OUTSIDE)
    ends = []
    for side in (-1, 1):
        best = math.inf
        for factor in (1.2, 1.0, 0.8, 0.6, 0.45, 0.3):
            change = side * factor * math.sqrt(2 * reach) / deviation
            moved, _, _ = log_moment(parts, theta + change)
            if math.isfinite(moved):
                best = min(best, side * (moved - value + reach) / abs(change) * side)
        ends.append(best if side > 0 else -best)
    low, high = ends
    return min(low, mean), max(high, mean)
