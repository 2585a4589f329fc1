"""The shadow attacks on small scikit-learn models of the invented town, and on random trees with noisy leaves.

*Random trees*: the splits are drawn on public people, and the training data enter as counts of classes in the leaves; a
release of counts, which discreet can protect. Jagannathan, Pillaipakkamnatt and Wright, "A Practical Differentially
Private Random Decision Tree Classifier", ICDM Workshops 2009.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import GRID, Roc, Tick, most_power, quiet, roc_picture
from discreet.auditing.attacks.shadow import ATTACKS, attack_model, draw_shadows
from discreet.datasets import population
from discreet.errors import InvalidParameter, MissingExtra
from discreet.exact import Real, positive
from discreet.mechanisms import Geometric

__all__ = ["MODELS", "Shadowing", "Survey", "shadow", "survey"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

TREES, DEPTH = 4, 9
MIDDLE = 17_500
"""An income that about half of the town exceeds."""
MODELS = {
    "trees": "random trees, the splits drawn on public people",
    "forest": "sklearn.ensemble.RandomForestClassifier",
    "logistic": "sklearn.linear_model.LogisticRegression",
    "neighbours": "sklearn.neighbors.KNeighborsClassifier",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """People as numbers, whether each earns more than ``MIDDLE``, and in which leaf of each random tree they fall."""

    features: Floats
    labels: Integers
    leaves: Integers


def survey(records: int) -> Survey:
    """Return people of the invented town; as many others, who count as public, draw the random trees.

    >>> survey(100).leaves.shape
    (100, 4)
    """
    town = {name: column[:records] for name, column in population(2 * records).items()}
    rest = {name: column[records:] for name, column in population(2 * records).items()}
    embedding = _sklearn("ensemble").RandomTreesEmbedding(
        n_estimators=TREES, max_depth=DEPTH, random_state=0, sparse_output=False
    )
    embedding.fit(_numbers(rest))
    features = _numbers(town)
    return Survey(
        features=features,
        labels=(town["income"] > MIDDLE).astype(np.int64),
        leaves=np.asarray(embedding.apply(features), dtype=np.int64),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadowing(Outcome):
    """How well each attack finds the training records of a model, and of random trees with noisy leaves.

    ``accuracy`` is the share of people outside the training data whose income class is predicted rightly; ``usual``
    what always saying the same achieves.
    """

    model: str
    records: int
    shadows: int
    epsilon: float
    accuracy: float
    protected_accuracy: float
    usual: float
    attacks: dict[str, Roc]
    protected: dict[str, Roc]
    bound: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """What the attack found."""
        best = max(self.attacks, key=lambda name: self.attacks[name].at(0.01).value)
        roc = self.attacks[best]
        return (
            f"A model ({self.model}) trained on half of {self.records:,} people is right about {self.accuracy:.1%} of "
            f"the others. {best} finds {roc.at(0.01)} of its training records at 1% false positives, {roc.at(0.001)} "
            f"at 0.1%; balanced accuracy {roc.balanced_accuracy:.1%}."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        best = max(self.protected, key=lambda name: self.protected[name].at(0.01).value)
        roc, allowed = self.protected[best], [self.bound[GRID.index(rate)] for rate in (0.01, 0.001)]
        return (
            f"From random trees with noise for epsilon {self.epsilon:g}, right about {self.protected_accuracy:.1%} "
            f"(always saying the same: {self.usual:.1%}), the best attack, {best}, finds {roc.at(0.01)} and "
            f"{roc.at(0.001)}. Nobody can expect more than {allowed[0]:.2%} and {allowed[1]:.2%}."
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw members found against others accused."""
        best = "LiRA online"
        return roc_picture(
            [*self.attacks.items(), (f"{best}, discreet", self.protected[best])],
            (f"bound, epsilon {self.epsilon:g}", self.bound),
            title="Was this person in the training data?",
            subtitle=f"{self.model}, trained on half of {self.records:,} people, {self.shadows} models",
            strong=f"{best}, discreet",
        )


def shadow(
    model: str = "trees",
    *,
    records: int = 4000,
    shadows: int = 64,
    epsilon: Real = 1,
    generator: np.random.Generator | None = None,
    tick: Tick = quiet,
) -> Shadowing:
    """Train a model on half of the invented town, and find out on which half.

    Beside it stand random trees whose leaf counts have geometric noise. They are epsilon-DP for adding or removing a
    person, who is counted once in each tree; so no attack can beat ``most_power`` of that epsilon on average.
    """
    if model not in MODELS:
        raise InvalidParameter(f"models are {', '.join(MODELS)}, got {model!r}.")
    if records < 100:
        raise InvalidParameter(f"at least 100 records are needed, got {records}.")
    chance = np.random.default_rng() if generator is None else generator
    people = survey(records)
    mechanism = Geometric(sensitivity=TREES, epsilon=positive(epsilon, "epsilon"))
    plain = (_count_leaves, _leaf_scores) if model == "trees" else (_fit(model), _fit_scores)
    noisy: tuple[Any, Any] = (lambda data, rows: mechanism.release(_count_leaves(data, rows)), _leaf_scores)
    found, right = [], []
    for train, score in (plain, noisy):
        drawn = draw_shadows(people, train, score, people.labels, models=shadows, generator=chance, tick=tick)
        tick("attacking")
        found.append({name: attack_model(drawn, name) for name in ATTACKS})
        right.append(float((drawn.scores > 0)[~drawn.members].mean()))
    return Shadowing(
        model=model,
        records=records,
        shadows=shadows,
        epsilon=float(epsilon),
        accuracy=right[0],
        protected_accuracy=right[1],
        usual=float(max(people.labels.mean(), 1 - people.labels.mean())),
        attacks=found[0],
        protected=found[1],
        bound=most_power(mechanism.loss),
    )


def _count_leaves(data: Survey, members: Integers) -> Integers:
    """Return how many members of each class fall into each leaf of each tree."""
    size = int(data.leaves.max()) + 1
    places = (np.arange(TREES) * size + data.leaves[members]) * 2 + data.labels[members, None]
    return np.bincount(places.ravel(), minlength=2 * TREES * size).reshape(TREES, size, 2)


def _leaf_scores(counts: Integers, data: Survey) -> Floats:
    """Return the logit of the probability that the trees give to each person's true class, on average."""
    here = np.maximum(counts[np.arange(TREES), data.leaves], 0)
    chance = (here + 0.5) / (here.sum(axis=-1, keepdims=True) + 1)
    return _logit(np.take_along_axis(chance.mean(axis=1), data.labels[:, None], axis=1)[:, 0])


def _fit(model: str) -> Callable[[Survey, Integers], Any]:
    make: Callable[[], Any]
    if model == "forest":
        forest = _sklearn("ensemble").RandomForestClassifier

        def make() -> Any:  # noqa: ANN401
            return forest(n_estimators=20, random_state=0)
    elif model == "logistic":
        pipeline, scaler = _sklearn("pipeline").make_pipeline, _sklearn("preprocessing").StandardScaler
        logistic = _sklearn("linear_model").LogisticRegression

        def make() -> Any:  # noqa: ANN401
            return pipeline(scaler(), logistic(max_iter=500))
    else:
        pipeline, scaler = _sklearn("pipeline").make_pipeline, _sklearn("preprocessing").StandardScaler
        neighbours = _sklearn("neighbors").KNeighborsClassifier

        def make() -> Any:  # noqa: ANN401
            return pipeline(scaler(), neighbours(5))

    return lambda data, members: make().fit(data.features[members], data.labels[members])


def _fit_scores(model: Any, data: Survey) -> Floats:  # noqa: ANN401  a scikit-learn classifier
    chance = model.predict_proba(data.features)
    return _logit(np.take_along_axis(chance, data.labels[:, None], axis=1)[:, 0])


def _logit(chance: Floats) -> Floats:
    kept = np.clip(chance, 1e-3, 1 - 1e-3)
    found: Floats = np.log(kept / (1 - kept))
    return found


def _numbers(town: dict[str, npt.NDArray[Any]]) -> Floats:
    """Return the columns as numbers; a column of words becomes one of zeros and ones for each word."""
    columns = []
    for name, column in town.items():
        if name in ("person_id", "income"):
            continue
        if column.dtype.kind in "US":
            columns += [(column == word).astype(np.float64) for word in sorted(set(population(2000)[name].tolist()))]
        else:
            columns.append(column.astype(np.float64))
    return np.stack(columns, axis=1)


def _sklearn(module: str) -> Any:  # noqa: ANN401  scikit-learn is optional and untyped
    try:
        return import_module(f"sklearn.{module}")
    except ImportError as missing:
        raise MissingExtra("scikit-learn", "attack") from missing
