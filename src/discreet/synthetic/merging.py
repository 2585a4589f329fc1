"""Values that drown in noise are put together before more is measured of an attribute, and parted again in the model.

McKenna, Miklau and Sheldon, Journal of Privacy and Confidentiality 2021. Which values are rare is read from noisy
counts alone, so all of this is post-processing. In the model, values that were put together share what is theirs by
their noisy counts, independently of everything else.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.noise.fast import Floats
from discreet.synthetic.coded import Tallied
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.model import GraphicalModel

__all__ = ["Merging", "merging"]

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Merging:
    """The new code of each value of each attribute, and the share of each value in what has its new code.

    ``first`` are the measurements by all values that both were read from.
    """

    places: Sequence[Int64]
    shares: Sequence[Floats]
    first: Sequence[Measured]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many new codes each attribute has."""
        return tuple(int(one.max()) + 1 for one in self.places)

    def records(self, tally: Tallied) -> Tallied:
        """Return records by their new codes."""
        return tally.coarsened(self.places)

    def measured(self, one: Measured) -> Measured:
        """Return a measurement of a single attribute by its new codes; the noise of the last one is that of several.

        It is told with the smallest of their deviations, which only moves weights.
        """
        attribute = one.attributes[0]
        counts = np.zeros(self.sizes[attribute])
        np.add.at(counts, self.places[attribute], one.counts)
        return Measured(one.attributes, counts, one.sigma)

    def parted(self, model: GraphicalModel) -> GraphicalModel:
        """Return a model of new codes as one of all values; it was fitted to the first measurements before others.

        They stay with it by all values: that values were put together must not hide what was told of them.
        """
        return model.refined(self.places, self.shares, self.first)


def merging(first: Sequence[Measured], deviations: float, whole: Collection[int] = ()) -> Merging:
    """Put together, in each attribute, the values whose noisy counts are below so many standard deviations.

    ``first`` are measurements of all attributes in their order; those in ``whole`` keep all their values.

    >>> merging([Measured((0,), np.array([50.0, -1.0, 40.0, 1.0]), 1.0)], 3.0).places[0].tolist()
    [0, 2, 1, 2]
    """
    places, shares = [], []
    for one in first:
        rare = one.counts < (-np.inf if one.attributes[0] in whole else deviations * one.sigma)
        kept = int((~rare).sum())
        code = np.where(rare, kept, np.cumsum(~rare) - 1).astype(np.int64)
        weights = np.maximum(one.counts, 0.0) + one.sigma / 10
        sums = np.zeros(int(code.max()) + 1)
        np.add.at(sums, code, weights)
        places.append(code)
        shares.append(weights / sums[code])
    return Merging(places, shares, first)
