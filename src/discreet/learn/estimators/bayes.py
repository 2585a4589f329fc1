"""Private Gaussian naive Bayes: means and variances of columns within each class.

Vaidya, Shafiq, Basu and Hong, "Differentially Private Naive Bayes Classification", WI 2013, for the sums that are
released. What is made of them is free, and decides how good a model is: a variance that noise made small would let one
column outvote all others. So a variance is at least what the noise explains; where classes differ by no more than the
noise, they share what all of them have in common (Efron and Morris, JASA 1975); and a class is as wide as its records
and the noise of its mean together.
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
from discreet.learn.estimators.scaler import SMALLEST, spread
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
        means, variances, people = normals(sums, plan.deviation)
        self.theta_ = box.back(means)
        self.var_ = variances * box.half**2
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


def normals(sums: Floats, deviation: float) -> tuple[Floats, Floats, Floats]:
    """Return means and variances of columns within each class, inside [-1, 1], and how many records classes have.

    A row of sums is that of a class: of its numbers, of their squares and of ones, with noise of a given deviation.

    >>> means, variances, people = normals(np.array([[-2.0, 2.0, 4.0], [2.0, 2.0, 4.0]]), 0.0)
    >>> means.tolist(), variances.tolist(), people.tolist()
    ([[-0.5], [0.5]], [[0.25], [0.25]], [4.0, 4.0])
    """
    counts = sums[:, -1]
    usual = float(counts.mean())
    apart = max(0.0, float(((counts - usual) ** 2).sum()) / (len(sums) - 1) - deviation**2)
    people = np.maximum(usual + kept(apart, deviation**2) * (counts - usual), max(deviation, 1.0))
    found = [spread(one, float(count), deviation) for one, count in zip(sums, people, strict=True)]
    mean, variance, error = (np.array(part) for part in zip(*found, strict=True))
    share = (people / people.sum())[:, None]
    common = (share * variance).sum(axis=0)
    common = np.clip(np.maximum(common, np.sqrt(((share * error) ** 2).sum(axis=0))), SMALLEST**2, 1.0)
    differ = max(0.0, float(((variance - common) ** 2 - error**2).sum())) / (len(sums) * float((common**2).sum()))
    weight = kept(min(differ, 1.0) * common**2, error**2)
    own = common + weight * (variance - common)
    wide = np.clip(np.maximum(own, np.sqrt(weight) * error), SMALLEST**2, 1.0)
    return mean, wide + (deviation / people[:, None]) ** 2 * (1 + mean**2), people


def kept(signal: Any, noise: Any) -> Any:  # noqa: ANN401 - numbers or arrays of them
    """Return which part of a difference is kept, where differences have one variance and their noise another."""
    whole = signal + noise
    return np.divide(signal, whole, out=np.ones_like(whole, dtype=np.float64), where=np.asarray(whole) > 0)
