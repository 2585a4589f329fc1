"""Was this record in the training data? Models trained with it and without it tell what to look for.

- *shadow models*: Shokri, Stronati, Song and Shmatikov, S&P 2017. Pool the scores of all records that shadow models saw
  and did not see, class by class, and learn how likely membership is at each score.
- *LiRA online*: Carlini et al., "Membership Inference Attacks From First Principles", S&P 2022. For each record by
  itself: how likely is its score among models that saw it, and among models that did not?
- *LiRA offline*: the same with models that did not see it alone, so that they can be trained before a record is known.

The engine knows nothing about models: it takes a function that trains on some records and one that scores all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from discreet.auditing.attacks.rates import Roc, Tick, quiet, roc_of
from discreet.errors import InvalidInput, InvalidParameter

__all__ = ["ATTACKS", "Shadows", "attack_model", "draw_shadows"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Data = TypeVar("Data")
Model = TypeVar("Model")

MANY = 64
"""With fewer models than this the spread of a record's scores is taken from all records, as Carlini et al. advise."""

BINS = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shadows:
    """The scores of all records under many models, and which records each model saw.

    A row for each model; ``labels`` are the classes of the records.
    """

    scores: Floats
    members: Mask
    labels: Integers

    def __post_init__(self) -> None:
        if (
            self.scores.shape != self.members.shape
            or len(self.scores) < 3
            or self.labels.shape != self.scores.shape[1:]
        ):
            raise InvalidInput("scores and members need a row for each of at least 3 models, and a column per record.")
        if not np.isfinite(self.scores).all():
            raise InvalidInput("scores must be finite; clip probabilities before taking the logarithm.")


def draw_shadows(
    data: Data,
    train: Callable[[Data, Integers], Model],
    score: Callable[[Model, Data], Floats],
    labels: Integers,
    *,
    models: int = 64,
    generator: np.random.Generator,
    tick: Tick = quiet,
) -> Shadows:
    """Train models, each on its own random half of the records, and score all records with each.

    ``train(data, members)`` gets the positions of the records it may see; ``score(model, data)`` returns one number for
    each record, larger where the model fits it better: the logit of the probability of its true class is a good one.

    >>> rows = np.arange(20.0)
    >>> found = draw_shadows(rows, lambda x, i: set(i.tolist()), lambda m, x: np.array([k in m for k in x], float),
    ...                      np.zeros(20, int), models=4, generator=np.random.default_rng(1))
    >>> bool((found.scores == found.members).all())
    True
    """
    if models < 3:
        raise InvalidParameter(f"at least 3 models are needed, got {models}.")
    members = generator.random((models, len(labels))) < 0.5
    rows = []
    for row in members:
        tick("training models")
        rows.append(np.asarray(score(train(data, np.flatnonzero(row)), data), dtype=np.float64))
    return Shadows(scores=np.array(rows), members=members, labels=np.asarray(labels))


def attack_model(shadows: Shadows, attack: str = "LiRA online") -> Roc:
    """Return how well one of the ``ATTACKS`` tells the records that a model saw.

    Every model is the target once, and all others are its shadows. Confidence intervals count each record once, though
    it was tested under each model.
    """
    if attack not in ATTACKS:
        raise InvalidParameter(f"attacks are {', '.join(ATTACKS)}, got {attack!r}.")
    evidence, inside = ATTACKS[attack](shadows), shadows.members
    return roc_of(evidence[inside], evidence[~inside], each=len(inside))


def _pooled(shadows: Shadows) -> Floats:
    """Return how likely membership is at each score, learnt from all records of the class under all other models."""
    evidence = np.zeros(shadows.scores.shape)
    for label in np.unique(shadows.labels):
        mine = shadows.labels == label
        scores, seen = shadows.scores[:, mine], shadows.members[:, mine]
        edges = np.unique(np.quantile(scores, np.linspace(0, 1, BINS + 1)[1:-1]))
        places, bins = np.searchsorted(edges, scores, side="right"), len(edges) + 1
        every = np.array([np.bincount(row, minlength=bins) for row in places])
        members = np.array([np.bincount(row, s, bins) for row, s in zip(places, seen, strict=True)])
        share = (members.sum(axis=0) - members + 1) / (every.sum(axis=0) - every + 2)
        evidence[:, mine] = np.take_along_axis(share, places, axis=1)
    return evidence + 1e-9 * np.tanh(shadows.scores)  # within a bin the better score comes first


def _online(shadows: Shadows) -> Floats:
    """Return the log-likelihood ratio of two normal laws, of scores with the record and without it."""
    with_it, without = _law(shadows, inside=True), _law(shadows, inside=False)
    return _log_density(shadows.scores, *with_it) - _log_density(shadows.scores, *without)


def _offline(shadows: Shadows) -> Floats:
    """Return how far each score lies above those of models without the record, in their spread."""
    mean, spread = _law(shadows, inside=False)
    found: Floats = (shadows.scores - mean) / spread
    return found


def _law(shadows: Shadows, *, inside: bool) -> tuple[Floats, Floats]:
    """Return the mean and the spread of each record's scores on one side, as all models but the row's own show them."""
    scores, chosen = shadows.scores, shadows.members == inside
    centre = scores.mean(axis=0)
    parts = np.where(chosen, scores - centre, 0.0)
    count = np.maximum(chosen.sum(axis=0) - chosen, 1)
    mean = (parts.sum(axis=0) - parts) / count
    squares = np.maximum((parts**2).sum(axis=0) - parts**2 - count * mean**2, 0.0)
    every = squares.sum(axis=1, keepdims=True) / np.maximum((count - 1).sum(axis=1, keepdims=True), 1)
    few = len(scores) < MANY
    variance = np.broadcast_to(every, squares.shape) if few else squares / np.maximum(count - 1, 1)
    return mean + centre, np.sqrt(np.maximum(variance, 1e-2 * every + 1e-12))


def _log_density(x: Floats, mean: Floats, spread: Floats) -> Floats:
    found: Floats = -(((x - mean) / spread) ** 2) / 2 - np.log(spread)
    return found


ATTACKS: dict[str, Callable[[Shadows], Floats]] = {
    "shadow models": _pooled,
    "LiRA offline": _offline,
    "LiRA online": _online,
}
