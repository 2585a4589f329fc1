"""The total alone, spread evenly.

The baseline of Hay, Machanavajjhala, Miklau, Chen and Zhang, "Principled Evaluation of Differentially Private
Algorithms using DPBench", SIGMOD 2016: what cannot beat it has learned nothing from the data. Its error does not vanish
as epsilon grows, unless the data are even.
"""

from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.geometric import Geometric
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.estimator import Counted, Estimator

__all__ = ["Uniform"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Uniform(Estimator):
    """Measure the number of records, and spread it evenly over all cells.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. Under replace_one the number of records is public, and nothing is spent.

    >>> Uniform(shape=(4,), epsilon=1, relation="replace_one").release([8, 0, 0, 0]).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """

    @property
    def parts(self) -> tuple[Geometric, ...]:
        """The noise of the number of records, where it is not public."""
        noise = self.total_noise(1)
        return () if noise is None else (noise,)

    def _estimate(self, counted: Counted) -> Floats:
        return np.full(self.shape, self.measured_total(counted, 1) / self.cells)
