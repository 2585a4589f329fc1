"""Tables of numbers over some attributes, and the few things one does with them.

Koller and Friedman, "Probabilistic Graphical Models", 2009, chapter 10. Attributes are numbered, and the axes of a
table are in the order of their numbers.
"""

import math
from collections.abc import Iterable

import numpy as np

from discreet.noise.fast import Floats

__all__ = ["Attributes", "along", "broadcast", "contracted", "log_sum", "quotient", "summed"]

Attributes = tuple[int, ...]


def broadcast(table: Floats, own: Attributes, wanted: Attributes) -> Floats:
    """Return a table with axes of length 1 for attributes that it does not have."""
    shape, axis = [], 0
    for name in wanted:
        if axis < len(own) and own[axis] == name:
            shape.append(table.shape[axis])
            axis += 1
        else:
            shape.append(1)
    return table.reshape(shape)


def along(own: Attributes, kept: Iterable[int]) -> tuple[int, ...]:
    """Return the axes of a table by ``own`` that are summed over if some attributes are kept.

    >>> along((2, 5, 7), (5,))
    (0, 2)
    """
    wanted = set(kept)
    return tuple(axis for axis, name in enumerate(own) if name not in wanted)


def summed(table: Floats, axes: tuple[int, ...]) -> Floats:
    """Return a table summed over axes, several times faster than a sum over many axes.

    Not as products with ones: those would be left to the threads of a BLAS, which cost more than so little work.

    >>> summed(np.ones((2, 3, 4, 5)), (0, 3)).tolist()
    [[10.0, 10.0, 10.0, 10.0], [10.0, 10.0, 10.0, 10.0], [10.0, 10.0, 10.0, 10.0]]
    """
    left = sorted(axes)
    while left:
        run = [left.pop()]
        while left and left[-1] == run[-1] - 1:
            run.append(left.pop())
        before, after = table.shape[: run[-1]], table.shape[run[0] + 1 :]
        middle = math.prod(table.shape[run[-1] : run[0] + 1])
        if math.prod(after) == 1:
            table = np.einsum("ij->i", table.reshape(-1, middle)).reshape(before + after)
        elif math.prod(before) == 1:
            table = np.einsum("ij->j", table.reshape(middle, -1)).reshape(before + after)
        else:
            table = table.reshape(math.prod(before), middle, -1).sum(axis=1).reshape(before + after)
    return table


def log_sum(logs: Floats, axes: tuple[int, ...]) -> Floats:
    """Return the log of the sum of exponentials over axes, without overflow; minus infinity is a zero.

    >>> float(log_sum(np.array([-np.inf, -np.inf]), (0,)))
    -inf
    """
    if not axes:
        return logs
    most = logs.max(axis=axes, keepdims=True)
    safe = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        summed = np.log(np.exp(logs - safe).sum(axis=axes, keepdims=True)) + safe
    return np.asarray(np.squeeze(summed, axis=axes), dtype=np.float64)


def quotient(table: Floats, by: Floats) -> Floats:
    """Return a table divided by another, with 0 where that is 0.

    >>> quotient(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    return np.divide(table, by, out=np.zeros(np.broadcast_shapes(table.shape, by.shape)), where=by != 0)


def contracted(
    first: Floats, of_first: Attributes, second: Floats, of_second: Attributes, kept: set[int]
) -> tuple[Floats, Attributes]:
    """Return the product of two tables, summed over what is not kept, and its attributes.

    >>> made, of = contracted(np.ones((2, 3)), (0, 4), np.ones((3, 5)), (4, 6), {0, 6})
    >>> made.tolist(), of
    ([[3.0, 3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0, 3.0]], (0, 6))
    """
    first, of_first = _lone(first, of_first, kept | set(of_second))
    second, of_second = _lone(second, of_second, kept | set(of_first))
    shared = [i for i in of_first if i in of_second]
    batch, gone = [i for i in shared if i in kept], [i for i in shared if i not in kept]
    rows, columns = [i for i in of_first if i not in shared], [i for i in of_second if i not in shared]
    left = _matrix(first, of_first, (batch, rows, gone))
    right = _matrix(second, of_second, (batch, gone, columns))
    names = [*batch, *rows, *columns]
    lengths = dict(zip(of_first, first.shape, strict=True)) | dict(zip(of_second, second.shape, strict=True))
    made = np.matmul(left, right).reshape([lengths[i] for i in names])
    wanted = tuple(sorted(names))
    return made.transpose([names.index(i) for i in wanted]), wanted


def _lone(table: Floats, own: Attributes, kept: set[int]) -> tuple[Floats, Attributes]:
    """Sum a table over what nobody else has."""
    axes = along(own, kept)
    return (summed(table, axes), tuple(i for i in own if i in kept)) if axes else (table, own)


def _matrix(table: Floats, own: Attributes, groups: tuple[list[int], list[int], list[int]]) -> Floats:
    order = [own.index(i) for group in groups for i in group]
    lengths = dict(zip(own, table.shape, strict=True))
    return table.transpose(order).reshape([math.prod(lengths[i] for i in group) for group in groups])
