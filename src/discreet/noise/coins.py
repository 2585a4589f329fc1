"""Coins and dice: exact uniform integers and exact biased coins."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, down, enclose, finite, positive, probability, up
from discreet.noise.bits import source
from discreet.noise.fast import SLACK, Floats
from discreet.noise.lazy import LazyUniform
from discreet.noise.shapes import Integers, Size, shape_of

__all__ = ["bernoulli", "bernoulli_exp", "random_bits", "uniform_below"]


def random_bits(count: int) -> int:
    """Return a uniform integer of ``count`` bits.

    >>> 0 <= random_bits(200) < 2**200
    True
    """
    words = source().words(-(-count // 64))
    return int.from_bytes(words.tobytes(), "little") >> (-count % 64)


def uniform_below(n: int, size: Size = None) -> int | Integers:
    """Draw uniformly from {0, ..., n - 1}, by rejection on the smallest power of two above n.

    >>> uniform_below(1), 0 <= uniform_below(6) < 6, uniform_below(10**30, size=2).dtype
    (0, True, dtype('O'))
    """
    if positive(n, "n").denominator != 1:
        raise InvalidParameter(f"n must be a whole number of at least 1, got {n!r}.")
    n, bits = int(n), int(n - 1).bit_length()
    shape = shape_of(size)
    count = math.prod(shape)
    if bits > 63:
        big = np.empty(count, dtype=object)
        for i in range(count):
            while (value := random_bits(bits)) >= n:
                pass
            big[i] = value
        return int(big[0]) if size is None else big.reshape(shape)
    out = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        draws = (source().words(count - filled) >> np.uint64(63 - bits)) >> np.uint64(1)
        kept = draws[draws < n]
        out[filled : filled + kept.size] = kept
        filled += kept.size
    return int(out[0]) if size is None else out.reshape(shape)


def bernoulli(p: Real, size: Size = None) -> bool | npt.NDArray[np.bool_]:
    """Toss coins that fall true with the exact rational probability p.

    >>> bernoulli(0), bernoulli(1), bernoulli(Fraction(1, 3), size=4).shape
    (False, True, (4,))
    """
    exact = probability(p, "p", zero=True, one=True)
    shape = shape_of(size)
    words = source().words(math.prod(shape))
    whole = math.floor(exact * 2**64)
    tosses = np.ones(words.size, dtype=np.bool_) if whole == 2**64 else words < np.uint64(whole)
    if whole < 2**64:
        for i in np.flatnonzero(words == np.uint64(whole)):
            tosses[i] = LazyUniform(whole, 64).below(lambda: ball(exact))
    return bool(tosses[0]) if size is None else tosses.reshape(shape)


def bernoulli_exp(x: Real, size: Size = None) -> bool | npt.NDArray[np.bool_]:
    """Toss coins that fall true with probability ``exp(-x)`` for an exact rational x >= 0.

    >>> bernoulli_exp(0), bernoulli_exp(1000)
    (True, False)
    """
    exact = finite(x, "x")
    if exact < 0:
        raise InvalidParameter("x must not be negative: exp(-x) would not be a probability.")
    shape = shape_of(size)
    tosses = exp_coins(np.full(math.prod(shape), float(exact)), lambda _: exact)
    return bool(tosses[0]) if size is None else tosses.reshape(shape)


def coins_of(formula: Callable[[], arb], size: int) -> npt.NDArray[np.bool_]:
    """Toss coins of a probability that is known as a formula in balls.

    >>> bool(coins_of(lambda: arb(3).sqrt() / 100, 1000).sum() < 500)
    True
    """
    value = enclose(formula)
    ends = (math.floor(Fraction(end) * 2**64) for end in (down(lambda: value), up(lambda: value)))
    low, high = (np.uint64(max(0, min(end, 2**64 - 1))) for end in ends)
    words = source().words(size)
    tosses: npt.NDArray[np.bool_] = words < low
    for i in np.flatnonzero((words >= low) & (words <= high)).tolist():
        tosses[i] = LazyUniform(int(words[i]), 64).below(formula)
    return tosses


def exp_coins(x: Floats, exact: Callable[[int], Fraction]) -> npt.NDArray[np.bool_]:
    """Toss one coin of probability ``exp(-x)`` for each x >= 0.

    Each float x must put ``exp(-x)`` within ``2^-47`` of its value at the exact rational, which is asked for rarely. A
    relative error of ``2^-50`` in x is small enough: it moves ``exp(-x)`` by at most ``2^-51``, far below the slack.
    """
    words = source().words(x.size)
    gap = words * 2.0**-64
    gap -= np.exp(-x)
    tosses: npt.NDArray[np.bool_] = gap < 0
    if x.size and np.abs(gap, out=gap).min() <= SLACK:
        for i in np.flatnonzero(gap <= SLACK).tolist():
            exponent = exact(i)
            tosses[i] = LazyUniform(int(words[i]), 64).below(partial(exp_of_minus, exponent))
    return tosses


def exp_of_minus(x: Fraction) -> arb:
    """Return ``exp(-x)`` at the working precision."""
    return (-ball(x)).exp()
