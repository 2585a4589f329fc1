"""Exact discrete Gaussian noise: ``P[Z = z]`` proportional to ``exp(-z^2 / (2 sigma^2))``.

Canonne, Kamath and Steinke, NeurIPS 2020: draw Y from the discrete Laplace law with scale ``t = floor(sigma) + 1`` and
keep it with probability ``exp(-(|Y| - sigma^2 / t)^2 / (2 sigma^2))``. About three of four draws are kept. The coin
compares a 64-bit uniform with the float64 value of that probability and asks ball arithmetic where they are too close.
With ``r = (|Y| - sigma^2 / t) / sigma``, the roundings move the exponent by at most ``(5 r^2 + 5 r) 2^-53``, and so the
probability by less than ``2^-50``. Any t gives the same law, as long as draw and coin share it.

Where many are drawn with one sigma, a table of the distribution function is quicker (see ``gaussian_table``).
"""

from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.noise.coins import exp_coins, exp_of_minus
from discreet.noise.discrete_laplace import BIG, discrete_laplace
from discreet.noise.fast import CHUNK, Floats
from discreet.noise.gaussian_table import GaussianTable, pays
from discreet.noise.lazy import LazyUniform
from discreet.noise.shapes import Integers, Parameter, Size, Spec, fill, integers

__all__ = ["discrete_gaussian"]


def discrete_gaussian(sigma: Parameter, size: Size = None) -> int | Integers:
    """Draw Z with ``P[Z = z]`` proportional to ``exp(-z^2 / (2 sigma^2))``, exactly.

    Sigma is a positive number or an array of them; a float is taken as the rational number it is. The variance is
    slightly below ``sigma^2`` for sigma below about 1 and indistinguishable from it above.

    >>> int(abs(discrete_gaussian(10)) < 1000), discrete_gaussian(0.5, size=(2, 3)).shape
    (1, (2, 3))
    """
    spec = Spec(sigma, size, "sigma")
    if spec.single is not None and pays(spec.single, spec.count):
        table = GaussianTable.of(spec.single)
        return integers(fill(spec, lambda start, stop: table.draw(stop - start), CHUNK), spec)
    if spec.largest <= BIG:
        return integers(fill(spec, lambda start, stop: _rejection(spec, start, stop), CHUNK), spec)
    values = [_exact_gaussian(spec.exact(i)) for i in range(spec.count)]
    return integers(np.array([*values, None], dtype=object)[:-1], spec)


def _rejection(spec: Spec, start: int, stop: int) -> Integers:
    out: Integers = np.empty(stop - start, dtype=np.int64)
    waiting = np.arange(stop - start)
    same = spec.single is not None
    while waiting.size:
        sigma = spec.part(start, stop) if same else np.asarray(spec.part(start, stop))[waiting]
        t = np.floor(sigma) + 1
        # With one sigma for all, a few draws too many save whole further rounds.
        draws = discrete_laplace(int(t) if same else t, size=waiting.size + (waiting.size // 2 + 4) * same)
        assert isinstance(draws, np.ndarray)  # noqa: S101 - a size was given
        centred = np.abs(draws).astype(np.float64)
        centred -= sigma * (sigma / t)
        centred /= sigma
        with np.errstate(over="ignore"):  # far from the centre of a tiny sigma: exp(-inf) is the 0 it should be
            centred *= centred
        centred *= 0.5
        kept = exp_coins(centred, partial(_exponent, spec, start, waiting, draws, t))
        if draws.dtype == object and out.dtype != object:
            out = out.astype(object)
        if same:
            values = draws[kept][: waiting.size]
            out[waiting[: values.size]] = values
            waiting = waiting[values.size :]
        else:
            out[waiting[kept]] = draws[kept]
            waiting = waiting[~kept]
    return out


def _exponent(
    spec: Spec, start: int, waiting: npt.NDArray[np.intp], draws: Integers, t: Floats | np.float64, i: int
) -> Fraction:
    if spec.single is not None:
        return _exact_exponent(int(draws[i]), spec.single, int(t))
    return _exact_exponent(int(draws[i]), spec.exact(start + int(waiting[i])), int(np.asarray(t)[i]))


def _exact_exponent(y: int, sigma: Fraction, t: int) -> Fraction:
    return (abs(y) - sigma**2 / t) ** 2 / (2 * sigma**2)


def _exact_gaussian(sigma: Fraction) -> int:
    """Draw one discrete Gaussian variable of any sigma."""
    t = sigma.numerator // sigma.denominator + 1
    while True:
        y = discrete_laplace(t)
        assert isinstance(y, int)  # noqa: S101 - no size was given
        exponent = _exact_exponent(y, sigma, t)
        if LazyUniform().below(partial(exp_of_minus, exponent)):
            return y
