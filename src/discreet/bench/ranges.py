"""Ranges of a line or boxes of a plane, all answered from one table of cumulative sums.

Crow, "Summed-Area Tables for Texture Mapping", SIGGRAPH 1984: with the sums of all cells before each corner, a box is a
sum of ``2^d`` of them, whatever its size.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.synthetic.operators.operator import Array, Operator, positive_size

__all__ = ["Ranges"]

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Ranges(Operator):
    """The sums of boxes of cells: row i holds the cells from ``first[i]`` to ``last[i]``, both included, on each axis.

    >>> boxes = Ranges(sizes=(2, 3), first=[[0, 0], [0, 1]], last=[[1, 2], [1, 1]])
    >>> boxes.matvec([1, 2, 3, 10, 20, 30])
    array([66, 22])
    >>> boxes.sensitivity(1, relation="add_remove")
    Fraction(2, 1)
    """

    sizes: tuple[int, ...]
    first: npt.ArrayLike
    last: npt.ArrayLike

    def __post_init__(self) -> None:
        sizes = tuple(positive_size(size, "a side") for size in self.sizes)
        object.__setattr__(self, "sizes", sizes)
        for name in ("first", "last"):
            given = np.asarray(getattr(self, name))
            if given.dtype.kind not in "iu" or given.ndim != 2 or given.shape[1:] != (len(sizes),) or not len(given):
                raise InvalidParameter(f"{name} must hold one row of {len(sizes)} whole number(s) for each range.")
            places = given.astype(np.int64)
            places.setflags(write=False)
            object.__setattr__(self, name, places)
        low, high = self._ends()
        if low.shape != high.shape or (low < 0).any() or (low > high).any() or (high >= np.array(sizes)).any():
            raise InvalidParameter(f"every range lies within {sizes} and begins before it ends.")

    @classmethod
    def random(cls, sizes: tuple[int, ...], count: int, *, seed: int = 0) -> Self:
        """Return ranges that are drawn evenly from all: on each axis two different ends of all that there are.

        They are public, as any workload is, and the same for the same seed.

        >>> Ranges.random((64, 64), 2000).shape
        (2000, 4096)
        """
        generator = np.random.default_rng([seed, count, *sizes])
        first, last = [], []
        for side in sizes:
            one = generator.integers(0, side + 1, count)
            other = generator.integers(0, side, count)
            other += other >= one
            first.append(np.minimum(one, other))
            last.append(np.maximum(one, other) - 1)
        return cls(sizes=tuple(sizes), first=np.stack(first, axis=1), last=np.stack(last, axis=1))

    def __repr__(self) -> str:
        return f"<{self.shape[0]} ranges of {' x '.join(map(str, self.sizes))} cells>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranges) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def shape(self) -> tuple[int, int]:
        """One row for each range."""
        return len(self._ends()[0]), math.prod(self.sizes)

    @property
    def reach(self) -> int:
        """The cells of the largest range."""
        low, high = self._ends()
        return int((high - low + 1).prod(axis=1).max())

    @property
    def nonnegative(self) -> bool:
        """Entries are 0 and 1."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return sums and differences of cumulative sums."""
        table = np.zeros((*(side + 1 for side in self.sizes), *x.shape[1:]), dtype=x.dtype)
        table[(slice(1, None),) * len(self.sizes)] = x.reshape(*self.sizes, *x.shape[1:])
        for axis in range(len(self.sizes)):
            np.cumsum(table, axis=axis, out=table)
        total = np.zeros((self.shape[0], *x.shape[1:]), dtype=x.dtype)
        for sign, corner in self._corners():
            total += sign * table[corner]
        return total

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return for each cell the sum over the ranges that hold it: what begins less what has ended before."""
        table = np.zeros((*(side + 1 for side in self.sizes), *y.shape[1:]), dtype=y.dtype)
        for sign, corner in self._corners():
            np.add.at(table, corner, (-1) ** len(self.sizes) * sign * y)
        for axis in range(len(self.sizes)):
            np.cumsum(table, axis=axis, out=table)
        inside = table[tuple(slice(side) for side in self.sizes)]
        return np.asarray(inside.reshape(self.shape[1], *y.shape[1:]))

    def column_norms(self, p: int, /) -> Array:
        """In how many ranges a cell is."""
        return self.whole_rmatvec(np.ones(self.shape[0], dtype=np.int64))

    def _ends(self) -> tuple[Places, Places]:
        return np.asarray(self.first), np.asarray(self.last)

    def _corners(self) -> Iterator[tuple[int, tuple[Places, ...]]]:
        """Yield the corners of all boxes, with the sign by which a cumulative sum counts there."""
        low, high = self._ends()
        for upper in product((False, True), repeat=len(self.sizes)):
            corner = tuple(high[:, i] + 1 if up else low[:, i] for i, up in enumerate(upper))
            yield (-1) ** (len(upper) - sum(upper)), corner

    def _key(self) -> tuple[object, ...]:
        low, high = self._ends()
        return self.sizes, low.tobytes(), high.tobytes()
