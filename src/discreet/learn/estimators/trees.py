"""Private trees and forests: random splits that no data chose, and noisy counts of the classes in their leaves.

Geurts, Ernst and Wehenkel, "Extremely Randomized Trees", 2006; Fletcher and Islam, "Differentially Private Random
Decision Forests Using Smooth Sensitivity", 2017, for trees whose structure comes from the bounds alone. All leaves of
all trees are one histogram, in which a record counts once in each tree.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, up
from discreet.learn.estimators.boxes import box_of
from discreet.learn.estimators.linear import labels_of
from discreet.learn.estimators.private import Private, coded, declared, rows_of
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.geometric import Geometric
from discreet.noise import source
from discreet.noise.fast import Floats
from discreet.units import Relation, check_relation

__all__ = ["DecisionTreeClassifier", "RandomForestClassifier", "Split"]

MOST_DEPTH = 16


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A complete tree: for each inner node, level by level, the column it looks at and where it splits."""

    depth: int
    column: npt.NDArray[np.int64]
    at: Floats

    def leaves(self, rows: Floats) -> npt.NDArray[np.int64]:
        """Return the leaf of each row, from 0 to ``2^depth - 1``."""
        node = np.zeros(len(rows), dtype=np.int64)
        for _ in range(self.depth):
            right = rows[np.arange(len(rows)), self.column[node]] > self.at[node]
            node = 2 * node + 1 + right
        return np.asarray(node - ((1 << self.depth) - 1), dtype=np.int64)

    @classmethod
    def random(cls, depth: int, features: int) -> "Split":
        """Return a tree that splits boxes of [-1, 1] at random: a column, and a place within the box of the node."""
        inner = 2**depth - 1
        words = source().words(2 * max(inner, 1)).reshape(2, -1)
        column = (words[0] % np.uint64(features)).astype(np.int64)
        share = (words[1] >> np.uint64(11)).astype(np.float64) * 2.0**-53
        low, high = np.full((2 * inner + 1, features), -1.0), np.full((2 * inner + 1, features), 1.0)
        at = np.zeros(max(inner, 1))
        for node in range(inner):
            looked = column[node]
            at[node] = low[node, looked] + share[node] * (high[node, looked] - low[node, looked])
            for child in (2 * node + 1, 2 * node + 2):
                low[child], high[child] = low[node], high[node]
            high[2 * node + 1, looked] = low[2 * node + 2, looked] = at[node]
        return cls(depth, column, at)


class RandomForestClassifier(ClassifierMixin, Private):  # type: ignore[misc]  # scikit-learn is not typed
    """Vote by noisy counts of classes in the leaves of ``n_estimators`` random trees of depth ``max_depth``.

    Satisfies (epsilon, delta)-DP towards neighbours of ``relation`` for every table and all labels, by geometric noise
    for delta 0 and else by discrete Gaussian noise, whenever ``bounds`` and ``classes`` were declared without looking.

    >>> forest = RandomForestClassifier(5, max_depth=2, epsilon=1, bounds=(0, 1), classes=[0, 1])
    >>> forest.fit([[0.1], [0.9]], [0, 1]).counts_.shape, forest.loss_.epsilon()
    ((5, 4, 2), 1.0)
    """

    def __init__(
        self,
        n_estimators: int = 20,
        *,
        max_depth: int = 5,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        bounds: Any = None,  # noqa: ANN401 - a pair of numbers or of lists
        classes: Any = None,  # noqa: ANN401 - a list of labels
        budget: Account | Budget | None = None,
    ) -> None:
        self.n_estimators, self.max_depth = n_estimators, max_depth
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.bounds, self.classes, self.budget = bounds, classes, budget

    def plan(self) -> Geometric | DiscreteGaussian:
        """Return the noise of each count; it reads no data."""
        check_relation(self.relation)
        if type(self.max_depth) is not int or not 0 <= self.max_depth <= MOST_DEPTH:
            raise InvalidParameter(f"max_depth must be a whole number from 0 to {MOST_DEPTH}, got {self.max_depth!r}.")
        cells = self._trees() * (2 if self.relation == "replace_one" else 1)
        epsilon = declared(self.epsilon, "epsilon", "epsilon=1.0")
        if self.delta:
            root = Fraction(up(lambda: ball(cells).sqrt()))
            return DiscreteGaussian(sensitivity=root, epsilon=epsilon, delta=self.delta)
        return Geometric(sensitivity=cells, epsilon=epsilon)

    def cost(self, features: int) -> PrivacyLoss:
        """Return what a fit costs, on any number of columns."""
        return self.plan().loss.under(self.relation)

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803 - scikit-learn's names
        """Charge, then fit."""
        X = rows_of(X)  # noqa: N806
        features, names = self.columns(X), labels_of(self.classes)
        box, noise = box_of(self.bounds, features), self.plan()
        places = coded(y, names, len(X))
        loss = noise.loss.under(self.relation)
        self.charge(loss)
        rows, counts = box.read(X)
        labels = places[counts].astype(np.int64)
        trees = tuple(Split.random(self.max_depth, features) for _ in range(self._trees()))
        exact = np.array([_counted(tree, rows, labels, len(names)) for tree in trees])
        self.counts_ = np.asarray(noise.release(exact))
        self.trees_, self.classes_, self.loss_ = trees, names, loss
        self._box = box
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the share of each class among what the leaves of a row count, over all trees."""
        table = self.given(X)
        rows = self._box.moved(table)
        votes = np.zeros((len(rows), len(self.classes_)))
        for tree, counts in zip(self.trees_, self.counts_, strict=True):
            kept = np.maximum(counts, 0).astype(np.float64) + 1.0 / len(self.classes_)
            votes += (kept / kept.sum(axis=1, keepdims=True))[tree.leaves(rows)]
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401, N803
        """Return the class with most votes for each row."""
        places = np.argmax(self.predict_proba(X), axis=1)
        found: npt.NDArray[Any] = self.classes_[places]
        return found

    def _trees(self) -> int:
        if type(self.n_estimators) is not int or not 1 <= self.n_estimators <= 10_000:
            raise InvalidParameter("n_estimators must be a whole number from 1 to 10000.")
        return self.n_estimators


class DecisionTreeClassifier(RandomForestClassifier):
    """A forest of one tree, all of whose noise is for it alone.

    >>> DecisionTreeClassifier(max_depth=2, epsilon=1, bounds=(0, 1), classes=[0, 1]).fit([[0.1]], [0]).loss_.epsilon()
    1.0
    """

    def __init__(
        self,
        *,
        max_depth: int = 5,
        epsilon: Real | None = None,
        delta: Real = 0,
        relation: Relation = "add_remove",
        bounds: Any = None,  # noqa: ANN401 - a pair of numbers or of lists
        classes: Any = None,  # noqa: ANN401 - a list of labels
        budget: Account | Budget | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.epsilon, self.delta, self.relation = epsilon, delta, relation
        self.bounds, self.classes, self.budget = bounds, classes, budget

    def _trees(self) -> int:
        return 1


def _counted(tree: Split, rows: Floats, labels: npt.NDArray[np.int64], classes: int) -> npt.NDArray[np.int64]:
    known = labels >= 0
    cells = tree.leaves(rows[known]) * classes + labels[known]
    return np.bincount(cells, minlength=classes << tree.depth).reshape(-1, classes)
