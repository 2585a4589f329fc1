"""Noisy tables of counts, and how many records they tell of together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes

__all__ = ["Measured", "total_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A noisy table of counts by some attributes; its noise has the standard deviation ``sigma`` in every entry."""

    attributes: Attributes
    counts: Floats
    sigma: float

    def __post_init__(self) -> None:
        if np.ndim(self.counts) != len(self.attributes) or not self.sigma > 0:
            raise InvalidParameter("a measurement has an axis for each attribute, and a standard deviation above 0.")


def total_of(measurements: Sequence[Measured]) -> float:
    """Return the number of records that all tables tell together, each by how precisely it does; at least 1.

    >>> round(total_of([Measured((0,), np.array([6.0, 6.0]), 1.0), Measured((1,), np.array([9.0]), 1.0)]), 6)
    10.0
    """
    weights = np.array([1 / (one.sigma**2 * one.counts.size) for one in measurements])
    sums = np.array([float(one.counts.sum()) for one in measurements])
    return max(1.0, float((weights * sums).sum() / weights.sum()))
