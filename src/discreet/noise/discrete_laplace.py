"""Exact discrete Laplace and geometric noise, at the speed of the arithmetic.

The discrete Laplace law with scale s has ``P[Z = z]`` proportional to ``a^|z|`` with ``a = exp(-1/s)`` (Ghosh,
Roughgarden and Sundararajan, STOC 2009). Since ``P[|Z| >= k] = 2 a^k / (1 + a)`` for k >= 1, a uniform V and a fair
sign give it as

    |Z| = floor(s * (log(2 / (1 + a)) - log V)).

The floor is read from float64 where the error bound of ``discreet.noise.fast`` shows that no real number in V's cell
could give another one, and decided in ball arithmetic where not. Scales above ``SPLIT`` draw high and low digits
separately, as in Canonne, Kamath and Steinke, NeurIPS 2020: a geometric variable G with scale s is ``A t + B`` with
independent A geometric of scale s/t and B in [0, t) of probability proportional to ``exp(-b/s)``.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.exact import ball, log2_floor
from discreet.noise.bits import Words, source
from discreet.noise.coins import bernoulli_exp, exp_coins, random_bits
from discreet.noise.fast import BELIEVED, CHUNK, SLACK, Floats
from discreet.noise.lazy import LazyUniform, largest
from discreet.noise.shapes import INT64, Integers, Parameter, Size, Spec, fill, integers

__all__ = ["discrete_laplace", "geometric"]

SPLIT = 1 << 24
"""Scales up to this are read off one word."""

BIG = 1 << 57
"""Above this scale samples are Python integers: 64 bits could overflow."""

HIGH_BITS = 20
"""Scales between the two leave this many bits to the high digits."""


def discrete_laplace(scale: Parameter, size: Size = None) -> int | Integers:
    """Draw Z with ``P[Z = z]`` proportional to ``exp(-|z| / scale)``, exactly.

    The scale is a positive number or an array of them; a float is taken as the rational number it is. The result is
    a Python int, or an int64 array; an array of Python ints where 64 bits could overflow.

    >>> int(abs(discrete_laplace(10)) < 1000), discrete_laplace(0.5, size=(2, 3)).shape
    (1, (2, 3))
    """
    spec = Spec(scale, size, "scale")
    return integers(flat_laplace(spec), spec)


def flat_laplace(spec: Spec) -> Integers:
    """Draw the samples of a request as one flat array."""
    if spec.largest <= SPLIT:
        return fill(spec, lambda start, stop: _small_laplace(spec, start, stop), CHUNK)
    if spec.largest <= BIG:
        return fill(spec, lambda start, stop: _signed(spec, start, stop), CHUNK)
    return np.array([_exact_laplace(spec.exact(i)) for i in range(spec.count)] + [None], dtype=object)[:-1]


def geometric(scale: Parameter, size: Size = None) -> int | Integers:
    """Draw G >= 0 with ``P[G >= k] = exp(-k / scale)``, exactly.

    >>> geometric(0.001)
    0
    """
    spec = Spec(scale, size, "scale")
    if spec.largest <= BIG:
        return integers(fill(spec, lambda start, stop: _geometric(spec, start, stop), CHUNK), spec)
    values = [_exact_geometric(spec.exact(i)) for i in range(spec.count)]
    return integers(np.array([*values, None], dtype=object)[:-1], spec)


def _small_laplace(spec: Spec, start: int, stop: int) -> Integers:
    """Scales up to ``SPLIT``: one word gives sign and magnitude."""
    words = source().words(stop - start)
    scales = spec.part(start, stop)
    shift = np.log(2 / (1 + np.exp(-1 / scales)))

    def survival(i: int, k: int) -> arb:
        s = spec.exact(start + i)
        return 2 * (-ball(k / s)).exp() / (1 + (-ball(1 / s)).exp())

    magnitude = _floors(words, scales, shift, survival)
    negative = (words & np.uint64(1)).view(np.int64)
    if magnitude.dtype == object:
        return magnitude * (1 - 2 * negative)
    magnitude ^= -negative
    magnitude += negative
    return magnitude


def _floors(
    words: Words, scales: Floats | np.float64, shift: Floats | np.float64, survival: Callable[[int, int], arb]
) -> Integers:
    """Return ``floor(scale * (shift - log V))`` for the 63-bit uniforms V in the high bits of the words.

    ``survival(i, k)`` is the exact probability that sample i is at least k, for k >= 1.
    """
    mantissas = words >> np.uint64(1)
    x = mantissas.astype(np.float64)
    x *= 2.0**-63
    with np.errstate(divide="ignore", invalid="ignore"):  # the word 0, which is never believed
        np.log(x, out=x)
        np.subtract(shift, x, out=x)
        x *= scales
        floors = np.floor(x)
        x -= floors
    slack = SLACK * scales
    doubtful = np.flatnonzero((x <= slack) | (x >= 1 - slack) | (mantissas < BELIEVED))
    if not doubtful.size:
        return floors.astype(np.int64)
    guesses = [int(g) if np.isfinite(g) else 0 for g in floors[doubtful].tolist()]
    floors[doubtful] = 0
    out = floors.astype(np.int64)
    for i, guess in zip(doubtful.tolist(), guesses, strict=True):
        exact = _decide(LazyUniform(int(mantissas[i]), 63), partial(survival, i), guess)
        if exact not in INT64:
            out = out.astype(object)
        out[i] = exact
    return out


def _decide(v: LazyUniform, survival: Callable[[int], arb], guess: int) -> int:
    """Return the largest k >= 0 with ``V < survival(k)``."""
    return largest(guess, lambda k: k <= 0 or v.below(lambda: survival(k)))


def _geometric(spec: Spec, start: int, stop: int) -> Integers:
    """Scales up to ``BIG``: high digits from one word, low digits, if any, from a second."""
    scales = spec.part(start, stop)
    low_bits = np.where(scales > SPLIT, np.frexp(scales)[1] - 1 - HIGH_BITS, 0).astype(np.int64)

    def survival(i: int, k: int) -> arb:
        return (-ball(k * Fraction(2) ** int(np.broadcast_to(low_bits, stop - start)[i]) / spec.exact(start + i))).exp()

    high = _floors(source().words(stop - start), np.ldexp(scales, -low_bits), np.float64(0), survival)
    if not low_bits.any():
        return high
    if high.dtype == object or bool((high > np.int64(2**63 - 1) >> low_bits).any()):
        high = high.astype(object)
    return (high << low_bits) + _low_digits(spec, start, np.broadcast_to(low_bits, stop - start))


def _low_digits(spec: Spec, start: int, bits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Draw B below ``2^bits`` with probability proportional to ``exp(-b / scale)``, by rejection from the uniform."""
    digits = np.zeros(bits.size, dtype=np.int64)
    scales = np.broadcast_to(spec.part(start, start + bits.size), bits.size)
    waiting = np.flatnonzero(bits)
    while waiting.size:
        drawn = (source().words(waiting.size) >> (64 - bits[waiting]).astype(np.uint64)).astype(np.int64)
        exact = partial(_exponent, spec, start, waiting, drawn)
        kept = exp_coins(drawn / scales[waiting], exact)
        digits[waiting[kept]] = drawn[kept]
        waiting = waiting[~kept]
    return digits


def _exponent(spec: Spec, start: int, where: npt.NDArray[np.intp], drawn: npt.NDArray[np.int64], i: int) -> Fraction:
    return int(drawn[i]) / spec.exact(start + int(where[i]))


def _signed(spec: Spec, start: int, stop: int) -> Integers:
    """Give geometric magnitudes a fair sign; a negative zero is rejected and the sample drawn again."""
    out = _geometric(spec, start, stop)
    signs = (source().words(stop - start) & np.uint64(1)).astype(np.int64)
    for i in np.flatnonzero((signs == 1) & (out == 0)).tolist():
        out[i], signs[i] = _exact_laplace(spec.exact(start + i)), 0
    return out * (1 - 2 * signs)


def _exact_geometric(scale: Fraction) -> int:
    """Draw one geometric variable of any scale in exact arithmetic alone."""
    low_bits = max(0, log2_floor(scale) - HIGH_BITS)
    high = _decide(LazyUniform(), lambda k: (-ball(k * 2**low_bits / scale)).exp(), 0)
    while not bernoulli_exp((low := random_bits(low_bits)) / scale):
        pass
    return (high << low_bits) + low


def _exact_laplace(scale: Fraction) -> int:
    """Draw one discrete Laplace variable of any scale in exact arithmetic alone."""
    while True:
        magnitude, negative = _exact_geometric(scale), random_bits(1)
        if magnitude or not negative:
            return -magnitude if negative else magnitude
