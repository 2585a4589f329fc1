"""Re-identifying the nodes of a network from a few known ones: links betray who is who.

Narayanan and Shmatikov, "De-anonymizing Social Networks", IEEE Symposium on Security and Privacy, 2009. The attacker
holds another network with names and a few seeds, people known in both. From mapped neighbours the map spreads: node v
of the target scores for node u by how many neighbours of u have images among the neighbours of v, over ``sqrt(degree of
v)``. The best is taken if it stands out (``(best - second) / standard deviation > 0.5``) and if u is v's best in turn;
every round revisits what was mapped before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import plots
from discreet.auditing.attacks.percent import percent
from discreet.auditing.attacks.protection import Protection, protect
from discreet.datasets import Networks, networks
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric

__all__ = ["GraphAttack", "reidentify_graph"]

STANDS_OUT = 0.5
ROUNDS = 30
NEIGHBOURS = 2
"""One neighbour in common says nothing."""

STILL = 0.002
"""The map is done when a round changes no more than this share of it."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAttack:
    """For each number of seeds: the share of the people in both networks mapped rightly and wrongly, seeds not counted.

    ``wrong`` counts nodes mapped to another person's node, whether or not they have one of their own.
    """

    people: int
    shared: int
    links: tuple[int, int]
    seeds: tuple[int, ...]
    right: tuple[float, ...]
    wrong: tuple[float, ...]
    protection: Protection

    @property
    def enough(self) -> int | None:
        """The least number of seeds that names at least half of the people, if any does."""
        return next((count for count, share in zip(self.seeds, self.right, strict=True) if share >= 0.5), None)

    @property
    def verdict(self) -> str:
        """What the attack found, in a few sentences."""
        at = self.seeds.index(self.enough) if self.enough is not None else len(self.seeds) - 1
        right, wrong, first = percent(self.right[at]), percent(self.wrong[at]), percent(self.right[0])
        return (
            f"{self.seeds[at]} people known in both networks name {right} of the {self.shared:,} who are in both, and "
            f"{wrong} wrongly; {self.seeds[0]} known people name {first}. No name was released, only links."
        )

    def __str__(self) -> str:
        return f"{self.verdict} {self.protection}"

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of people named rightly and wrongly against the number of seeds."""
        percent = [tuple(100 * share for share in shares) for shares in (self.right, self.wrong)]
        return plots.curves(
            [
                plots.Curve(name="named rightly", xs=self.seeds, ys=percent[0], strong=True),
                plots.Curve(name="named wrongly", xs=self.seeds, ys=percent[1]),
            ],
            plots.Axis(title="people known beforehand in both networks", log=True),
            plots.Axis(title="people in both networks, percent", low=0.0, high=100.0),
            title="A few known people name the others",
            subtitle=f"two networks of {self.people:,} people in all, {self.shared:,} of them in both",
        )


def reidentify_graph(
    pair: Networks | None = None,
    *,
    seeds: Sequence[int] = (2, 4, 8, 12, 16, 24, 32),
    draws: int = 3,
    epsilon: float = 1.0,
) -> GraphAttack:
    """Spread a map from seeds over two networks, and count how many people it names.

    Seeds are drawn from the better connected half of the people in both; rates are means over ``draws`` such draws,
    which are the same on every call.

    >>> found = reidentify_graph(networks(1_000), seeds=(40,))
    >>> found.right[0] > 0.5, found.wrong[0] < 0.1
    (True, True)
    """
    both = networks() if pair is None else pair
    counts = tuple(sorted(set(seeds)))
    shared = np.flatnonzero(both.truth >= 0)
    if not counts or counts[0] < 1 or 2 * counts[-1] > len(shared) or draws < 1:
        raise InvalidParameter(f"seeds must be from 1 to half of the {len(shared)} people in both networks.")
    left = _matrix(both.auxiliary, both.auxiliary_nodes)
    right = _matrix(both.target, both.target_nodes)
    degree = np.asarray(left.sum(axis=1)).ravel()[shared]
    able = shared[np.argsort(-degree, kind="stable")[: len(shared) // 2]]
    random = np.random.RandomState(3)
    rates = np.zeros((len(counts), 2))
    for _ in range(draws):
        order = able[np.argsort(random.random_sample(len(able)))]
        for place, count in enumerate(counts):
            start = np.full(both.auxiliary_nodes, -1)
            start[order[:count]] = both.truth[order[:count]]
            found = _propagate(left, right, start)
            found[order[:count]] = -1
            hits = (found >= 0) & (found == both.truth)
            rates[place] += np.array([hits.sum(), ((found >= 0) & ~hits).sum()]) / (len(shared) - count) / draws
    return GraphAttack(
        people=both.auxiliary_nodes + both.target_nodes - len(shared),
        shared=len(shared),
        links=(len(both.auxiliary), len(both.target)),
        seeds=counts,
        right=tuple(rates[:, 0].tolist()),
        wrong=tuple(rates[:, 1].tolist()),
        protection=protect(
            Geometric(sensitivity=4, epsilon=epsilon),
            np.bincount(np.bincount(both.target.ravel(), minlength=both.target_nodes)),
            [1, 1, -1, -1],
            release="how many people have each number of links",
            what="link",
        ),
    )


def _matrix(links: Ints, nodes: int) -> Any:  # noqa: ANN401  a scipy.sparse array
    """Return the symmetric matrix of links."""
    from scipy.sparse import csr_array

    ends = np.concatenate([links, links[:, ::-1]])
    return csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))


def _propagate(left: Any, right: Any, seeds: Ints) -> Ints:  # noqa: ANN401
    """Return the map from left to right nodes, -1 where there is none; every round revisits what was mapped before."""
    from scipy.sparse import csr_array, diags_array

    roots = [diags_array(1 / np.sqrt(np.maximum(graph.sum(axis=1), 1))) for graph in (left, right)]
    fixed = np.flatnonzero(seeds >= 0)
    mapped = seeds.copy()
    for _ in range(ROUNDS):
        known = np.flatnonzero(mapped >= 0)
        through = csr_array((np.ones(len(known)), (known, mapped[known])), shape=(left.shape[0], right.shape[0]))
        shared = (left @ through @ right).tocsr()
        shared.data[shared.data < NEIGHBOURS] = 0.0
        shared.eliminate_zeros()
        forward, keen = _best((shared @ roots[1]).tocsr())
        backward, sure = _best((roots[0] @ shared).T.tocsr())
        mutual = np.flatnonzero((forward >= 0) & (keen > STANDS_OUT))
        mutual = mutual[(backward[forward[mutual]] == mutual) & (sure[forward[mutual]] > STANDS_OUT)]
        mutual = mutual[~np.isin(forward[mutual], seeds[fixed])]
        found = np.full(len(seeds), -1)
        found[mutual] = forward[mutual]
        found[fixed] = seeds[fixed]
        changed = int((found != mapped).sum())
        mapped = found
        if changed <= len(seeds) * STILL:
            break
    return mapped


def _best(scores: Any) -> tuple[Ints, Floats]:  # noqa: ANN401
    """Return each row's best column, -1 for none, and how far it stands out from the second in standard deviations."""
    rows, columns = scores.shape
    begin, data = scores.indptr, scores.data
    row = np.repeat(np.arange(rows), np.diff(begin))
    filled = np.flatnonzero(np.diff(begin))
    best, keen = np.full(rows, -1), np.zeros(rows)
    if not len(filled):
        return best, keen
    top = np.zeros(rows)
    top[filled] = np.maximum.reduceat(data, begin[filled])
    places = np.flatnonzero(data == top[row])
    _, first = np.unique(row[places], return_index=True)
    best[filled] = scores.indices[places[first]]
    others = data.copy()
    others[places[first]] = 0.0
    second = np.maximum.reduceat(others, begin[filled])
    mean = np.bincount(row, data, minlength=rows)[filled] / columns
    spread = np.sqrt(np.maximum(np.bincount(row, data**2, minlength=rows)[filled] / columns - mean**2, 1e-300))
    keen[filled] = (top[filled] - second) / spread
    return best, keen
