"""Private k-means: a few steps of Lloyd's algorithm on noisy sums and counts.

Blum, Dwork, McSherry and Nissim, PODS 2005; Su, Cao, Li, Bertino and Jin, CODASPY 2016, for first centres that are far
apart and come from the bounds alone.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin, TransformerMixin

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.exact import Real
from discreet.learn.convex.rowwise import squared_distances
from discreet.learn.estimators.boxes import box_of
from discreet.learn.estimators.grouped_sums import GroupedSums
from discreet.learn.estimators.private import Private, declared, rows_of
from discreet.noise import source
from discreet.noise.fast import Floats
from discreet.units import Relation

__all__ = ["KMeans"]

CANDIDATES = 200


class KMeans(TransformerMixin, ClusterMixin, Private):  # type: ignore[misc]  # scikit-learn is not typed
    """Group rows around ``n_clusters`` centres, found in ``steps`` noisy steps.

    Satisfies (epsilon, delta)-DP towards neighbours of ``relation`` for every table, whenever ``bounds`` were declared
    without looking at the data. What ``labels_`` and ``inertia_`` would tell of the rows is not released.

    >>> KMeans(2, epsilon=1, bounds=(0, 1)).fit([[0.1], [0.9]]).cluster_centers_.shape
    (2, 1)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        steps: int = 5,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        bounds: Any = None,  # noqa: ANN401 - a pair of numbers or of lists
        budget: Account | Budget | None = None,
    ) -> None:
        self.n_clusters, self.steps = n_clusters, steps
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.bounds, self.budget = bounds, budget

    def plan(self, features: int) -> GroupedSums:
        """Return the releases that a fit on so many columns would run; it reads no data."""
        return GroupedSums(
            groups=self.n_clusters,
            width=features + 1,
            square=features + 1,
            relation=self.relation,
            epsilon=declared(self.epsilon, "epsilon", "epsilon=1.0"),
            delta=self.delta,
            times=self.steps,
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
        centres = far_apart(self.n_clusters, features)
        vectors = np.hstack([rows, np.ones((len(rows), 1))])
        for _ in range(self.steps):
            sums = plan.release((vectors, nearest(rows, centres)))
            counts = sums[:, -1:]
            seen = counts > plan.deviation  # an empty group stays where it is
            moved = np.clip(sums[:, :-1] / np.where(seen, counts, 1.0), -1.0, 1.0)
            centres = np.where(seen, moved, centres)
        self.cluster_centers_ = box.back(centres)
        self.loss_ = plan.loss
        return self

    def predict(self, X: Any) -> npt.NDArray[np.int64]:  # noqa: ANN401, N803
        """Return the place of the nearest centre of each row."""
        table = self.given(X)
        return nearest(table, self.cluster_centers_)

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[np.int64]:  # noqa: ANN401, N803
        """Fit, and return the nearest centre of each row; that is about the rows themselves and is not private."""
        return self.fit(X).predict(X)

    def transform(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the distances of rows to the centres."""
        table = self.given(X)
        return np.sqrt(squared_distances(table, self.cluster_centers_))


def nearest(rows: Floats, centres: Floats) -> npt.NDArray[np.int64]:
    """Return the place of the nearest centre of each row; the first of several."""
    return np.asarray(np.argmin(squared_distances(rows, centres), axis=1), dtype=np.int64)


def far_apart(count: int, features: int) -> Floats:
    """Return random points of the box that are far from each other, taken one by one from many."""
    words = source().words(CANDIDATES * features).reshape(CANDIDATES, features)
    points = (words >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1
    found = points[:1]
    while len(found) < count:
        found = np.vstack([found, points[np.argmax(squared_distances(points, found).min(axis=1))]])
    return np.asarray(found)
