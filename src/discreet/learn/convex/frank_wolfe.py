"""Private Frank-Wolfe over an L1 ball: each step chooses one column, and only which one is told.

Talwar, Thakurta and Zhang, "Nearly Optimal Private LASSO", NIPS 2015. The best of the ``2 d`` corners of the ball is
the one that the gradient points away from most. It is chosen by the exponential mechanism, decided exactly, so noise
grows with the logarithm of the number of columns. Sums of gradients are exact (see ``exact_sums``).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.accounting import PrivacyLoss, calibrate
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, upward
from discreet.learn.convex.model import Fit
from discreet.learn.convex.rows import Examples
from discreet.learn.convex.rowwise import by_columns, products
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats

__all__ = ["FrankWolfe"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FrankWolfe(Fit):
    """Fit a linear model with weights of L1 norm at most ``radius``, by ``steps`` private choices of a column.

    Satisfies (epsilon, delta)-DP, pure for delta 0, whenever slopes stay within the Lipschitz constant, to which they
    are clipped. Rows are bounded by their largest entry: ``Rows(..., shape="box")``.

    >>> from discreet.learn.convex import Logistic, Rows
    >>> fit = FrankWolfe(rows=Rows(features=3, norm=1, shape="box"), loss_function=Logistic(), relation="add_remove",
    ...                  epsilon=1, radius=5, steps=10)
    >>> fit.loss.epsilon() <= 1 + 1e-12
    True
    """

    radius: Real = 1
    steps: int = 10

    def __post_init__(self) -> None:
        Fit.__post_init__(self)
        if type(self.steps) is not int or not 1 <= self.steps <= 10_000:
            raise InvalidParameter(f"steps must be a whole number from 1 to 10000, got {self.steps!r}.")
        store(self, radius=upward(positive(self.radius, "radius")))

    @property
    def choice(self) -> Exponential:
        """The mechanism of one step, on sums of gradients in units of the exact sum."""
        return _one_choice(self)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all steps."""
        return (self.steps * self.choice.loss).under(self.relation)

    def _weights(self, examples: Examples) -> Floats:
        choice, radius = self.choice, float(self.radius)
        examples = Examples(by_columns(examples.rows), examples.targets)
        w = np.zeros(self.rows.width)
        for step in range(self.steps):
            with np.errstate(all="ignore"):
                slopes = self.loss_function.slope(products(examples.rows, w), examples.targets)
            sums = self.slopes.sums(examples.rows, slopes[:, None], tallest=self.rows.tallest)[:, 0]
            scores = [-int(s) for s in sums] + [int(s) for s in sums]
            corner = choice.release(scores)
            length = 2 / (step + 2)
            w *= 1 - length
            w[corner % len(w)] += math.copysign(length * radius, 1 if corner < len(w) else -1)
        return w


@lru_cache(maxsize=64)
def _one_choice(fit: FrankWolfe) -> Exponential:
    sensitivity = fit.turns * fit.loss_function.lipschitz * fit.rows.tallest / fit.slopes.unit
    if fit.delta:
        scale = calibrate(lambda s: fit.steps * PrivacyLoss.bounded_range(1 / Fraction(s)), fit.epsilon, fit.delta)
        return Exponential(epsilon=1 / Fraction(scale), sensitivity=sensitivity)
    return Exponential(epsilon=Fraction(fit.epsilon) / fit.steps, sensitivity=sensitivity)
