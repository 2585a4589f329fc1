"""Two small classifiers of coded records: enough to see whether synthetic records teach what the real ones do."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse, special

from discreet.errors import InvalidParameter

__all__ = ["LogisticRegression", "NaiveBayes"]

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NaiveBayes:
    """Attributes taken as independent within a class, each count with ``smoothing`` more.

    >>> fitted = NaiveBayes().fit(np.array([[0], [0], [1], [1]]), np.array([0, 0, 1, 1]), (2,), 2)
    >>> fitted.predict(np.array([[1], [0]])).tolist()
    [1, 0]
    """

    smoothing: float = 1.0

    def fit(self, codes: Int64, labels: Int64, sizes: tuple[int, ...], classes: int) -> "Additive":
        """Return the classifier of some records with their classes."""
        prior = np.log(np.bincount(labels, minlength=classes) + self.smoothing)
        tables = []
        for i, size in enumerate(sizes):
            counts = np.bincount(codes[:, i] * classes + labels, minlength=size * classes).reshape(size, classes)
            tables.append(np.log(counts + self.smoothing) - np.log(counts.sum(axis=0) + self.smoothing * size))
        return Additive(prior, tuple(tables))


@dataclass(frozen=True, slots=True)
class LogisticRegression:
    """A weight for each value of each attribute and each class, with a quadratic ``penalty``, found by L-BFGS.

    >>> fitted = LogisticRegression().fit(np.array([[0], [0], [1], [1]]), np.array([0, 0, 1, 1]), (2,), 2)
    >>> fitted.predict(np.array([[1], [0]])).tolist()
    [1, 0]
    """

    penalty: float = 1.0
    steps: int = 60

    def fit(self, codes: Int64, labels: Int64, sizes: tuple[int, ...], classes: int) -> "Additive":
        """Return the classifier of some records with their classes; records that are alike are taken together."""
        together = np.concatenate([codes, labels[:, None]], axis=1)
        distinct, counts = np.unique(together, axis=0, return_counts=True) if len(codes) else (together, labels)
        problem = _Problem(distinct[:, :-1], distinct[:, -1], counts.astype(np.float64), sizes, classes, self.penalty)
        minimise: Any = optimize.minimize
        found = minimise(
            problem, np.zeros(problem.length), jac=True, method="L-BFGS-B", options={"maxiter": self.steps}
        )
        return problem.unpacked(found.x)


@dataclass(frozen=True, slots=True, eq=False)
class Additive:
    """A classifier whose score of a class is a sum over attributes; the highest wins."""

    start: Floats
    tables: tuple[Floats, ...]

    def scores(self, codes: Int64) -> Floats:
        """Return a score for each record and class."""
        total = np.repeat(self.start[None, :], len(codes), axis=0)
        for i, table in enumerate(self.tables):
            total += table[codes[:, i]]
        return total

    def predict(self, codes: Int64) -> Int64:
        """Return the class of each record."""
        if codes.ndim != 2 or codes.shape[1] != len(self.tables):
            raise InvalidParameter(f"records have {len(self.tables)} attributes here.")
        return np.asarray(self.scores(codes).argmax(axis=1), dtype=np.int64)


class _Problem:
    """The penalised log-likelihood, and its slope."""

    __slots__ = ("classes", "counts", "labels", "offsets", "ones", "penalty")

    def __init__(
        self, codes: Int64, labels: Int64, counts: Floats, sizes: tuple[int, ...], classes: int, penalty: float
    ) -> None:
        self.labels, self.counts, self.classes, self.penalty = labels, counts, classes, penalty
        self.offsets = np.cumsum([0, *sizes])
        last = np.full((len(codes), 1), self.offsets[-1])  # a weight that every record has
        places = np.concatenate([codes + self.offsets[:-1], last], axis=1)
        starts = np.arange(len(codes) + 1) * places.shape[1]
        shape = (len(codes), int(self.offsets[-1]) + 1)
        self.ones = sparse.csr_array((np.ones(places.size), places.reshape(-1), starts), shape=shape)

    @property
    def length(self) -> int:
        """How many weights there are."""
        return (int(self.offsets[-1]) + 1) * self.classes

    def unpacked(self, weights: Floats) -> Additive:
        """Return the classifier of some weights."""
        table = weights.reshape(-1, self.classes)
        parts = zip(self.offsets[:-1], self.offsets[1:], strict=True)
        return Additive(table[-1], tuple(table[low:high] for low, high in parts))

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        scores = self.ones @ weights.reshape(-1, self.classes)
        logs = scores - special.logsumexp(scores, axis=1, keepdims=True)
        rows = np.arange(len(self.labels))
        value = -float((self.counts * logs[rows, self.labels]).sum()) + self.penalty / 2 * float(weights @ weights)
        away = np.exp(logs) * self.counts[:, None]
        away[rows, self.labels] -= self.counts
        return value, np.asarray(self.ones.T @ away).reshape(-1) + self.penalty * weights
