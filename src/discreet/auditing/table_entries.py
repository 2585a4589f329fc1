"""What is audited of histograms, trees and workloads: every count, or that it was not shown, is an output."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from discreet import mechanisms
from discreet.accounting import PrivacyLoss
from discreet.auditing.entries import Entry

__all__ = ["our_tables"]

LABELS = ("a", "b", "c")


def our_tables() -> tuple[Entry, ...]:
    """Return histograms on data where a person leaves or moves, and workloads on two neighbouring histograms."""
    return (*_histograms(), *_trees(), *_workloads())


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
    yield from _several_bins()


def _several_bins() -> Iterator[Entry]:
    """Yield histograms of people in two bins each, also of people whom somebody else has counted."""
    moved, gone = ([["a", "b"], ["a"]], [["c"], ["a"]]), ([["a", "b"], ["a"]], [["a"]])
    for noise, delta in (("geometric", None), ("gaussian", 0.01)):
        for relation, pair in (("add_remove", gone), ("replace_one", moved)):
            known = mechanisms.KnownBins(labels=LABELS, epsilon=1, delta=delta, relation=relation, noise=noise, bins=2)  # type: ignore[arg-type]
            yield Entry(f"two known bins each, {noise}, {relation}", known.then(_listed), known.loss, (pair,))
    for noise in ("geometric", "gaussian"):
        for relation in ("add_remove", "replace_one"):
            stable = mechanisms.StabilityHistogram(epsilon=4, delta=0.05, relation=relation, noise=noise, bins=2)  # type: ignore[arg-type]
            many = [["a", "b"]] * (stable.threshold + 1)
            left: list[object] = [["c"]] if relation == "replace_one" else []
            pairs = ((many, [*many[1:], *left]), ([["a", "b"]], left))
            yield _tiled(f"two bins each, {noise}, {relation}", partial(_many_shown, stable), stable.loss, pairs)
            low, high = stable.threshold, stable.threshold + 1
            counted = (([high, high, 0], [low, low, len(left)]), ([1, 1, 0], [0, 0, len(left)]))
            name = f"two bins each that look the same, {noise}, {relation}"
            yield _tiled(name, partial(_many_revealed, stable), stable.loss, counted)


def _trees() -> Iterator[Entry]:
    for relation in ("add_remove", "replace_one"):
        split = mechanisms.PrivTree(bounds=((0, 1),), epsilon=2, relation=relation, depth=3)
        yield Entry(f"splits of a box, {relation}", split.then(_cells), split.loss, (split.worst_case(),))
        edges = mechanisms.TreeCDF(bounds=(0, 1), size=4, epsilon=1, relation=relation, branching=2)
        yield Entry(f"tree of a distribution, {relation}", edges.then(_below), edges.loss, (edges.worst_case(),))


def _workloads() -> Iterator[Entry]:
    from discreet.synthetic import Hierarchical, Identity, MatrixMechanism, Prefix  # heavy: not before it is asked for
    from discreet.synthetic.from_histogram import FromHistogram

    for method in ("geometric", "exponential"):
        for relation in ("add_remove", "replace_one"):
            made = FromHistogram(attributes={"x": LABELS}, epsilon=1, relation=relation, method=method, size=4)
            yield Entry(f"synthetic records, {method}, {relation}", made.then(_made), made.loss, (made.worst_case(),))

    one, gone, moved = np.array([2, 0, 1, 1]), np.array([1, 0, 1, 1]), np.array([1, 0, 1, 2])
    for name, strategy in (("itself", Prefix(size=4)), ("tree", Hierarchical(size=4)), ("identity", Identity(size=4))):
        for relation, other in (("add_remove", gone), ("replace_one", moved)):
            plan = MatrixMechanism(workload=Prefix(size=4), strategy=strategy, epsilon=1, relation=relation)  # type: ignore[arg-type]
            yield Entry(f"prefix sums by {name}, {relation}", partial(_answers, plan), plan.loss, ((one, other),))
            plan = MatrixMechanism(workload=Prefix(size=4), strategy=strategy, rho=0.5, relation=relation)  # type: ignore[arg-type]
            told = f"prefix sums by {name}, Gaussian noise, {relation}"
            yield Entry(told, partial(_answers, plan), plan.loss, ((one, other), plan.worst_case()))
    yield from _streams_and_areas()
    yield from _models()


def _models() -> Iterator[Entry]:
    from discreet.synthetic.spanning_tree import SpanningTree

    for relation in ("add_remove", "replace_one"):
        tree = SpanningTree(sizes=(2, 2), rho=0.5, relation=relation)
        pairs = (tree.worst_case(),)
        yield Entry(f"tree of pairs, {relation}", partial(_whole_model, tree), tree.loss, pairs)


def _whole_model(tree: Any, records: Any) -> Any:  # noqa: ANN401 - a mechanism, and arrays
    return tree.release(records).marginal((0, 1)).reshape(-1)


def _streams_and_areas() -> Iterator[Entry]:
    from discreet.synthetic import RunningTotal
    from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine

    spine = Spine(levels=("state", "county"), leaves=(("A", "B"), ("A", "C")))
    cells = Cells(attributes={"adult": (False, True)})
    for relation in ("add_remove", "replace_one"):
        for name, given in (("tree", {"epsilon": 1}), ("square root", {"rho": 0.5})):
            totals = RunningTotal(steps=7, relation=relation, **given)
            yield Entry(f"running totals by a {name}, {relation}", totals, totals.loss, (totals.worst_case(),))
        areas = Hierarchy(spine=spine, cells=cells, queries={"by age": ("adult",)}, rho=0.5, relation=relation)
        yield Entry(f"areas, {relation}", partial(_measured, areas), areas.loss, (areas.worst_case(),))


def _listed(counts: Any) -> Any:  # noqa: ANN401 - an array
    return np.asarray(counts, dtype=float)


def _shown(bins: mechanisms.Bins) -> Any:  # noqa: ANN401 - an array
    told = dict(zip(bins.keys, bins.counts, strict=True))
    return np.array([float(told.get(label, -1000)) for label in LABELS])


def _tiled(name: str, batch: Callable[[Any, int], Any], claims: PrivacyLoss, pairs: tuple[Any, ...]) -> Entry:
    return Entry(name, lambda data: batch(data, 1)[0], claims, pairs, batch)


def _many_shown(stable: mechanisms.StabilityHistogram, people: Any, draws: int) -> Any:  # noqa: ANN401 - an array
    """Return many draws at once: each has bins of its own, and all bins are independent."""
    told = dict(iter(stable.release([[(i, label) for label in bins] for i in range(draws) for bins in people])))
    return np.array([[float(told.get((i, label), -1000)) for label in LABELS] for i in range(draws)])


def _many_revealed(stable: mechanisms.StabilityHistogram, counts: Any, draws: int) -> Any:  # noqa: ANN401 - an array
    """Return many draws at once of three bins, of which the first two look the same."""
    keys = [key for i in range(draws) for key in ((i, "a"), [i, "a"], (i, "c"))]
    told = dict(iter(stable.reveal(keys, list(counts) * draws)))
    return np.array([[float(told.get((i, label), -1000)) for label in ("a", "c")] for i in range(draws)])


def _measured(areas: Any, histogram: Any) -> Any:  # noqa: ANN401 - a hierarchy, and arrays
    return np.concatenate([np.asarray(noisy, dtype=float).reshape(-1) for noisy in areas.measure(histogram).noisy])


def _cells(boxes: mechanisms.Boxes) -> Any:  # noqa: ANN401 - an array
    """Return for the first and the last cell of a grid of eight how deep its box is, and that one's noisy count."""
    ends = np.array([0, len(boxes) - 1])
    return np.concatenate([boxes.depths[ends], boxes.noisy[ends]]).astype(float)


def _below(edges: mechanisms.NoisyCDF) -> Any:  # noqa: ANN401 - an array
    return edges.below


def _made(records: Any) -> Any:  # noqa: ANN401 - records, and an array
    return records.counts.astype(float)


def _answers(plan: Any, histogram: Any) -> Any:  # noqa: ANN401 - a plan, and arrays
    return np.asarray(plan.release(histogram).measured, dtype=float)
