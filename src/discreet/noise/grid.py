"""Noise of any continuous law on a public grid.

``on_grid`` returns the grid point nearest to ``value + scale * Z`` for an ideal, real-valued Z. The output is thus a
function of what the ideal mechanism on real numbers would release, so every guarantee of that mechanism carries over as
post-processing, and no set of reachable floats can tell two values apart (Mironov, CCS 2012; Haney et al., 2022).

The value is split exactly into a grid point and a remainder; the noise, in units of the grid, is added to the remainder
and the floor of the sum decided as in ``discreet.noise.fast``, by the survival function in ball arithmetic where
float64 leaves a doubt. The grid point and that whole number are then added in float64: the rounding of this sum
depends on the exact sum alone.
"""

import math
from fractions import Fraction
from functools import partial
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, log2_floor, positive
from discreet.noise.bits import source
from discreet.noise.densities import Density
from discreet.noise.fast import BELIEVED, CHUNK, Floats
from discreet.noise.lazy import LazyUniform, largest
from discreet.noise.shapes import exact_array

__all__ = ["grid_for", "on_grid", "power_of_two"]

GRID_BITS = 20
LARGEST = 2.0**1000
"""Grid points beyond this many steps are drawn to it before noise is added, which no sensitivity can notice."""

Array = npt.NDArray[np.generic] | list[Real]
Value = Real | Array


def power_of_two(grid: Real) -> Fraction:
    """Return a grid step, which must be a power of two so that floats lie on it exactly.

    >>> power_of_two(0.25)
    Fraction(1, 4)
    """
    step = positive(grid, "grid")
    if (step.numerator & (step.numerator - 1)) | (step.denominator & (step.denominator - 1)):
        raise InvalidParameter("grid must be a power of two, so that floats lie on it exactly.")
    return step


def grid_for(scale: Real) -> Fraction:
    """Return the house grid for a public scale: the power of two about a millionth of it.

    >>> grid_for(1), grid_for(10**6)
    (Fraction(1, 1048576), Fraction(1, 2))
    """
    return Fraction(2) ** (log2_floor(positive(scale, "scale")) - GRID_BITS)


@overload
def on_grid(density: Density, value: Real, scale: Value, *, grid: Real) -> float: ...
@overload
def on_grid(density: Density, value: Array, scale: Value, *, grid: Real) -> Floats: ...
def on_grid(density: Density, value: Value, scale: Value, *, grid: Real) -> float | Floats:
    """Return the point of the grid nearest to ``value + scale * Z``, decided exactly.

    ``grid`` is a power of two that must come from public information alone; ``value`` and ``scale`` may be secret. A
    value is a number (an exact one if it is an int or a Fraction) or an array of floats; a scale is a positive number
    or an array of them.

    >>> from discreet.noise.densities import Laplace
    >>> on_grid(Laplace(), 1000, Fraction(1, 10**9), grid=Fraction(1, 4))
    1000.0
    """
    step = power_of_two(grid)
    values = read_reals(value)
    scales = _read_scales(scale, values.shape)
    flat, out = values.reshape(-1), np.empty(values.size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for start in range(0, flat.size, CHUNK):
            stop = min(start + CHUNK, flat.size)
            part = scales[start:stop] if isinstance(scales, np.ndarray) else scales
            out[start:stop] = _chunk(density, flat[start:stop], part, step)
    return out.reshape(values.shape) if isinstance(value, np.ndarray | list | tuple) else float(out[0])


def read_reals(value: Value) -> npt.NDArray[np.generic]:
    """Return an array that holds the values exactly: floats where that is certain, rationals where not."""
    if not isinstance(value, np.ndarray | list | tuple):
        exact = _exact(value)
        return np.array([value]) if type(value) is float else _compact([exact])
    array = exact_array(value)
    if array.dtype.kind == "f" and array.itemsize <= 8:
        if not np.isfinite(array).all():
            raise InvalidInput("every value must be finite. Clean and clamp the data before adding noise.")
        return array.astype(np.float64)
    if array.dtype.kind in "iuO":
        return _compact([_exact(x) for x in array.reshape(-1).tolist()]).reshape(array.shape)
    raise InvalidInput(f"a real mechanism takes numbers, got an array of {array.dtype}.")


def _compact(exact: list[Fraction]) -> npt.NDArray[np.generic]:
    if all(x.denominator == 1 and abs(x.numerator) <= 2**53 for x in exact):
        return np.array([float(x.numerator) for x in exact])
    return np.array([*exact, None], dtype=object)[:-1]


def _exact(value: object) -> Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise InvalidInput(f"a real mechanism takes numbers, got {type(value).__name__}.")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput("every value must be finite. Clean and clamp the data before adding noise.")
    return Fraction(value)


def _read_scales(scale: Value, shape: tuple[int, ...]) -> Fraction | npt.NDArray[np.generic]:
    """Return one exact scale for all values, or a flat array with one for each."""
    if not isinstance(scale, np.ndarray | list | tuple):
        return positive(scale, "scale")
    array: npt.NDArray[Any] = exact_array(scale)
    if array.dtype.kind == "O":
        array = np.array([*(positive(x, "scale") for x in array.reshape(-1)), None], dtype=object)[:-1].reshape(
            array.shape
        )
    elif array.dtype.kind not in "iuf" or not (np.isfinite(array) & (array > 0)).all():
        raise InvalidParameter("every element of scale must be a finite number above 0.")
    try:
        return np.broadcast_to(array, shape).reshape(-1)
    except ValueError:
        raise InvalidParameter(f"scale has shape {array.shape}, which does not fit values of shape {shape}.") from None


def _chunk(
    density: Density, values: npt.NDArray[np.generic], scales: Fraction | npt.NDArray[np.generic], step: Fraction
) -> Floats:
    words = source().words(values.size)
    mantissas = words >> np.uint64(1)
    v = mantissas.astype(np.float64)
    v *= 2.0**-63
    z = density.inverse(v)
    slack = density.slack(z)
    if density.symmetric:
        z = np.where(words & np.uint64(1), -z, z)
    whole, x = _split(values, step)
    steps: Floats | float
    if isinstance(scales, np.ndarray):
        steps = scales.astype(np.float64) / float(step)
    else:
        steps = float(min(scales / step, Fraction(LARGEST)))  # so many steps are never believed anyway
    z *= steps
    x += z
    x += 0.5
    slack = slack * steps + (np.abs(x) + 1) * 2.0**-50
    floors = np.floor(x)
    x -= floors
    believed = (x > slack) & (x < 1 - slack) & (mantissas >= BELIEVED)
    out = _add(whole, floors, believed) * float(step)
    if not believed.all():
        for i in np.flatnonzero(~believed).tolist():
            scale = _exact(scales[i]) if isinstance(scales, np.ndarray) else scales
            u = LazyUniform(int(mantissas[i]), 63)
            negative = density.symmetric and bool(words[i] & np.uint64(1))
            point, rest = _exact_split(values[i], step)
            reaches = partial(_reaches, density, u, negative, scale / step, rest + Fraction(1, 2))
            out[i] = _to_float(point + largest(_guess(floors[i]), reaches)) * float(step)
    return out


def _guess(floor: np.float64) -> int:
    return int(floor) if abs(floor) < 2.0**200 else 0


def _split(values: npt.NDArray[np.generic], step: Fraction) -> tuple[Floats | list[int], Floats]:
    """Return the nearest grid points, in steps, and the remainders; exact but for underflow, which the slack covers."""
    if values.dtype == object:
        pairs = [_exact_split(x, step) for x in values]
        return [whole for whole, _ in pairs], np.array([float(rest) for _, rest in pairs])
    scaled = np.maximum(np.minimum(values.astype(np.float64) / float(step), LARGEST), -LARGEST)
    whole = np.rint(scaled)
    return whole, scaled - whole


def _add(whole: Floats | list[int], floors: Floats, believed: npt.NDArray[np.bool_]) -> Floats:
    """Add two whole numbers and round once: rounding a point before its noise is added would move neighbours apart."""
    if isinstance(whole, np.ndarray):
        return whole + floors
    return np.array([_to_float(w + int(f)) if b else 0.0 for w, f, b in zip(whole, floors, believed, strict=True)])


def _exact_split(value: object, step: Fraction) -> tuple[int, Fraction]:
    scaled = max(min(_exact(value) / step, Fraction(LARGEST)), Fraction(-LARGEST))
    whole = round(scaled)
    return whole, scaled - whole


def _reaches(density: Density, u: LazyUniform, negative: bool, scale: Fraction, offset: Fraction, k: int) -> bool:
    """Decide whether ``offset + scale * Z >= k``."""
    bar = (k - offset) / scale
    if negative:
        return bar <= 0 and not u.below(lambda: density.survival(ball(-bar)))
    if density.symmetric and bar <= 0:
        return True
    return u.below(lambda: density.survival(ball(bar)))


def _to_float(whole: int) -> float:
    """Round a whole number to the nearest float, saturating."""
    return float(max(min(whole, int(2 * LARGEST)), -int(2 * LARGEST)))
