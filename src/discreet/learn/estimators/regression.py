"""Private least squares from noisy second moments.

Wang, "Revisiting Differentially Private Linear Regression", UAI 2018. Its AdaSSP releases the smallest eigenvalue of
``X^T X`` by itself, to regularise by no more than the noise needs. Here that eigenvalue is read off the noisy matrix,
which costs nothing, so all of the budget goes into the moments.
"""

import math
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.errors import InvalidInput
from discreet.exact import Real, positive
from discreet.learn.convex.moments import Moments
from discreet.learn.convex.rows import Rows, one_column
from discreet.learn.estimators.private import Private, declared, rows_of, say_column
from discreet.noise.fast import Floats
from discreet.units import Relation

__all__ = ["LinearRegression", "Ridge"]


class LeastSquares(RegressorMixin, Private):  # type: ignore[misc]  # scikit-learn is not typed
    """What both share: the moments, and how weights come from them."""

    epsilon: Real | None
    delta: Real
    relation: Relation
    norm: Real | None
    bounds: tuple[Real, Real] | None
    intercept: Real

    def plan(self, features: int) -> Moments:
        """Return the release that a fit on so many columns would run; it reads no data."""
        return Moments(
            rows=Rows(
                features=features,
                norm=declared(self.norm, "norm", "norm=1.0: rows that are longer are shortened to it"),
                intercept=self.intercept,
            ),
            relation=self.relation,
            epsilon=declared(self.epsilon, "epsilon", "epsilon=1.0"),
            delta=self.delta,
            bounds=declared(self.bounds, "bounds", "bounds=(0, 100): targets outside are drawn to an end"),
        )

    def cost(self, features: int) -> PrivacyLoss:
        """Return what a fit on so many columns costs."""
        return self.plan(features).loss

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803 - scikit-learn's names
        """Charge, then fit."""
        X = rows_of(X)  # noqa: N806
        plan = self.plan(self.columns(X))
        targets = targets_of(y, len(X))
        self.charge(plan.loss)
        moments = plan.release((X, targets))
        self._solve(plan, moments)
        self.loss_ = plan.loss
        return self

    def predict(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the linear predictions."""
        return np.asarray(self.given(X) @ self.coef_ + self.intercept_)

    def _strength(self, matrix: Floats, sigma: float) -> float:
        raise NotImplementedError

    def _solve(self, plan: Moments, moments: Floats) -> None:
        matrix, products = moments[:-1, :-1], moments[:-1, -1]
        strength = self._strength(matrix, plan.sigma)
        values, vectors = np.linalg.eigh(matrix)
        weights = vectors @ ((vectors.T @ products) / np.maximum(values + strength, max(strength, plan.sigma, 1e-300)))
        coefficients, intercept = plan.rows.weights(weights)
        low, high = (float(end) for end in plan.bounds or (-1, 1))
        self.coef_ = coefficients * (high - low) / 2
        self.intercept_ = float(intercept) * (high - low) / 2 + (high + low) / 2


class LinearRegression(LeastSquares):
    """Private least squares, regularised by as much as its own noise needs.

    Satisfies (epsilon, delta)-DP towards neighbours of ``relation`` for every table and all targets, whenever ``norm``
    and ``bounds`` were declared without looking at the data.

    >>> model = LinearRegression(epsilon=1, delta=1e-5, norm=1, bounds=(0, 10))
    >>> model.fit([[0.1], [0.9]], [1, 9]).loss_.epsilon(1e-5) <= 1.0000000001
    True
    """

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        norm: Real | None = None,
        bounds: tuple[Real, Real] | None = None,
        intercept: Real = 1,
        budget: Account | Budget | None = None,
    ) -> None:
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.norm, self.bounds, self.intercept, self.budget = norm, bounds, intercept, budget

    def _strength(self, matrix: Floats, sigma: float) -> float:
        """Return how much lifts the smallest eigenvalue to twice the norm of the noise, about ``sigma sqrt(2 d)``."""
        return max(0.0, 2 * sigma * math.sqrt(2 * len(matrix)) - float(np.linalg.eigvalsh(matrix)[0]))


class Ridge(LeastSquares):
    """Private least squares with ``strength / 2`` times the squared norm of the weights inside added.

    Satisfies (epsilon, delta)-DP as ``LinearRegression`` does.

    >>> Ridge(strength=1, epsilon=1, norm=1, bounds=(0, 10)).fit([[0.1], [0.9]], [1, 9]).coef_.shape
    (1,)
    """

    def __init__(
        self,
        strength: Real = 1,
        *,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        norm: Real | None = None,
        bounds: tuple[Real, Real] | None = None,
        intercept: Real = 1,
        budget: Account | Budget | None = None,
    ) -> None:
        self.strength = strength
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.norm, self.bounds, self.intercept, self.budget = norm, bounds, intercept, budget

    def _strength(self, matrix: Floats, sigma: float) -> float:
        return float(positive(self.strength, "strength"))


def targets_of(y: Any, rows: int) -> Floats:  # noqa: ANN401 - whatever numpy takes
    """Return targets as floats, one for each row; what is no number becomes NaN and does not count."""
    if y is None:
        raise InvalidInput("requires y to be passed, but the target y is None: one number for each row is needed.")
    if hasattr(y, "__array__") and len(y.shape) == 2:
        say_column()
    numbers = one_column(y)
    if len(numbers) != rows:
        raise InvalidInput("there must be one target for each row.")
    return numbers
