"""Synthesizers that fit a graphical model: each on records of which all of a person's are gone, or have moved."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from discreet.auditing.entries import Entry

__all__ = ["our_graphical_models"]


def our_graphical_models() -> tuple[Entry, ...]:
    """Return the synthesizers, under both relations."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    from discreet.synthetic.aim import AdaptiveTables  # heavy: not before it is asked for
    from discreet.synthetic.spanning_tree import SpanningTree

    for relation in ("add_remove", "replace_one"):
        for name, kind in (("adaptive tables", AdaptiveTables), ("spanning tree", SpanningTree)):
            made: Any = kind(sizes=(2, 2), rho=20, relation=relation)
            yield Entry(f"{name}, {relation}", partial(_tables, made), made.loss, (made.worst_case(),))


def _tables(synthesizer: Any, records: Any) -> Any:  # noqa: ANN401 - a synthesizer, and arrays
    return synthesizer.release(records).marginal((0, 1)).reshape(-1)
