"""What is measured on which level, with how much noise, and what it costs.

One person lives in one leaf and lies in one cell. So on each level she is counted in one node, and in each table of
that node in one entry. Under add_remove one entry changes by 1: the squared L2 sensitivity of a table over all nodes of
a level is 1, and one person attains it for all tables at once. Under replace_one a person may leave one entry for
another: it is 2. If the level has one node and the table one entry there is no other, but she may be replaced by a
person who is counted nowhere: it is 1. Where every combination of attributes is possible, one pair of persons attains
the 2 of all tables at once. A person with up to m records changes all by m times as much at most, and attains it if
they are all alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, finite, positive, up
from discreet.mechanisms import DiscreteGaussian
from discreet.synthetic.hierarchy.cells import Cells
from discreet.synthetic.hierarchy.spine import Spine
from discreet.units import Relation

__all__ = ["Measurement", "inherited", "plan"]

Shares = Mapping[str, Mapping[str, Real]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One table, measured in all nodes of one level."""

    level: str
    query: str
    attributes: tuple[str, ...]
    rho: Fraction
    squared_sensitivity: int

    @property
    def sigma(self) -> float:
        """The noise of each entry, rounded up."""
        return up(lambda: ball(self.squared_sensitivity / (2 * self.rho)).sqrt())

    @property
    def mechanism(self) -> DiscreteGaussian:
        """What adds the noise."""
        return DiscreteGaussian(sensitivity=up(lambda: ball(self.squared_sensitivity).sqrt()), sigma=self.sigma)

    @property
    def loss(self) -> PrivacyLoss:
        """What it costs."""
        return self.mechanism.loss


def plan(
    spine: Spine,
    cells: Cells,
    queries: Mapping[str, tuple[str, ...]],
    rho: Real,
    shares: Shares | None,
    relation: Relation,
    records: int = 1,
) -> tuple[Measurement, ...]:
    """Return all measurements; a share of 0 leaves one out. Without shares all get the same."""
    total = positive(rho, "rho")
    given: Shares = {level: dict.fromkeys(queries, 1) for level in spine.levels} if shares is None else shares
    parts: dict[tuple[str, str], Fraction] = {}
    for level, by_query in given.items():
        spine.depth(level)
        for query, share in by_query.items():
            if query not in queries:
                raise InvalidParameter(
                    f"the share of {query!r} on level {level!r} is of no query; the queries are "
                    f"{', '.join(map(repr, queries))}."
                )
            part = finite(share, f"the share of {query!r} on level {level!r}")
            if part < 0:
                raise InvalidParameter(f"the share of {query!r} on level {level!r} must not be below 0.")
            if part:
                parts[level, query] = part
    if not parts:
        raise InvalidParameter("nothing is measured: give a share above 0 to some query on some level.")
    whole = sum(parts.values())
    return tuple(
        Measurement(
            level=level,
            query=query,
            attributes=queries[query],
            rho=total * parts[level, query] / whole,
            squared_sensitivity=_squared(_entries(spine, cells, level, queries[query]), relation) * records**2,
        )
        for level in spine.levels
        for query in queries
        if (level, query) in parts
    )


def inherited(spine: Spine, invariants: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...] | None, ...]:
    """Return for each level the table that is exact there: its own, or the one that it inherits from below.

    What is exact in every part is exact in the whole. A level's own table must refine what it inherits, or be refined
    by it: then one table tells both.
    """
    for level in invariants:
        spine.depth(level)
    below: tuple[str, ...] | None = None
    exact: list[tuple[str, ...] | None] = []
    for level in reversed(spine.levels):
        own = invariants.get(level)
        if own is not None and below is not None and not (set(own) <= set(below) or set(own) >= set(below)):
            raise InvalidParameter(
                f"the invariants of level {level!r} and those of the levels below it must refine one another: the "
                f"attributes {own!r} and {below!r} do not contain each other. Drop an attribute from one of them."
            )
        if own is not None and (below is None or set(own) >= set(below)):
            below = own
        exact.insert(0, below)
    return tuple(exact)


def _squared(entries: int, relation: Relation) -> int:
    """Return the squared L2 norm of the largest change: one entry gains a person, or also another loses her."""
    return 2 if relation == "replace_one" and entries > 1 else 1


def _entries(spine: Spine, cells: Cells, level: str, attributes: tuple[str, ...]) -> int:
    """Return how many numbers the table has over all nodes of the level."""
    return len(spine.nodes(level)) * (int(np.max(cells.labels(attributes))) + 1)
