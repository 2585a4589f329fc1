"""Private linear classifiers: logistic regression and a support vector machine with a rounded hinge."""

from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.learn.convex.erm import ERM, L2, L1Ball, Method
from discreet.learn.convex.losses import HuberHinge, Logistic, Loss
from discreet.learn.convex.rows import Rows
from discreet.learn.convex.rowwise import by_columns, products
from discreet.learn.convex.softmax import Softmax
from discreet.learn.estimators.private import Private, coded, declared, rows_of
from discreet.noise.fast import Floats
from discreet.units import Relation

__all__ = ["LinearSVC", "LogisticRegression"]


class LinearClassifier(ClassifierMixin, Private):  # type: ignore[misc]  # scikit-learn is not typed
    """What both share: how an ERM is made of what was declared, and how it predicts."""

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        norm: Real | None = None,
        classes: Any = None,  # noqa: ANN401 - a list of labels
        size: int | None = None,
        method: Method = "auto",
        strength: Real | None = None,
        radius: Real | None = None,
        steps: int | None = None,
        intercept: Real = 0.25,
        budget: Account | Budget | None = None,
    ) -> None:
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.norm, self.classes, self.size = norm, classes, size
        self.method, self.strength, self.radius, self.steps = method, strength, radius, steps
        self.intercept, self.budget = intercept, budget

    def _loss_function(self, classes: int) -> Loss:
        raise NotImplementedError

    def plan(self, features: int, size: int | None = None) -> ERM:
        """Return the release that a fit on so many columns would run; it reads no data."""
        names = labels_of(self.classes)
        ball = self.radius is not None
        rows = Rows(
            features=features,
            norm=declared(self.norm, "norm", "norm=1.0: rows that are longer are shortened to it"),
            intercept=self.intercept,
            shape="box" if ball else "ball",
        )
        return ERM(
            rows=rows,
            loss_function=self._loss_function(len(names)),
            relation=self.relation,
            epsilon=declared(self.epsilon, "epsilon", "epsilon=1.0"),
            delta=self.delta,
            regularizer=L1Ball(self.radius) if self.radius is not None else L2(self.strength),
            size=size or self.size or 1000,
            method=self.method,
            steps=self.steps,
        )

    def cost(self, features: int) -> PrivacyLoss:
        """Return what a fit on so many columns costs."""
        return self.plan(features).loss

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803 - scikit-learn's names
        """Charge, then fit."""
        X = rows_of(X)  # noqa: N806
        features = self.columns(X)
        names = labels_of(self.classes)
        needs = self.size is None and self.relation == "add_remove" and (self.method == "gradient" or len(names) > 2)
        if needs:
            declared(None, "size", "size=10000: about how many records there are, a public number")
        plan = self.plan(features, self.public_size(X, self.size, self.relation))
        places = coded(y, names, len(X))
        self.charge(*plan.losses)
        targets = places if len(names) > 2 else np.where(places >= 0, 2 * places - 1, 0)
        coefficients, intercept = plan.rows.weights(plan.release((X, targets)))
        self.loss_ = plan.loss
        self.classes_ = names
        self.coef_ = coefficients[None, :] if coefficients.ndim == 1 else coefficients.T
        self.intercept_ = np.atleast_1d(intercept)
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the linear predictions."""
        table = self.given(X)
        scores: Floats = products(by_columns(table), self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401, N803
        """Return the likelier class of each row."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.int64) if scores.ndim == 1 else np.argmax(scores, axis=1)
        found: npt.NDArray[Any] = self.classes_[places]
        return found


class LogisticRegression(LinearClassifier):
    """Private logistic regression, multinomial for more than two classes.

    Satisfies (epsilon, delta)-DP towards neighbours of ``relation`` for every table and every labels, whenever
    ``norm``, ``classes`` and ``size`` were declared without looking at the data. See ``discreet.learn.convex.ERM`` for
    the methods.

    >>> model = LogisticRegression(epsilon=5, delta=1e-5, norm=1, classes=[0, 1], strength=1)
    >>> model.fit([[0.9], [-0.8], [0.7], [-1.0]], [1, 0, 1, 0]).loss_.epsilon(1e-5) <= 5
    True
    """

    def _loss_function(self, classes: int) -> Loss:
        return Logistic() if classes == 2 else Softmax(classes)

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the probability of each class for each row."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        above = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(above / above.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class LinearSVC(LinearClassifier):
    """A private linear support vector machine for two classes, with the hinge rounded on half a margin.

    Satisfies (epsilon, delta)-DP as ``LogisticRegression`` does.

    >>> LinearSVC(epsilon=5, norm=1, classes=["no", "yes"]).fit([[0.9], [-0.8]], ["yes", "no"]).loss_.epsilon() <= 5
    True
    """

    def _loss_function(self, classes: int) -> Loss:
        if classes != 2:
            raise InvalidParameter(f"a support vector machine is for two classes, got {classes} declared ones.")
        return HuberHinge(Fraction(1, 2))

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn is not typed
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def labels_of(classes: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - a list of labels
    """Return the declared classes, sorted as scikit-learn does."""
    names = np.unique(np.asarray(declared(classes, "classes", "classes=[0, 1]: all labels that may occur")))
    if names.ndim != 1 or len(names) < 2:
        raise InvalidParameter("classes must list at least two labels.")
    return names
