"""Private principal components: eigenvectors of noisy second moments.

Dwork, Talwar, Thakurta and Zhang, "Analyze Gauss: Optimal Bounds for Privacy-Preserving Principal Component Analysis",
STOC 2014.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.learn.convex.moments import Moments
from discreet.learn.convex.rows import Rows
from discreet.learn.estimators.private import Private, declared, rows_of
from discreet.noise.fast import Floats
from discreet.units import Relation

__all__ = ["PCA"]


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Private):  # type: ignore[misc]  # not typed
    """Project rows on the directions in which, by noisy moments, they vary most.

    Satisfies (epsilon, delta)-DP towards neighbours of ``relation`` for every table, whenever ``norm`` was declared
    without looking at the data. With ``center`` the mean, which the same release tells, is subtracted.

    >>> table = np.random.default_rng(1).normal(size=(500, 3)) * [1, 0.1, 0.1]
    >>> fitted = PCA(1, epsilon=10, delta=1e-5, norm=4).fit(table)
    >>> bool(abs(fitted.components_[0, 0]) > 0.9), fitted.loss_.epsilon(1e-5) <= 10.0000000001
    (True, True)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        norm: Real | None = None,
        center: bool = True,
        budget: Account | Budget | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.norm, self.center, self.budget = norm, center, budget

    def plan(self, features: int) -> Moments:
        """Return the release that a fit on so many columns would run; it reads no data."""
        norm = declared(self.norm, "norm", "norm=1.0: rows that are longer are shortened to it")
        return Moments(
            rows=Rows(features=features, norm=norm, intercept=1 if self.center else 0),
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
        kept = features if self.n_components is None else self.n_components
        if not 1 <= int(kept) <= features:
            raise InvalidParameter(f"n_components must be a whole number from 1 to {features}, got {kept!r}.")
        plan = self.plan(features)
        self.charge(plan.loss)
        moments, norm = plan.release(X), float(plan.rows.norm)
        scatter, mean = moments[:features, :features], np.zeros(features)
        if self.center:
            count = max(float(moments[-1, -1]), plan.sigma, 1.0)
            mean = moments[:-1, -1] / count
            scatter = scatter - count * np.outer(mean, mean)
        values, vectors = np.linalg.eigh(scatter)
        order = np.argsort(values)[::-1][:kept]
        self.components_ = _upright(vectors[:, order].T)
        self.explained_ = np.maximum(values[order], 0.0) / max(float(np.maximum(values, 0.0).sum()), 1e-300)
        self.mean_ = mean * norm
        self.n_components_ = int(kept)
        self.loss_ = plan.loss
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the coordinates of rows along the components."""
        return np.asarray((self.given(X) - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return rows of given coordinates."""
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_)


def _upright(components: Floats) -> Floats:
    """Turn each component so that its largest entry is positive."""
    places = np.argmax(np.abs(components), axis=1)
    signs = np.sign(components[np.arange(len(components)), places])
    return np.asarray(components * np.where(signs == 0, 1, signs)[:, None])
