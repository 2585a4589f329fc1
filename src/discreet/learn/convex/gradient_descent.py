"""Noisy gradient descent on all records, accounted exactly as Gaussian noise.

Bassily, Smith and Thakurta, FOCS 2014; Song, Chaudhuri and Sarwate, GlobalSIP 2013. Each step adds Gaussian noise to
the sum of all gradients. T steps with ``mu = sensitivity / sigma`` are one release with ``mu sqrt T`` (Dong, Roth and
Su, JRSS B 2022), without any slack, so sigma comes from the exact curve of one Gaussian release. Steps have Nesterov's
momentum, which is free.

Gradients are products of slopes and rows on a grid, and their sum is exact: no rounding depends on the order or number
of records. Whatever is done with noisy sums is free.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, upward
from discreet.learn.convex.exact_sums import whole
from discreet.learn.convex.model import Fit
from discreet.learn.convex.rows import Examples
from discreet.learn.convex.rowwise import by_columns, products
from discreet.learn.convex.softmax import Softmax
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats

__all__ = ["GradientDescent"]

MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GradientDescent(Fit):
    """Fit a linear model by ``steps`` noisy gradients; the weights are the average of the second half of the path.

    Satisfies ``mu sqrt(steps)``-GDP, and so (epsilon, delta)-DP, whenever slopes stay within the Lipschitz constant,
    to which they are clipped: on every data set, for every loss. A step has the length ``rate / (smoothness size +
    strength)``, public numbers, so it is divided by no private count.

    >>> from discreet.learn.convex import Logistic, Rows
    >>> fit = GradientDescent(rows=Rows(features=2, norm=1), loss_function=Logistic(), relation="add_remove",
    ...                       epsilon=1, delta=1e-5, steps=100)
    >>> fit.loss.epsilon(1e-5) <= 1.0000000001, fit.loss.mu == 10 * fit.step_loss.mu
    (True, True)
    """

    strength: Real = 0
    steps: int = 50
    rate: Real = 1
    multinomial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Fit.__post_init__(self)
        if not self.delta:
            raise InvalidParameter("noisy gradients are Gaussian: delta must be above 0.")
        if type(self.steps) is not int or not 1 <= self.steps <= MOST_STEPS:
            raise InvalidParameter(f"steps must be a whole number from 1 to {MOST_STEPS}, got {self.steps!r}.")
        if Fraction(self.strength) < 0:
            raise InvalidParameter("strength must not be negative.")
        store(self, strength=upward(Fraction(self.strength)), rate=upward(positive(self.rate, "rate")))

    @property
    def outputs(self) -> int:
        """How many linear predictions there are: one for each class of a multinomial model."""
        return self.loss_function.classes if isinstance(self.loss_function, Softmax) else 1

    @property
    def noise(self) -> Gaussian:
        """The noise of one sum of gradients, in units of the exact sum."""
        return _noise(self)

    @property
    def step_loss(self) -> PrivacyLoss:
        """What one step costs."""
        return self.noise.loss.under(self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all steps."""
        return self.steps * self.step_loss

    def _weights(self, examples: Examples) -> Floats:
        noise, k = self.noise, self.outputs
        examples = Examples(by_columns(examples.rows), examples.targets)
        length = float(self.rate) / (float(self.smoothness) * self.size + float(self.strength))
        w = ahead = np.zeros((self.rows.width, k))
        kept = np.zeros_like(w)
        for step in range(self.steps):
            noisy = noise.release(whole(self._sum(examples, ahead))) * float(self.slopes.unit)
            before, w = w, ahead - length * (noisy + float(self.strength) * ahead)
            ahead = w + step / (step + 3) * (w - before)
            if step >= self.steps // 2:
                kept += w
        kept /= self.steps - self.steps // 2
        return kept if k > 1 else kept[:, 0]

    def _sum(self, examples: Examples, w: Floats) -> "np.ndarray[tuple[int, ...], np.dtype[np.object_]]":
        """Return the exact sum of clipped gradients."""
        with np.errstate(all="ignore"):
            predictions = np.nan_to_num(products(examples.rows, w), nan=0.0, posinf=1e300, neginf=-1e300)
            given = predictions if self.outputs > 1 else predictions[:, 0]
            slopes = self.loss_function.slope(given, examples.targets).reshape(len(examples), self.outputs)
        return self.slopes.sums(examples.rows, slopes, tallest=self.rows.tallest)


@lru_cache(maxsize=64)
def _noise(fit: GradientDescent) -> Gaussian:
    whole_budget = Gaussian(sensitivity=1, epsilon=fit.epsilon, delta=fit.delta)
    sensitivity = fit.turns * fit.lipschitz / fit.slopes.unit
    sigma = upward(Fraction(whole_budget.sigma) * sensitivity * Fraction(math.sqrt(fit.steps) * (1 + 1e-15)))
    return Gaussian(sensitivity=sensitivity, sigma=sigma)
