"""Output perturbation: minimise, then add noise for how far one record can move the minimum.

Chaudhuri, Monteleoni and Sarwate, JMLR 2011, Algorithm 1. A ``strength``-strongly convex objective whose gradient a
neighbour changes by at most G has minima within ``G / strength``. The minimum is computed until its gradient is
certainly at most gamma, so what is released moves by at most ``(G + 2 gamma) / strength``, whatever float64 does.

The paper's noise has density ``exp(-beta |b|)``. Here pure privacy comes from Laplace noise of each weight, which is
drawn exactly; its expected squared norm is twice as large (``sqrt d`` of L1 norm against ``d`` exponentials).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.exact import ball, up
from discreet.learn.convex.model import Regularized
from discreet.learn.convex.rows import Examples
from discreet.learn.convex.solver import Point, minimise
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.fast import Floats

__all__ = ["OutputPerturbation"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OutputPerturbation(Regularized):
    """Fit a linear model and add noise to its weights: Laplace for delta 0, else Gaussian.

    Satisfies (epsilon, delta)-DP whenever the loss is convex with the stated Lipschitz constant, for every data set.

    >>> from discreet.learn.convex import Logistic, Rows
    >>> fit = OutputPerturbation(rows=Rows(features=2, norm=1), loss_function=Logistic(), relation="replace_one",
    ...                          epsilon=1, strength=10)
    >>> round(float(fit.sensitivity), 6), fit.loss.epsilon()
    (0.200012, 1.0)
    """

    @property
    def sensitivity(self) -> Fraction:
        """How far a neighbour moves the computed minimum, in L2 norm."""
        return (self.turns * self.lipschitz + 2 * self.tolerance) / Fraction(self.strength)

    @property
    def noise(self) -> Laplace | Gaussian:
        """The noise of the weights."""
        return _noise(self)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise."""
        return self.noise.loss.under(self.relation)

    def minimum(self, examples: Examples) -> Point:
        """Return the computed minimum, which is as secret as the data."""
        objective = self.objective(examples, np.zeros(self.rows.width), self.strength)
        return minimise(objective, float(self.tolerance))

    def _weights(self, examples: Examples) -> Floats:
        return self.noise.release(self.minimum(examples))


@lru_cache(maxsize=64)
def _noise(fit: OutputPerturbation) -> Laplace | Gaussian:
    if fit.delta:
        return Gaussian(sensitivity=fit.sensitivity, epsilon=fit.epsilon, delta=fit.delta)
    root = Fraction(up(lambda: ball(fit.rows.width).sqrt()))
    return Laplace(sensitivity=fit.sensitivity * root, epsilon=fit.epsilon)
