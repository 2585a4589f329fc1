"""Every cell on its own: noise on each count.

Dwork, McSherry, Nissim and Smith, "Calibrating Noise to Sensitivity in Private Data Analysis", TCC 2006. Unbiased, and
the best for queries of single cells; the variance of a range grows with its length.
"""

from dataclasses import dataclass

from discreet.mechanisms.geometric import Geometric
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.estimator import Counted, Estimator

__all__ = ["Identity"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Identity(Estimator):
    """Add two-sided geometric noise to every count.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``: the counts change by 1 in L1 norm under add_remove, by 2 under replace_one.

    >>> cells = Identity(shape=(2, 3), epsilon=1, relation="add_remove")
    >>> cells.release([[5, 0, 1], [0, 0, 9]]).shape, cells.loss.epsilon()
    ((2, 3), 1.0)
    """

    @property
    def parts(self) -> tuple[Geometric]:
        """The noise of all cells."""
        return (self.count_noise(),)

    def _estimate(self, counted: Counted) -> Floats:
        return self.parts[0].release(counted.cells).astype(float)
