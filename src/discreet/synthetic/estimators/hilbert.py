"""The order in which Hilbert's curve visits the cells of a plane.

Hilbert, "Über die stetige Abbildung einer Linie auf ein Flächenstück", Mathematische Annalen 1891. Cells that are
neighbours on the curve are neighbours in the plane, so that what works on a line works on a plane. Where the sides are
no equal powers of 2 the curve of the next larger square is taken and cells outside are left out.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["hilbert_order"]


@lru_cache(maxsize=16)
def hilbert_order(shape: tuple[int, int]) -> npt.NDArray[np.int64]:
    """Return the cells, numbered row by row, in the order of the curve.

    >>> hilbert_order((2, 2)).tolist()
    [0, 1, 3, 2]
    """
    side = 1 << (max(shape) - 1).bit_length()
    rows, columns = (places.reshape(-1).astype(np.int64) for places in np.indices(shape))
    x, y, distance = rows.copy(), columns.copy(), np.zeros(len(rows), dtype=np.int64)
    half = side // 2
    while half:
        right, upper = (x & half) > 0, (y & half) > 0
        distance += half * half * np.where(right, np.where(upper, 2, 3), np.where(upper, 1, 0))
        turned = ~upper
        flipped = turned & right
        x, y = np.where(flipped, half - 1 - (x & (half - 1)), x), np.where(flipped, half - 1 - (y & (half - 1)), y)
        x, y = np.where(turned, y, x), np.where(turned, x, y)
        half //= 2
    order = np.argsort(distance, kind="stable").astype(np.int64)
    order.setflags(write=False)
    return order
