"""A table of numbers over some attributes, kept as logarithms, and the few things one does with it.

Koller and Friedman, "Probabilistic Graphical Models", 2009, chapter 10. Attributes are numbered, and the axes of a
table are in the order of their numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats

__all__ = ["Attributes", "Factor", "broadcast", "log_sum"]

Attributes = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """The logarithm of a function of some attributes.

    >>> pair = Factor((0, 1), np.log([[1.0, 2.0], [3.0, 4.0]]))
    >>> np.exp(pair.summed((0,)).logs).round(9).tolist()
    [3.0, 7.0]
    """

    attributes: Attributes
    logs: Floats

    def __post_init__(self) -> None:
        if self.logs.ndim != len(self.attributes) or list(self.attributes) != sorted(set(self.attributes)):
            raise InvalidParameter("a factor has one axis for each of its attributes, in their order.")

    def summed(self, kept: Attributes) -> "Factor":
        """Return the sum over all attributes but those kept."""
        gone = tuple(axis for axis, name in enumerate(self.attributes) if name not in kept)
        return Factor(tuple(name for name in self.attributes if name in kept), log_sum(self.logs, gone))

    def plus(self, others: "Sequence[Factor]") -> Floats:
        """Return the logs of the product with factors over some of the same attributes."""
        total = self.logs.copy()
        for other in others:
            total += broadcast(other.logs, other.attributes, self.attributes)
        return total


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
