"""Private standardisation: means and deviations of columns within declared bounds."""

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.exact import Real
from discreet.learn.estimators.boxes import box_of
from discreet.learn.estimators.grouped_sums import GroupedSums
from discreet.learn.estimators.private import Private, declared, rows_of
from discreet.noise.fast import Floats
from discreet.units import Relation

__all__ = ["StandardScaler"]

SMALLEST = 2.0**-10
"""The smallest deviation, as a part of the half width of the bounds."""


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, Private):  # type: ignore[misc]  # not typed
    """Subtract a private mean and divide by a private deviation, column by column.

    Satisfies (epsilon, delta)-DP towards neighbours of ``relation`` for every table, whenever ``bounds`` were declared
    without looking at the data: it releases noisy sums of the columns, of their squares and of ones.

    >>> scaler = StandardScaler(epsilon=1, bounds=(0, 100)).fit([[20], [30], [70]])
    >>> scaler.mean_.shape, scaler.loss_.epsilon()
    ((1,), 1.0)
    """

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        bounds: Any = None,  # noqa: ANN401 - a pair of numbers or of lists
        budget: Account | Budget | None = None,
    ) -> None:
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.bounds, self.budget = bounds, budget

    def plan(self, features: int) -> GroupedSums:
        """Return the release that a fit on so many columns would run; it reads no data."""
        return GroupedSums(
            groups=1,
            width=2 * features + 1,
            square=2 * features + 1,
            relation=self.relation,
            epsilon=declared(self.epsilon, "epsilon", "epsilon=1.0"),
            delta=self.delta,
        )

    def cost(self, features: int) -> PrivacyLoss:
        """Return what a fit on so many columns costs."""
        return self.plan(features).loss

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ANN401, N803 - scikit-learn's names
        """Charge, then fit."""
        X = rows_of(X)  # noqa: N806
        features = self.columns(X)
        box, plan = box_of(self.bounds, features), self.plan(features)
        self.charge(plan.loss)
        rows, _ = box.read(X)
        (sums,) = plan.release((np.hstack([rows, rows * rows, np.ones((len(rows), 1))]), np.zeros(len(rows))))
        mean, variance = mean_and_variance(sums, plan.deviation)
        self.mean_ = box.back(mean)
        self.var_ = variance * box.half**2
        self.scale_ = np.sqrt(self.var_)
        self.loss_ = plan.loss
        return self

    def transform(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return standardised rows."""
        return np.asarray((self.given(X) - self.mean_) / self.scale_)

    def inverse_transform(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return rows as they were."""
        return np.asarray(np.asarray(X, dtype=np.float64) * self.scale_ + self.mean_)


def mean_and_variance(sums: Floats, deviation: float) -> tuple[Floats, Floats]:
    """Return means and variances, inside [-1, 1], from noisy sums of numbers, of squares and of ones.

    A variance is at least what the noise, of a given standard deviation, can make of it: a smaller one would be
    chance, and whoever divides by it would let that column alone decide.

    >>> mean_and_variance(np.array([2.0, 2.0, 4.0]), 0.0)
    (array([0.5]), array([0.25]))
    """
    count = max(float(sums[-1]), deviation, 1.0)
    mean, variance, error = spread(sums, count, deviation)
    return mean, np.clip(np.maximum(variance, error), SMALLEST**2, 1.0)


def spread(sums: Floats, count: float, deviation: float) -> tuple[Floats, Floats, Floats]:
    """Return means, variances, which noise may have made negative, and the standard deviation of the latter's noise.

    A variance is ``s / n - (t / n)^2`` for noisy sums of squares s, of numbers t and of ones n; to first order its
    noise is that of s, plus ``2 t / n`` times that of t, plus ``s / n - 2 (t / n)^2`` times that of n, all over n.
    """
    half = (len(sums) - 1) // 2
    mean = np.clip(sums[:half] / count, -1.0, 1.0)
    square = np.clip(sums[half:-1] / count, 0.0, 1.0)
    error = deviation / count * np.sqrt(1 + 4 * mean**2 + (square - 2 * mean**2) ** 2)
    return mean, square - mean**2, error
