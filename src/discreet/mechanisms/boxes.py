"""Bins of different sizes that fill a public box, and how many people are in each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.noise.fast import Floats

__all__ = ["Boxes", "morton", "unmorton"]

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """The leaves of a tree of halved boxes, in an order that depends on where they lie alone.

    A box holds its lower ends, and its upper ends only where they are those of the whole.

    >>> both = Boxes(((0.0, 8.0),), np.array([1, 2, 2]), np.array([0, 2, 3]), np.array([7, -2, 3]))
    >>> both.low.ravel().tolist(), both.high.ravel().tolist()
    ([0.0, 4.0, 6.0], [4.0, 6.0, 8.0])
    >>> both.counts.tolist(), both.total, both.cdf(7)
    ([6.0, 0.0, 2.0], 8.0, 0.875)
    """

    bounds: tuple[tuple[float, float], ...]
    depths: Int64
    """How often the whole was halved in every direction to make each box."""
    places: Int64
    """Which of the boxes of its depth each is: its coordinates on the grid, their bits interleaved."""
    noisy: Int64
    """The noisy counts as they were drawn."""

    def __len__(self) -> int:
        return len(self.depths)

    @property
    def dimensions(self) -> int:
        """How many directions there are."""
        return len(self.bounds)

    @property
    def low(self) -> Floats:
        """The lower ends of each box, one column for each direction."""
        return self._corner(0)

    @property
    def high(self) -> Floats:
        """The upper ends of each box."""
        return self._corner(1)

    @property
    def total(self) -> float:
        """The number of people in all boxes: the sum of the noisy counts, or 0 if that is negative."""
        return max(0.0, float(self.noisy.sum()))

    @property
    def counts(self) -> Floats:
        """The counts closest to the noisy ones among those that are not negative and add up to ``total``.

        All that are left above 0 are lowered by the same number: what is taken from bins that would be negative is
        missing elsewhere. Of a single large bin ``noisy`` is the better estimate, since it has no bias.
        """
        ordered = np.sort(self.noisy.astype(np.float64))[::-1]
        excess = (np.cumsum(ordered) - self.total) / np.arange(1, len(ordered) + 1)
        last = int(np.flatnonzero(ordered >= excess)[-1]) if self.total > 0 else 0
        return np.maximum(self.noisy - excess[last], 0.0) if self.total > 0 else np.zeros(len(self))

    def cdf(self, point: float | Sequence[float], /) -> float:
        """Return the share of people at or below a point in every direction, as if spread evenly within each box."""
        at = np.atleast_1d(np.asarray(point, dtype=np.float64))
        if at.shape != (self.dimensions,):
            raise InvalidInput(f"a point has {self.dimensions} coordinates here, one for each direction.")
        if not self.total:
            return 0.0
        low, high = self.low, self.high
        width = np.where(high > low, high - low, 1.0)  # boxes may be smaller than the distance of two numbers
        part = np.where(high > low, np.clip((at - low) / width, 0.0, 1.0), at >= high).prod(axis=1)
        return float(min(1.0, part @ self.counts / self.total))

    def __repr__(self) -> str:
        return f"<{len(self)} boxes in {self.dimensions} dimensions>"

    def _corner(self, side: int) -> Floats:
        places = unmorton(self.places, self.dimensions, int(self.depths.max(initial=0))) + side
        low = np.array([a for a, _ in self.bounds])
        width = np.array([b - a for a, b in self.bounds])
        share = places / np.exp2(self.depths)[:, None]
        corner: Floats = np.where(share >= 1, low + width, low + width * share)
        return corner


def morton(cells: Int64, bits: int) -> Int64:
    """Return the coordinates of cells, one row each, with their bits interleaved, the highest first.

    >>> morton(np.array([[0, 1], [3, 2]]), 2).tolist()
    [1, 14]
    """
    dimensions = cells.shape[1]
    if dimensions == 1:
        return np.ascontiguousarray(cells[:, 0])
    byte = np.arange(256, dtype=np.int64)
    spread = sum((((byte >> bit) & 1) << (bit * dimensions) for bit in range(8)), np.zeros(256, dtype=np.int64))
    code = np.zeros(len(cells), dtype=np.int64)
    for axis in range(dimensions):
        column = np.ascontiguousarray(cells[:, axis])
        for start in range(0, bits, 8):
            code |= spread[(column >> start) & 255] << (start * dimensions + dimensions - 1 - axis)
    return code


def unmorton(codes: Int64, dimensions: int, bits: int) -> Int64:
    """Return the coordinates of interleaved codes, one row each.

    >>> unmorton(np.array([1, 14]), 2, 2).tolist()
    [[0, 1], [3, 2]]
    """
    cells = np.zeros((len(codes), dimensions), dtype=np.int64)
    for axis in range(dimensions):
        for bit in range(bits if dimensions > 1 else 0):
            cells[:, axis] |= ((codes >> (bit * dimensions + dimensions - 1 - axis)) & 1) << bit
    return cells if dimensions > 1 else codes.reshape(-1, 1).astype(np.int64)
