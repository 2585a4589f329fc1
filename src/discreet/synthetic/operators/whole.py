"""Whole numbers of any size, clamped to what 64 bits hold.

Which numbers are accepted is decided by their types alone, so that an error tells nothing about their values: numpy
reads a list of whole numbers as floats, or as objects, as soon as one of them is large.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput

__all__ = ["clamped"]


def clamped(values: object, low: int, high: int, *, otherwise: str) -> npt.NDArray[np.int64]:
    """Return whole numbers, each moved into ``low`` to ``high``; what are none is refused by the text ``otherwise``.

    >>> clamped([1, 2**63, -(10**40)], -100, 100, otherwise="counts are whole numbers.").tolist()
    [1, 100, -100]
    """
    array = _array(values, otherwise)
    if array.dtype.kind == "O":
        listed = array.reshape(-1).tolist()
        if not all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in listed):
            raise InvalidInput(otherwise)
        whole = np.array([min(max(int(value), low), high) for value in listed], dtype=np.int64)
        return whole.reshape(array.shape)
    if array.dtype.kind not in "iu":
        raise InvalidInput(otherwise)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:  # in either order of bytes
        array = np.minimum(array, np.uint64(max(high, 0)))
    return np.clip(array.astype(np.int64), low, high)


def _array(values: object, otherwise: str) -> npt.NDArray[Any]:
    """Return an array whose type does not depend on how large the numbers of a list are."""
    try:
        return np.asarray(values, dtype=None if hasattr(values, "__array__") else object)
    except (ValueError, TypeError):  # lists of different lengths
        raise InvalidInput(otherwise) from None
