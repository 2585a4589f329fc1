"""Noise that is a product with a log-normal factor, on a public grid: ``value + scale * Y * e^(sigma Z)``.

The output is the grid point nearest to the ideal, real-valued sum, so every guarantee of the ideal carries over. The
two uniforms behind Y and the normal Z are refined in ball arithmetic until the floor of the sum is certain: no float64
is believed, and no sample redrawn.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Literal, overload

import numpy as np
from flint import arb, ctx

from discreet.errors import InvalidParameter
from discreet.exact import Precision, Real, ball, positive
from discreet.noise.bits import source
from discreet.noise.fast import Floats
from discreet.noise.grid import LARGEST, Array, power_of_two, read_reals
from discreet.noise.lazy import WORD, LazyUniform

__all__ = ["Factor", "log_normal_on_grid"]

Factor = Literal["laplace", "uniform"]

QUANTILES: dict[str, Callable[[arb], arb]] = {"laplace": lambda v: -v.log(), "uniform": lambda v: v}
"""The size of Y from a uniform: of density ``e^-|y| / 2``, or uniform between -1 and 1."""


@overload
def log_normal_on_grid(factor: Factor, sigma: Real, value: Real, scale: Real, *, grid: Real) -> float: ...
@overload
def log_normal_on_grid(factor: Factor, sigma: Real, value: Array, scale: Real, *, grid: Real) -> Floats: ...
def log_normal_on_grid(factor: Factor, sigma: Real, value: Real | Array, scale: Real, *, grid: Real) -> float | Floats:
    """Return the point of the grid nearest to ``value + scale * Y * e^(sigma Z)``, decided exactly.

    ``grid`` is a power of two that must come from public information alone; ``value`` and ``scale`` may be secret.

    >>> log_normal_on_grid("laplace", 0.5, 1000, Fraction(1, 10**12), grid=Fraction(1, 4))
    1000.0
    """
    if factor not in QUANTILES:
        raise InvalidParameter(f"factor must be 'laplace' or 'uniform', got {factor!r}.")
    step, spread, width = power_of_two(grid), positive(sigma, "sigma"), positive(scale, "scale")
    values = read_reals(value)
    words = source().words(2 * values.size).tolist()
    drawn = [
        _draw(QUANTILES[factor], spread, Fraction(x) / step, width / step, words[2 * i], words[2 * i + 1])
        for i, x in enumerate(values.reshape(-1).tolist())
    ]
    out = np.array(drawn) * float(step)
    return out.reshape(values.shape) if isinstance(value, np.ndarray | list | tuple) else float(out[0])


def _draw(
    quantile: Callable[[arb], arb], sigma: Fraction, value: Fraction, scale: Fraction, first: int, second: int
) -> float:
    """Return one sample in steps of the grid. The last bit of each word is the sign of Y or Z, the rest its uniform."""
    u, v = LazyUniform(first >> 1, WORD - 1), LazyUniform(second >> 1, WORD - 1)
    value = max(min(value, Fraction(LARGEST)), Fraction(-LARGEST))
    with Precision():
        while True:
            ctx.prec = u.bits + WORD
            normal = arb(2).sqrt() * v.ball().erfcinv()
            size = quantile(u.ball()) * (ball(sigma) * (-normal if second & 1 else normal)).exp() * ball(scale)
            nearest = (ball(value + Fraction(1, 2)) + (-size if first & 1 else size)).floor()
            if nearest.is_finite() and (whole := nearest.unique_fmpz()) is not None:
                limit = int(2 * LARGEST)
                return float(max(min(int(whole), limit), -limit))
            u.refine()
            v.refine()
