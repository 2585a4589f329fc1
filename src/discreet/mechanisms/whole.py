"""Whole numbers in, exact noise added, whole numbers out."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.noise.shapes import INT64, Integers, Size

__all__ = ["Whole", "add_noise"]

Whole = TypeVar("Whole", int, npt.NDArray[np.int64])

Draw = Callable[[Size], "int | Integers"]


def add_noise(value: Whole, draw: Draw, name: str) -> Whole:
    """Return the value plus noise: exact for a Python int, saturating at the limits of int64 for an array.

    The noise is never clipped, only the sum, so saturation is a function of the exact release.

    >>> add_noise(np.array([2**63 - 1]), lambda size: np.array([5]), "Geometric")
    array([9223372036854775807])
    """
    if isinstance(value, np.ndarray | list | tuple):
        whole = _whole_array(value, name)
        return _saturating_sum(whole, np.asarray(draw(whole.shape)))
    if not _is_whole(value):
        raise InvalidInput(f"{name} releases whole numbers, got {type(value).__name__}. For real values use Laplace.")
    return int(value) + int(draw(None))


def _whole_array(value: object, name: str) -> npt.NDArray[np.int64]:
    array = value if isinstance(value, np.ndarray) else np.array(value, dtype=object)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:  # in either order of bytes
        array = np.minimum(array, np.uint64(INT64[-1]))
    if array.dtype.kind in "iu" or array.size == 0:
        return np.asarray(array, dtype=np.int64)
    if array.dtype == object and all(_is_whole(x) for x in array.flat):
        return np.array([max(min(int(x), INT64[-1]), INT64[0]) for x in array.flat], np.int64).reshape(array.shape)
    raise InvalidInput(f"{name} releases whole numbers, got an array of {array.dtype}. For real values use Laplace.")


def _saturating_sum(value: npt.NDArray[np.int64], noise: Integers) -> npt.NDArray[np.int64]:
    if noise.dtype == object:
        exact = [max(min(int(a) + int(b), INT64[-1]), INT64[0]) for a, b in zip(value.flat, noise.flat, strict=True)]
        return np.array(exact, dtype=np.int64).reshape(value.shape)
    total = value + noise
    overflow = ((value ^ total) & (noise ^ total)) < 0
    return np.asarray(np.where(overflow, np.where(noise > 0, INT64[-1], INT64[0]), total), dtype=np.int64)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
