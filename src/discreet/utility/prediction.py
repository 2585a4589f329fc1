"""Learn from synthetic records, test on real ones: how much of what is learnt carries over.

Beside it stand the same classifier taught by real records, and the one that always names the most frequent class.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.utility.classifiers import LogisticRegression, NaiveBayes
from discreet.utility.tables import NOTE, Data, rows_of

__all__ = ["Prediction", "predict", "predict_all", "split"]

Int64 = npt.NDArray[np.int64]
Classifier = LogisticRegression | NaiveBayes

TESTED = 4
"""One in so many real records is kept for the test."""

MULTIPLIER = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Prediction:
    """Parts of real records, none of which was learnt from, whose class was told right."""

    target: int
    synthetic: float
    """By the classifier that learnt from synthetic records."""
    real: float
    """By the classifier that learnt from other real records."""
    majority: float
    """By naming the most frequent class of those always."""
    tested: int
    note: str = NOTE

    @property
    def kept(self) -> float:
        """The part of what real records teach beyond the majority that synthetic ones teach too; 1 is all of it."""
        gained = self.real - self.majority
        return (self.synthetic - self.majority) / gained if gained > 0 else float("nan")


def predict(
    real: Data,
    synthetic: Data,
    *,
    sizes: tuple[int, ...],
    target: int,
    classifier: Classifier | None = None,
) -> Prediction:
    """Return how well one attribute is told from all others. Not private: it reads the real records without noise.

    >>> real = [[0, 0], [1, 1], [2, 1]] * 40
    >>> found = predict(real, real[:30], sizes=(3, 2), target=1)
    >>> found.synthetic, found.real
    (1.0, 1.0)
    """
    return predict_all(real, {"": synthetic}, sizes=sizes, target=target, classifier=classifier)[""]


def predict_all(
    real: Data,
    synthetic_by_name: Mapping[str, Data],
    *,
    sizes: tuple[int, ...],
    target: int,
    classifier: Classifier | None = None,
) -> dict[str, Prediction]:
    """Return the same for several syntheses, beside one classifier that learns from real records. Not private."""
    if not 0 <= target < len(sizes) or len(sizes) < 2:
        raise InvalidParameter(f"target is one of {len(sizes)} attributes, numbered from 0, and there are others.")
    method = classifier or LogisticRegression()
    train, test = split(rows_of(real, sizes))
    if not len(train) or not len(test):
        raise InvalidParameter("there are too few real records to learn from some and to test on others.")
    others = [i for i in range(len(sizes)) if i != target]
    left, classes = tuple(sizes[i] for i in others), sizes[target]

    def accuracy(learnt: Int64) -> float:
        fitted = method.fit(learnt[:, others], learnt[:, target], left, classes)
        return float((fitted.predict(test[:, others]) == test[:, target]).mean())

    most = int(np.bincount(train[:, target], minlength=classes).argmax())
    majority, taught = float((test[:, target] == most).mean()), accuracy(train)
    return {
        name: Prediction(target, accuracy(rows_of(data, sizes)), taught, majority, len(test))
        for name, data in synthetic_by_name.items()
    }


def split(rows: Int64) -> tuple[Int64, Int64]:
    """Return records to learn from, and one in four to test on, by a hash of their place: the same in every run.

    >>> [len(part) for part in split(np.zeros((1000, 2), dtype=np.int64))]
    [750, 250]
    """
    with np.errstate(over="ignore"):
        keys = np.arange(1, len(rows) + 1, dtype=np.uint64) * np.uint64(MULTIPLIER)
    order = np.argsort(keys, kind="stable")
    cut = len(rows) // TESTED
    tested = np.zeros(len(rows), dtype=np.bool_)
    tested[order[:cut]] = True
    return rows[~tested], rows[tested]
