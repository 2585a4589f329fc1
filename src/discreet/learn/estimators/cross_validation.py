"""Cross-validation whose scores are released, and charged with all the fits that they need.

Each record is dealt to one of ``folds`` folds by a coin of its own, so that nobody's fold depends on who else is there.
A record takes part in the fits of all other folds and in the score of its own: the whole costs ``folds - 1`` fits and
one score. A score is a noisy count of right predictions beside one of wrong ones; what a model predicts for a record
depends on that record alone.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.learn.convex.rows import as_numbers
from discreet.learn.estimators.linear import labels_of
from discreet.learn.estimators.private import Private, coded, rows_of
from discreet.mechanisms.geometric import Geometric
from discreet.noise import uniform_below

__all__ = ["Scores", "cross_validate"]


@dataclass(frozen=True, slots=True)
class Scores:
    """Released accuracies, one for each fold, and what all of it cost."""

    accuracies: tuple[float, ...]
    loss: PrivacyLoss

    @property
    def mean(self) -> float:
        """Their average."""
        return sum(self.accuracies) / len(self.accuracies)


def cross_validate(
    estimator: Private,
    X: Any,  # noqa: ANN401, N803 - scikit-learn's names
    y: Any,  # noqa: ANN401
    *,
    epsilon: Real,
    folds: int = 5,
    budget: Account | Budget | None = None,
) -> Scores:
    """Return private accuracies of a classifier on records that it was not fitted to.

    ``epsilon`` pays for the scores. The estimator's own epsilon is that of one fit, of which a record takes part in
    ``folds - 1``. Everything is charged to ``budget``, or else to that of the estimator, before anything is looked at.

    >>> from discreet.learn import LogisticRegression
    >>> model = LogisticRegression(epsilon=1, norm=1, classes=[0, 1])
    >>> found = cross_validate(model, [[0.5], [-0.5]] * 50, [1, 0] * 50, epsilon=1, folds=3)
    >>> len(found.accuracies), round(found.loss.epsilon(), 6)
    (3, 3.0)
    """
    if type(folds) is not int or not 2 <= folds <= 100:
        raise InvalidParameter(f"folds must be a whole number from 2 to 100, got {folds!r}.")
    if not hasattr(estimator, "predict") or not hasattr(estimator, "classes"):
        raise InvalidParameter("only classifiers of discreet.learn can be scored here.")
    table = as_numbers(rows_of(X))
    names = labels_of(estimator.classes)
    labels = np.array([*names.tolist(), None], dtype=object)[coded(y, names, len(table)).astype(np.int64)]
    relation = estimator.relation
    plain = clone(estimator).set_params(budget=None)
    if relation == "replace_one" and getattr(plain, "size", 1) is None:
        plain.set_params(size=max(1, len(table)))
    count = Geometric(sensitivity=2 if relation == "replace_one" else 1, epsilon=epsilon)
    loss = (folds - 1) * plain.cost(int(table.shape[1])) + count.loss.under(relation)
    if budget is None:
        estimator.charge(loss)
    else:
        (budget.open() if isinstance(budget, Budget) else budget).spend(loss)
    dealt = np.array(uniform_below(folds, size=len(table)))
    scores = [_scored(plain, table, labels, dealt == fold, count) for fold in range(folds)]
    return Scores(tuple(scores), loss)


def _scored(estimator: Private, table: Any, labels: Any, out: Any, count: Geometric) -> float:  # noqa: ANN401
    """Fit without one fold, and return the noisy share of right predictions in it."""
    model = clone(estimator)
    model.fit(table[~out], labels[~out])
    numbers = np.nan_to_num(table[out], nan=0.0, posinf=0.0, neginf=0.0)
    given = coded(labels[out], model.classes_, len(numbers))
    with np.errstate(all="ignore"):  # a warning would tell of a record
        told = coded(model.predict(numbers), model.classes_, len(numbers)) if len(numbers) else given
    right = int(np.sum((told == given) & (given >= 0)))
    noisy = np.asarray(count.release(np.array([right, len(given) - right])))
    counted = np.maximum(noisy, 0)
    return float(Fraction(int(counted[0]), max(1, int(counted.sum()))))
