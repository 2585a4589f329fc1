"""The estimators of histograms, each on a small one of which a record is gone, or has moved."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from discreet.auditing.entries import Entry

__all__ = ["our_estimators"]

ON_A_LINE = ("Identity", "Uniform", "Privelet", "Hb", "GreedyH", "DAWA", "AHP", "MWEM", "ShrunkTree")
ON_A_PLANE = ("QuadTree", "UniformGrid", "AdaptiveGrid")


def our_estimators() -> tuple[Entry, ...]:
    """Return every estimator, under one relation or the other in turn."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    from discreet.synthetic import estimators

    for place, name in enumerate((*ON_A_LINE, *ON_A_PLANE)):
        relation = "add_remove" if place % 2 else "replace_one"
        shape = (4,) if name in ON_A_LINE else (2, 2)
        made: Any = getattr(estimators, name)(shape=shape, epsilon=2, relation=relation)
        pairs = (made.worst_case(),)
        yield Entry(f"estimator {name}, {relation}", partial(_flat, made), made.loss, pairs)


def _flat(estimator: Any, histogram: Any) -> Any:  # noqa: ANN401 - an estimator, and arrays
    return estimator.release(histogram).reshape(-1)
