"""The questions that a benchmark asks of a histogram, by name."""

from collections.abc import Callable

from discreet.bench.ranges import Ranges
from discreet.errors import InvalidParameter
from discreet.synthetic.operators import AllRanges, Identity, Kronecker, Marginals, Operator, Prefix

__all__ = ["WORKLOADS", "workload"]

Sizes = tuple[int, ...]

MOST = 1 << 24
"""A workload of more answers than this is refused: no computer at hand would hold them."""


def workload(name: str, sizes: Sizes, *, queries: int = 2000, seed: int = 0) -> Operator:
    """Return a workload on a line or a plane of cells.

    ``queries`` and ``seed`` are for random ranges alone.

    >>> workload("prefixes", (4096,)).shape, workload("marginals", (64, 64)).shape
    ((4096, 4096), (128, 4096))
    """
    if name not in WORKLOADS:
        raise InvalidParameter(f"a workload is one of {', '.join(WORKLOADS)}, not {name!r}.")
    if len(sizes) not in (1, 2):
        raise InvalidParameter(f"a benchmark is on a line or a plane of cells, got {len(sizes)} dimensions.")
    made = Ranges.random(sizes, queries, seed=seed) if name == "ranges" else WORKLOADS[name](sizes)
    if made.shape[0] > MOST:
        raise InvalidParameter(
            f"the workload {name!r} on {' x '.join(map(str, sizes))} cells has {made.shape[0]} queries, more than "
            f"{MOST}. Take 'ranges', or a smaller domain."
        )
    return made


def _of_sides(kind: Callable[..., Operator]) -> Callable[[Sizes], Operator]:
    def make(sizes: Sizes) -> Operator:
        sides = tuple(kind(size=side) for side in sizes)
        return sides[0] if len(sides) == 1 else Kronecker(of=sides)

    return make


def _marginals(sizes: Sizes) -> Operator:
    if len(sizes) == 1:
        raise InvalidParameter("marginals are sums of rows and columns of a plane; a line has none. Take 'cells'.")
    return Marginals.of_order(sizes, 1)


WORKLOADS: dict[str, Callable[[Sizes], Operator]] = {
    "ranges": lambda sizes: Ranges.random(sizes, 2000),
    "all ranges": _of_sides(AllRanges),
    "prefixes": _of_sides(Prefix),
    "marginals": _marginals,
    "cells": _of_sides(Identity),
}
"""Random ranges, all ranges, all that begin at the first cell, sums of rows and columns, single cells."""
