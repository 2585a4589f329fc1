"""What is audited of histograms and workloads: every count, or that it was not shown, is an output."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from discreet import mechanisms
from discreet.auditing.entries import Entry

__all__ = ["our_tables"]

LABELS = ("a", "b", "c")


def our_tables() -> tuple[Entry, ...]:
    """Return histograms on data where a person leaves or moves, and workloads on two neighbouring histograms."""
    return (*_histograms(), *_workloads())


def _histograms() -> Iterator[Entry]:
    moved = (["a", "a", "b"], ["a", "b", "b"])
    gone = (["a", "a", "b"], ["a", "b"])
    for noise, delta in (("geometric", None), ("laplace", None), ("gaussian", 0.01)):
        for relation, pair in (("add_remove", gone), ("replace_one", moved)):
            known = mechanisms.KnownBins(labels=LABELS, epsilon=1, delta=delta, relation=relation, noise=noise)  # type: ignore[arg-type]
            yield Entry(f"known bins, {noise}, {relation}", known.then(_listed), known.loss, (pair,))
    for noise in ("geometric", "gaussian"):
        for relation in ("add_remove", "replace_one"):
            stable = mechanisms.StabilityHistogram(epsilon=1, delta=0.02, relation=relation, noise=noise)  # type: ignore[arg-type]
            many = ["a"] * (stable.threshold + 1)
            pairs = ((many, many[1:]), (["a"], [])) if relation == "add_remove" else ((many, [*many[1:], "b"]),)
            yield Entry(f"stability histogram, {noise}, {relation}", stable.then(_shown), stable.loss, pairs)


def _workloads() -> Iterator[Entry]:
    from discreet.synthetic import Hierarchical, Identity, MatrixMechanism, Prefix  # heavy: not before it is asked for

    one, gone, moved = np.array([2, 0, 1, 1]), np.array([1, 0, 1, 1]), np.array([1, 0, 1, 2])
    for name, strategy in (("itself", Prefix(size=4)), ("tree", Hierarchical(size=4)), ("identity", Identity(size=4))):
        for relation, other in (("add_remove", gone), ("replace_one", moved)):
            plan = MatrixMechanism(workload=Prefix(size=4), strategy=strategy, epsilon=1, relation=relation)  # type: ignore[arg-type]
            yield Entry(f"prefix sums by {name}, {relation}", partial(_answers, plan), plan.loss, ((one, other),))


def _listed(counts: Any) -> Any:  # noqa: ANN401 - an array
    return np.asarray(counts, dtype=float)


def _shown(bins: mechanisms.Bins) -> Any:  # noqa: ANN401 - an array
    told = dict(zip(bins.keys, bins.counts, strict=True))
    return np.array([float(told.get(label, -1000)) for label in LABELS])


def _answers(plan: Any, histogram: Any) -> Any:  # noqa: ANN401 - a plan, and arrays
    return np.asarray(plan.release(histogram).measured, dtype=float)
