"""Scalars, arrays and per-element parameters: one way to read them for every sampler."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import index

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import FLOAT_LIMIT, Real, positive

__all__ = ["Integers", "Parameter", "Size", "Spec", "exact_array", "fill", "integers", "shape_of"]

Integers = npt.NDArray[np.int64] | npt.NDArray[np.object_]
Parameter = Real | Sequence[Real] | npt.NDArray[np.generic]
Size = int | tuple[int, ...] | None

INT64 = range(-(2**63), 2**63)


def shape_of(size: Size) -> tuple[int, ...]:
    """Return the shape that a size asks for; an empty one for a scalar.

    >>> shape_of(None), shape_of(3), shape_of((2, 3))
    ((), (3,), (2, 3))
    """
    try:
        shape = () if size is None else tuple(map(index, size)) if isinstance(size, tuple | list) else (index(size),)
    except TypeError:
        raise InvalidParameter("size must be a whole number or a tuple of them.") from None
    if shape and min(shape) < 0:
        raise InvalidParameter(f"size must not be negative, got {size}.")
    return shape


def exact_array(values: Sequence[Real] | npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Return an array of exactly these numbers; ``np.asarray`` would round the integers of a list that holds floats.

    >>> int(exact_array([2**53 + 1, 0.5])[0]) - 2**53
    1
    """
    if isinstance(values, np.ndarray):
        return values
    array = np.array(values, dtype=object)
    return array.astype(np.float64) if all(isinstance(x, float) for x in array.flat) else array


class Spec:
    """A positive parameter, exact and as doubles, with the shape of the result it asks for."""

    __slots__ = ("_given", "floats", "scalar", "shape", "single")

    def __init__(self, value: Parameter, size: Size, name: str) -> None:
        self.single: Fraction | None = None
        self._given: npt.NDArray[np.generic] | None = None
        wanted = shape_of(size)
        if isinstance(value, np.ndarray | list | tuple):
            given = exact_array(value)
            if given.dtype.kind not in "biufO":
                raise InvalidParameter(f"{name} must hold numbers, got an array of {given.dtype}.")
            shape = given.shape if size is None else wanted
            try:
                self._given = np.broadcast_to(given, shape)
            except ValueError:
                raise InvalidParameter(f"{name} has shape {given.shape}, which does not fit size {shape}.") from None
            self.floats: npt.NDArray[np.float64] | np.float64 = _floats(given, shape, name)
            self.shape: tuple[int, ...] = shape
            self.scalar = False
        else:
            self.single = positive(value, name)
            self.shape = wanted
            self.floats = np.float64(float(self.single))
            self.scalar = size is None

    @property
    def count(self) -> int:
        """How many samples are wanted."""
        return math.prod(self.shape)

    def exact(self, index: int) -> Fraction:
        """Return the exact parameter of one sample, by its flat index."""
        if self.single is not None:
            return self.single
        assert self._given is not None  # noqa: S101 - either a single value or an array was given
        return positive(self._given.flat[index], "parameter")

    def part(self, start: int, stop: int) -> "npt.NDArray[np.float64] | np.float64":
        """Return the parameters of a run of samples as doubles (one double if they are all the same)."""
        return self.floats[start:stop] if isinstance(self.floats, np.ndarray) else self.floats

    @property
    def largest(self) -> float:
        """The largest parameter."""
        return float(self.floats.max(initial=0.0)) if isinstance(self.floats, np.ndarray) else float(self.floats)


def _floats(given: npt.NDArray[np.generic], shape: tuple[int, ...], name: str) -> npt.NDArray[np.float64]:
    if given.dtype.kind == "O":
        given = np.array([float(positive(x, name)) for x in given.ravel()]).reshape(given.shape)
    floats = given.astype(np.float64)
    if given.dtype.kind == "b" or not ((floats >= 2.0**-FLOAT_LIMIT) & (floats <= 2.0**FLOAT_LIMIT)).all():
        raise InvalidParameter(
            f"every element of {name} must be a finite number above 0, between 2^-{FLOAT_LIMIT} and 2^{FLOAT_LIMIT}."
        )
    return np.ascontiguousarray(np.broadcast_to(floats, shape)).reshape(-1)


def fill(spec: Spec, draw: Callable[[int, int], Integers], chunk: int) -> Integers:
    """Draw all samples chunk by chunk; Python integers if any chunk needed them."""
    count = spec.count
    if count <= chunk:
        return draw(0, count)
    out: Integers = np.empty(count, dtype=np.int64)
    for start in range(0, count, chunk):
        part = draw(start, min(start + chunk, count))
        if part.dtype == object and out.dtype != object:
            out = out.astype(object)
        out[start : start + part.size] = part
    return out


def integers(flat: Integers, spec: Spec) -> int | Integers:
    """Give the result its shape: a Python int for a scalar request, an array otherwise."""
    return int(flat[0]) if spec.scalar else flat.reshape(spec.shape)
