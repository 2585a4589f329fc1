"""Many lattices composed: an exponentially tilted Fourier transform in a window that Chernoff's bound justifies.

Masses of sums of losses span hundreds of orders of magnitude, and a plain transform computes all of them to the same
absolute accuracy. Each mass is therefore multiplied by ``e^(theta l)`` first and the result divided by it: with theta
near the saddle point of the tail that is asked for, that tail is where the transform is most accurate.

A sum of many losses is smooth, so that nearly all of its Fourier coefficients vanish. Only those above ``NEGLIGIBLE``
are kept, and delta at a lattice point is their sum with the transform of ``(1 - e^(epsilon - l))_+``, which is a
geometric series: no transform back, and no exponential of anything large.

Below the window delta is bounded by Chernoff: ``(1 - e^-u) e^(-theta u)`` is largest at ``e^-u = theta / (1 + theta)``.

Four errors are bounded, all in units of the tilted total, which is 1:

- *the window*: what lies outside it, by Chernoff's bound on both sides; a circular transform folds it back in;
- *the transform*: with ``u = 2^-53`` and N points, ``|error|_2 <= TRANSFORM u log2(N) |F|_2`` for each transform, and
  the power T multiplies the relative error of each coefficient by T;
- *the coefficients left out*: there are at most N, each below ``NEGLIGIBLE``;
- *the masses themselves*: a relative error k of every P and Q mass moves every loss by at most 2k and every product
  of T masses by a factor ``(1 + k)^T``. The accountant adds this to epsilon (see ``curve``).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.accounting.numerical.lattice import Places
from discreet.accounting.numerical.pairs import Floats
from discreet.accounting.numerical.parts import OUTSIDE, UNIT, Parts, Window, window

__all__ = ["MOST_WINDOW", "Law", "compose"]

TRANSFORM = 8.0
NEGLIGIBLE = 1e-22
MOST_POINTS, CHUNK = 3 << 21, 1 << 18
MANY_FREQUENCIES = 1 << 13
MOST_TERMS = 1 << 24
"""Of the sums over few frequencies of a window that is too large for a transform."""

MOST_WINDOW = 1 << 40
"""Points of a window of which few frequencies matter: products of places and frequencies stay whole numbers."""

Complexes = npt.NDArray[np.complex128]


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """The law of the summed loss by its Fourier coefficients, tilted by ``theta``.

    Its mass at the loss ``shift + n * step`` is ``f(n) * exp(log_scale - theta * n * step)``, where f has the period
    ``size`` and is meant from ``start`` on. ``log_error`` bounds the error of log_scale, ``error`` that of a sum of f
    with weights of norm 1, ``outside`` the mass of f beyond each end of the window.
    """

    step: float
    shift: float
    start: int
    size: int
    theta: float
    log_scale: float
    log_error: float
    mean: float
    error: float
    outside: float
    index: Places
    coefficients: Complexes
    kernels: tuple[Complexes, Complexes]
    masses: tuple[Floats, Floats] | None = None
    """Where frequencies are many: f from ``start`` on, and ``a^j - b^j``, of which sums are quicker then."""

    def log_delta(self, place: int, sign: int) -> float:
        """Return the log of a bound on delta at the loss ``shift + place * step``: from above for sign 1, or below.

        The weights are ``a^j - b^j`` at j steps beyond the place, with ``a = e^(-theta step)`` and ``b = a e^-step``:
        their sum with ``e^(2 pi i k j / N)`` over the window is a difference of two geometric series.
        """
        left = self.start + self.size - place
        log_factor = self.log_scale + sign * self.log_error - self.theta * place * self.step
        if left <= 0:
            return min(0.0, math.log(self.outside) + log_factor) if sign > 0 else -math.inf
        tallest = (self.theta / (1 + self.theta)) ** self.theta / (1 + self.theta)
        if place < self.start and sign > 0:
            return min(0.0, log_factor + math.log(tallest))  # below the window Chernoff's bound is known
        if place < self.start:
            return self.log_delta(self.start, sign)
        a = math.exp(-self.theta * self.step * left)
        value, rounding = self._sum(place, left)
        hidden = self.error * self._norm() + rounding + self.outside * (a if sign > 0 else 2 * tallest)
        bound = value + sign * hidden
        if not bound > 0:
            return -math.inf
        return math.log(bound) + log_factor

    def _sum(self, place: int, left: int) -> tuple[float, float]:
        """Return the sum of f from a place on with the weights, and a bound on its rounding."""
        if self.masses is not None:
            terms = self.masses[0][place - self.start :] * self.masses[1][:left]
            return float(terms.sum()), 64 * UNIT * float(np.abs(terms).sum())
        first, second = self.kernels
        reach = self.theta * self.step * left
        a, b = math.exp(-reach), math.exp(-reach - self.step * left)
        series = first - second
        if a > 1e-30:
            series = series - _roots(self.index, left, self.size) * (a * first - b * second)
        turned = self.coefficients * _roots(self.index, place, self.size)
        rounding = 64 * UNIT * float(np.dot(np.abs(turned), np.abs(first) + np.abs(second)))
        return float((turned * series).real.sum()), rounding

    def _norm(self) -> float:
        """Return a bound on the norm of the weights: each is at most ``a^j``, and at most ``a^j`` times j steps."""
        fall = -math.expm1(-2 * self.theta * self.step)
        squares = min(1 / fall, 2 * self.step**2 / fall**3)
        return math.sqrt(min(1.0, squares / self.size))


def compose(parts: Parts, theta: float, about: Window) -> Law:
    """Return the law of the summed loss, in a window much like one ``about`` it."""
    from scipy import fft

    around = parts.moments(theta)
    frame = window(parts, theta, around, about.changes)
    if frame.width > 1.2 * about.width + 16 * parts.step:
        frame = window(parts, theta, around)
    if frame.width > MOST_WINDOW * parts.step:
        raise OverflowError
    start = math.floor(frame.low / parts.step)
    size = fft.next_fast_len(max(16, math.ceil(frame.high / parts.step) - start + 1), real=True)
    if size > MOST_POINTS:
        index, product, error = _low_frequencies(parts, parts.tilted(theta)[0], size)
    else:
        index, product, relative = _product(parts, parts.tilted(theta)[0], size)
        error = UNIT * TRANSFORM * math.log2(size) * relative
    spread = math.sqrt(2 * float(np.sum(product.real**2 + product.imag**2)))
    copies = float(parts.counts.sum())
    error += UNIT * (TRANSFORM * math.log2(size) + 4 * copies + 16 * parts.counts.size) * spread + NEGLIGIBLE * size
    twice = np.where((index == 0) | (2 * index == size), 1.0, 2.0)
    phase = 2j * math.pi * index / size
    return Law(
        step=parts.step,
        shift=parts.shift,
        start=start,
        size=size,
        theta=theta,
        log_scale=around[0],
        log_error=parts.rounding(theta),
        mean=around[1],
        error=error,
        outside=OUTSIDE,
        index=index,
        coefficients=product * (twice / size),
        kernels=(
            -1 / np.expm1(phase - theta * parts.step),
            -1 / np.expm1(phase - (theta + 1) * parts.step),
        ),
        masses=_masses(index, product, start, size, parts.step, theta) if index.size > MANY_FREQUENCIES else None,
    )


def _masses(
    index: Places, product: Complexes, start: int, size: int, step: float, theta: float
) -> tuple[Floats, Floats]:
    """Return the law in place of its coefficients, and the weights of delta."""
    from scipy import fft

    whole = np.zeros(size // 2 + 1, dtype=np.complex128)
    whole[index] = product
    steps = step * np.arange(size)
    return np.roll(fft.irfft(whole, size), -(start % size)), np.exp(-theta * steps) * -np.expm1(-steps)


def _product(parts: Parts, weights: Floats, size: int) -> tuple[Places, Complexes, float]:
    """Return the frequencies at which the product of all transforms is not negligible, and the product there.

    With it, the sum of the norms of the transforms. Once few frequencies are left, further lattices are transformed at
    those alone.
    """
    from scipy import fft

    norms = np.sqrt(np.add.reduceat(weights**2, parts.starts) * size)
    index: Places = np.arange(size // 2 + 1, dtype=np.int64)
    product: Complexes = np.ones(index.size, dtype=np.complex128)
    for number, (start, length, count) in enumerate(zip(parts.starts, parts.sizes, parts.counts, strict=True)):
        folded = np.bincount(
            parts.places[start : start + length] % size, weights=weights[start : start + length], minlength=size
        )
        transformed = fft.rfft(folded)
        if index.size < transformed.size:
            transformed = transformed[index]
        there = np.flatnonzero(transformed.real**2 + transformed.imag**2 > NEGLIGIBLE ** (2 / count))
        if there.size < index.size:
            index, product, transformed = index[there], product[there], transformed[there]
        product *= transformed if count == 1 else np.exp(count * np.log(transformed))
        if number % 16 == 15:  # every further factor is at most 1
            there = np.flatnonzero(product.real**2 + product.imag**2 > NEGLIGIBLE**2)
            index, product = index[there], product[there]
            left, rest = parts.places[start + length :], parts.sizes.size - number - 1
            if rest and index.size * max(left.size / rest, float(np.ptp(left)) / 64) < size:
                index, product = _further(parts, weights, size, number + 1, index, product)
                break
    return index, product, float(np.dot(parts.counts, norms))


def _low_frequencies(parts: Parts, weights: Floats, size: int) -> tuple[Places, Complexes, float]:
    """Return the low frequencies, all others being negligible, the product there, and a bound on its error.

    For sums of so many losses that a transform would not fit. Two masses a and b one place apart lower ``1 - |F|`` at
    angle w by ``(1 - cos w) a b / (a + b)`` at least, and disjoint pairs of them add up.
    """
    following = np.append(parts.places[1:] - parts.places[:-1] == 1, False)
    following[parts.starts[1:] - 1] = False
    a, b = weights, np.append(weights[1:], 0.0)
    lowered = np.where(following, a * b / np.maximum(a + b, 1e-300), 0.0)
    even = np.arange(weights.size) % 2 == 0
    each = [np.add.reduceat(np.where(even == odd, lowered, 0.0), parts.starts) for odd in (True, False)]
    falls = float(np.dot(parts.counts, np.maximum(*each))) * (1 - 2.0**-20)
    wanted = -math.log(NEGLIGIBLE) / falls if falls > 0 else math.inf
    count = math.floor(size * math.acos(1 - wanted) / (2 * math.pi)) + 2 if wanted < 2 else size
    if count * weights.size > MOST_TERMS:
        raise OverflowError
    index: Places = np.arange(count, dtype=np.int64)
    logs: Complexes = np.zeros(count, dtype=np.complex128)
    doubt = np.zeros(count)
    for start, length, copies in zip(parts.starts, parts.sizes, parts.counts, strict=True):
        inside = slice(start, start + length)
        rows = max(1, CHUNK // int(length))
        found: Complexes = np.concatenate(
            [
                (_turns(index[i : i + rows, None] * parts.places[None, inside], size) * weights[None, inside]).sum(
                    axis=1
                )
                for i in range(0, count, rows)
            ]
        )
        logs += copies * np.log(found)
        doubt += copies * (32 + math.log2(length)) * UNIT / np.abs(found)
    product = np.exp(logs)
    error = math.sqrt(2 * float(np.sum((np.abs(product) * np.expm1(np.minimum(doubt, 1.0))) ** 2)))
    kept = np.abs(product) > NEGLIGIBLE
    return index[kept], product[kept], 2 * error


def _further(
    parts: Parts, weights: Floats, size: int, number: int, index: Places, product: Complexes
) -> tuple[Places, Complexes]:
    """Multiply a product by the transforms of all lattices from a number on, at the frequencies that are left."""
    first = int(parts.places[parts.starts[number] :].min())
    every = np.arange(first, int(parts.places[parts.starts[number] :].max()) + 1)
    table = np.exp((-2j * math.pi / size) * (np.outer(every, index) % size))
    while number < parts.sizes.size:
        start = parts.starts[number]
        last = max(number + 1, int(np.searchsorted(parts.starts, start + CHUNK // index.size)) - 1)
        end = parts.starts[last] if last < parts.starts.size else parts.places.size
        turned = table[parts.places[start:end] - first] * weights[start:end, None]
        transformed = np.add.reduceat(turned, parts.starts[number:last] - start)
        product = product * np.exp(parts.counts[number:last] @ np.log(transformed))
        number = last
        there = np.flatnonzero(product.real**2 + product.imag**2 > NEGLIGIBLE**2)
        if there.size < 0.8 * index.size:
            index, product, table = index[there], product[there], table[:, there]
    return index, product


def _roots(index: Places, place: int, size: int) -> Complexes:
    """Return ``e^(2 pi i k place / size)``; the whole turns are taken off in whole numbers."""
    return _turns(-index * (place % size), size)


def _turns(turns: Places, size: int) -> Complexes:
    """Return ``e^(-2 pi i turns / size)``."""
    return np.asarray(np.exp((-2j * math.pi / size) * (turns % size)))
