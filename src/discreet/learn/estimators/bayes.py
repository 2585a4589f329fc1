"""Private Gaussian naive Bayes: means and variances of columns within each class.

Vaidya, Shafiq, Basu and Hong, "Differentially Private Naive Bayes Classification", WI 2013.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.exact import Real
from discreet.learn.estimators.boxes import box_of
from discreet.learn.estimators.grouped_sums import GroupedSums
from discreet.learn.estimators.linear import labels_of
from discreet.learn.estimators.private import Private, coded, declared, rows_of
from discreet.learn.estimators.scaler import mean_and_variance
from discreet.noise.fast import Floats
from discreet.units import Relation

__all__ = ["GaussianNB"]


class GaussianNB(ClassifierMixin, Private):  # type: ignore[misc]  # scikit-learn is not typed
    """Classify as if columns were independent normal variables within each class.

    Satisfies (epsilon, delta)-DP towards neighbours of ``relation`` for every table and all labels, whenever ``bounds``
    and ``classes`` were declared without looking at the data.

    >>> model = GaussianNB(epsilon=5, bounds=(0, 1), classes=["a", "b"]).fit([[0.1], [0.9]], ["a", "b"])
    >>> model.predict_proba([[0.5]]).shape
    (1, 2)
    """

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        bounds: Any = None,  # noqa: ANN401 - a pair of numbers or of lists
        classes: Any = None,  # noqa: ANN401 - a list of labels
        budget: Account | Budget | None = None,
    ) -> None:
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.bounds, self.classes, self.budget = bounds, classes, budget

    def plan(self, features: int) -> GroupedSums:
        """Return the release that a fit on so many columns would run; it reads no data."""
        return GroupedSums(
            groups=len(labels_of(self.classes)),
            width=2 * features + 1,
            square=2 * features + 1,
            relation=self.relation,
            epsilon=declared(self.epsilon, "epsilon", "epsilon=1.0"),
            delta=self.delta,
        )

    def cost(self, features: int) -> PrivacyLoss:
        """Return what a fit on so many columns costs."""
        return self.plan(features).loss

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803 - scikit-learn's names
        """Charge, then fit."""
        X = rows_of(X)  # noqa: N806
        features, names = self.columns(X), labels_of(self.classes)
        box, plan = box_of(self.bounds, features), self.plan(features)
        places = coded(y, names, len(X))
        self.charge(plan.loss)
        rows, counts = box.read(X)
        sums = plan.release((np.hstack([rows, rows * rows, np.ones((len(rows), 1))]), places[counts]))
        found = [mean_and_variance(one, plan.deviation) for one in sums]
        self.theta_ = box.back(np.array([mean for mean, _ in found]))
        self.var_ = np.array([variance for _, variance in found]) * box.half**2
        people = np.maximum(sums[:, -1], 1.0)
        self.class_prior_ = people / people.sum()
        self.classes_ = names
        self.loss_ = plan.loss
        return self

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the logarithm of the probability of each class for each row."""
        table = self.given(X)
        joint = np.tile(np.log(self.class_prior_) - 0.5 * np.log(2 * np.pi * self.var_).sum(axis=1), (len(table), 1))
        for column, mean, variance in zip(table.T, self.theta_.T, self.var_.T, strict=True):
            joint -= 0.5 * np.subtract.outer(column, mean) ** 2 / variance
        joint -= joint.max(axis=1, keepdims=True)
        return np.asarray(joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the probability of each class for each row."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401, N803
        """Return the likeliest class of each row."""
        places = np.argmax(self.predict_log_proba(X), axis=1)
        found: npt.NDArray[Any] = self.classes_[places]
        return found
