"""Two social networks of invented people, of whom many are in both.

Links are drawn within circles of acquaintances and across the town, towards popular people more often than others. Each
network then holds a part of the people and a part of the links among them, so that neither is a copy of the other: the
setting of Narayanan and Shmatikov, "De-anonymizing Social Networks" (IEEE Symposium on Security and Privacy, 2009).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.datasets.distinct import distinct
from discreet.datasets.size import SEED, whole
from discreet.errors import InvalidParameter

__all__ = ["Networks", "networks"]

CIRCLE = 60
LINKS = 32
"""How many links a person has on average, before some are left out."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Links as pairs of node numbers; ``truth[i]`` is the target's node of the auxiliary's node i, or -1.

    Node numbers of the target are shuffled: they say nothing.
    """

    auxiliary: Ints
    target: Ints
    truth: Ints
    target_nodes: int

    @property
    def auxiliary_nodes(self) -> int:
        """How many nodes the auxiliary network has."""
        return len(self.truth)


def networks(people: int = 3_000, *, keep_people: float = 0.8, keep_links: float = 0.8) -> Networks:
    """Return two networks, each with a share of the people and of their links, chosen apart from the other's.

    >>> pair = networks(500)
    >>> pair.auxiliary_nodes, pair.target_nodes, int((pair.truth >= 0).sum())
    (386, 384, 297)
    """
    n = whole(people, "people", 2 * CIRCLE)
    for name, part in (("keep_people", keep_people), ("keep_links", keep_links)):
        if not 0 < part <= 1:
            raise InvalidParameter(f"{name} must be a share above 0 and at most 1, got {part!r}.")
    random = np.random.RandomState(SEED + 3)
    links = _links(random, n)
    there = random.random_sample((2, n)) < keep_people
    held = [links[(random.random_sample(len(links)) < keep_links) & side[links].all(axis=1)] for side in there]
    order = np.argsort(random.random_sample(int(there[1].sum())))
    number = np.full((2, n), -1)
    number[0, there[0]] = np.arange(there[0].sum())
    number[1, there[1]] = order
    return Networks(number[0][held[0]], number[1][held[1]], number[1][there[0]], len(order))


def _links(random: np.random.RandomState, n: int) -> Ints:
    """Draw links: two in three within a circle, the others anywhere, both towards popular people."""
    popular = np.exp(0.9 * random.standard_normal(n))
    circle = (random.random_sample(n) * (n // CIRCLE)).astype(np.int64)
    order = np.argsort(circle, kind="stable")
    edges = np.concatenate([[0.0], np.cumsum(popular[order])])
    begin = np.searchsorted(circle[order], np.arange(n // CIRCLE + 1))
    wanted = n * LINKS // 2
    one = np.searchsorted(edges[1:], random.random_sample(wanted) * edges[-1])
    near = random.random_sample(wanted) < 2 / 3
    group = circle[order][one]
    low = np.where(near, edges[begin[group]], 0.0)
    high = np.where(near, edges[begin[group + 1]], edges[-1])
    other = np.searchsorted(edges[1:], low + (high - low) * random.random_sample(wanted))
    pairs = np.sort(order[np.stack([one, np.minimum(other, n - 1)], axis=1)], axis=1)
    keys = distinct(pairs[:, 0] * n + pairs[:, 1])
    found = np.stack([keys // n, keys % n], axis=1)
    apart: Ints = found[found[:, 0] != found[:, 1]]
    return apart
