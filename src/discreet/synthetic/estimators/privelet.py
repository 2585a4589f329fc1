"""Wavelets: the total, and at every split the difference of both halves.

Xiao, Wang and Gehrke, "Differential Privacy via Wavelet Transforms", ICDE 2010. On several axes the transform of each
is taken in turn, the standard decomposition. Their weights make the noise of a coefficient proportional to one over the
cells it holds, which is the same noise on all of the whole coefficients of ``strategies.Haar``. A record changes the
total and one difference per level, ``1 + log2 n`` in L1 norm, on several axes the product of these; under replace_one
it changes no more than twice that, and less where both cells share coefficients. A range ends within one block of each
level, so its variance grows with the cube of ``log n`` and not with its length.
"""

from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.geometric import Geometric
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.estimator import Counted, Estimator
from discreet.synthetic.matrix_mechanism import calibrated_noise
from discreet.synthetic.operators.kronecker import Kronecker
from discreet.synthetic.operators.operator import Operator
from discreet.synthetic.strategies.haar import Haar

__all__ = ["Privelet"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Privelet(Estimator):
    """Add noise to the coefficients of a Haar wavelet transform, and invert it.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. Unbiased; sides need not be powers of 2.

    >>> wavelet = Privelet(shape=(8, 8), epsilon=1, relation="add_remove")
    >>> wavelet.parts[0].sensitivity, wavelet.loss.epsilon()
    (16, 1.0)
    >>> wavelet.release(np.eye(8, dtype=int)).shape
    (8, 8)
    """

    @property
    def strategy(self) -> Operator:
        """The coefficients that are measured."""
        lines = tuple(Haar(size=side) for side in self.shape)
        return lines[0] if len(lines) == 1 else Kronecker(of=lines)

    @property
    def parts(self) -> tuple[Geometric, ...]:
        """The noise of all coefficients; a single cell under replace_one is public."""
        if self.cells == 1 and self.relation == "replace_one":
            return ()
        noise = calibrated_noise(self.strategy, self.relation, True, epsilon=self.epsilon)
        assert isinstance(noise, Geometric)  # noqa: S101 - discrete noise for epsilon alone
        return (noise,)

    def _estimate(self, counted: Counted) -> Floats:
        if not self.parts:
            return np.array([float(counted.line[0])])
        measured = self.parts[0].release(self.strategy.whole_matvec(counted.line))
        return self.strategy.solve(measured.astype(np.float64))
