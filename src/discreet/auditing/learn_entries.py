"""What is audited of private learning: fits of small linear models, on a record that comes, goes or turns round.

Norms of 1, 10 and 100 are declared in turn: a constant that belongs to rows of norm 1 and is used for others shows.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from discreet.auditing.entries import Entry

__all__ = ["our_learning"]

NORMS = (1, 10, 100)
RELATIONS = ("add_remove", "replace_one")


def our_learning() -> tuple[Entry, ...]:
    """Return every method of fitting a linear model, and the sums that other estimators are computed from."""
    return (*_linear(), *_sums(), *_forests())


def _linear() -> Iterator[Entry]:
    from discreet.learn import convex  # heavy: not before it is asked for

    for place, norm in enumerate(NORMS):
        relation: Any = RELATIONS[place % 2]
        for loss in (convex.Logistic(), convex.HuberHinge()):
            shared: Any = {"loss_function": loss, "relation": relation, "size": 2}
            rows = convex.Rows(features=1, norm=norm, intercept=0 if place else 0.25)
            name = f"{type(loss).__name__}, norm {norm}, {relation}"
            for noise, delta in (("pure", 0), ("Gaussian", 0.01)):
                moved = convex.OutputPerturbation(rows=rows, strength=4, epsilon=1, delta=delta, **shared)
                yield Entry(
                    f"output perturbation, {noise}, {name}",
                    moved,
                    moved.loss,
                    (moved.worst_case(),),
                    partial(_many_outputs, moved),
                )
                tilted = convex.ObjectivePerturbation(rows=rows, strength=4, epsilon=1, delta=delta, **shared)
                yield Entry(f"objective perturbation, {noise}, {name}", tilted, tilted.loss, (tilted.worst_case(),))
            walked = convex.GradientDescent(rows=rows, epsilon=1, delta=0.01, steps=2, **shared)
            yield Entry(f"noisy gradients, {name}", walked, walked.loss, (walked.worst_case(),))
            box = convex.Rows(features=1, norm=norm, shape="box")
            chosen = convex.FrankWolfe(rows=box, epsilon=1, radius=1, steps=2, **shared)
            yield Entry(f"Frank-Wolfe, {name}", chosen, chosen.loss, (chosen.worst_case(),))


def _sums() -> Iterator[Entry]:
    from discreet.learn import convex
    from discreet.learn.estimators.grouped_sums import GroupedSums

    for relation in RELATIONS:
        known: Any = relation
        for noise, delta in (("Laplace", 0), ("Gaussian", 0.01)):
            rows = convex.Rows(features=2, norm=10, intercept=1)
            moments = convex.Moments(rows=rows, relation=known, epsilon=1, delta=delta, bounds=(0, 5))
            pairs = (moments.worst_case(),)
            yield Entry(f"second moments, {noise}, {relation}", partial(_upper, moments), moments.loss, pairs)
            sums = GroupedSums(groups=2, width=2, square=2, relation=known, epsilon=1, delta=delta)
            pairs = (sums.worst_case(),)
            yield Entry(f"sums by group, {noise}, {relation}", partial(_flat, sums), sums.loss, pairs)


def _forests() -> Iterator[Entry]:
    from discreet.learn.estimators import RandomForestClassifier

    for relation in RELATIONS:
        known: Any = relation
        forest = RandomForestClassifier(2, max_depth=0, epsilon=1, relation=known, bounds=(0, 1), classes=[0, 1])
        one = (np.array([[0.5]]), np.array([0]))
        other = (np.array([[0.5]]), np.array([1])) if relation == "replace_one" else (one[0][:0], one[1][:0])
        yield Entry(f"leaves of trees, {relation}", partial(_leaves, forest), forest.cost(1), ((one, other),))


def _many_outputs(fit: Any, data: Any, draws: int) -> Any:  # noqa: ANN401 - a mechanism, and arrays
    """Return many releases of one minimum, which is the same each time."""
    found = np.asarray(fit.minimum(fit.read(*data)), dtype=np.float64)
    return fit.noise.release(np.tile(found, (draws, 1)))


def _upper(moments: Any, data: Any) -> Any:  # noqa: ANN401 - a mechanism, and arrays
    released = moments.release(data)
    return released[np.triu_indices(len(released))]


def _flat(sums: Any, data: Any) -> Any:  # noqa: ANN401 - a mechanism, and arrays
    return sums.release(data).reshape(-1)


def _leaves(forest: Any, data: Any) -> Any:  # noqa: ANN401 - an estimator, and arrays
    return forest.fit(*data).counts_.reshape(-1)
