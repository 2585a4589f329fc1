"""What a noisy tree of weights tells: ranks, quantiles, and how sure of them one may be.

A node and its children were measured apart, so they disagree. Least squares over the whole tree, in two passes, is from
Hay, Rastogi, Miklau and Suciu, "Boosting the Accuracy of Differentially Private Histograms Through Consistency", VLDB
2010; here each part of the root is a tree of its own.

Intervals use the noise as it was drawn, before anything was made consistent. The weight below a leaf y, less p of all,
is a sum over the path to y: parts of the root, with weights ``1 - p`` left of the path and ``-p`` elsewhere, and
siblings left of the path on every level below. For a true quantile, a place that is fixed before any noise is drawn,
that sum is at most 0 at its left end and at least 0 at its right end; so a leaf whose noisy sums contradict this by
more than noise does with probability ``(1 - level) / 2`` is dropped, and those that are left hold the true one with
probability ``level``. How far a sum of noise strays is bounded by Chernoff's inequality and the moments of the law:
``P[S >= t] <= E[e^(h S)] e^(-h t)`` for every h.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from discreet.exact import Real, probability
from discreet.noise.fast import Floats

__all__ = ["NoisyTree", "consistent_weights", "log_moment"]

Nodes = tuple[npt.NDArray[np.int64], ...]

STEPS = 96
"""How many values of h are tried; each gives a valid bound."""

ROUNDING = 1 + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyTree:
    """Noisy weights of all nodes, level by level; with two dimensions, of several trees."""

    nodes: Nodes
    law: str
    size: float
    consistent: bool = True

    @property
    def branching(self) -> int:
        """How many children a node has."""
        return int(self.nodes[0].shape[-1])

    @property
    def levels(self) -> int:
        """How many levels have noise."""
        return len(self.nodes)

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int(self.nodes[-1].shape[-1])

    @property
    def weights(self) -> tuple[Floats, ...]:
        """The weights that are read: made consistent, or as they were drawn."""
        raw = tuple(level.astype(np.float64) for level in self.nodes)
        return consistent_weights(raw) if self.consistent else raw

    def total(self) -> float | Floats:
        """Return the weight of all leaves."""
        return _told(self.weights[0].sum(axis=-1))

    def rank(self, leaf: int, /) -> float | Floats:
        """Return the weight below a leaf."""
        place = min(max(int(leaf), 0), self.leaves)
        return _told(_below(self.weights)[..., place])

    def quantile(self, p: Real, /) -> float | Floats:
        """Return the place on the grid with about a share p of the weight below it; leaf i is from i to i + 1.

        Goes down from the root to the child in which the share is reached; negative weights count as 0.
        """
        share = float(probability(p, "p", zero=True, one=True))
        trees, b = math.prod(self.nodes[0].shape[:-1]), self.branching
        levels = [np.maximum(level.reshape(trees, level.shape[-1]), 0.0) for level in self.weights]
        node, part = np.zeros(trees, dtype=np.int64), np.full(trees, share)
        for level in levels:
            children = np.take_along_axis(level, node[:, None] * b + np.arange(b), axis=1)
            sums = np.cumsum(children, axis=1)
            whole = sums[:, -1:]
            even = np.arange(1, b + 1) / b  # nothing is known of how an empty node is filled
            edges = np.where(whole > 0, sums / np.where(whole > 0, whole, 1.0), even)
            edges[:, -1] = 1.0
            child = np.minimum((edges < part[:, None]).sum(axis=1), b - 1)
            right = np.take_along_axis(edges, child[:, None], axis=1)[:, 0]
            left = np.where(child > 0, np.take_along_axis(edges, np.maximum(child - 1, 0)[:, None], axis=1)[:, 0], 0.0)
            part = np.clip((part - left) / np.where(right > left, right - left, 1.0), 0.0, 1.0)
            node = node * b + child
        return _told((node + part).reshape(self.nodes[0].shape[:-1]))

    def interval(self, p: Real, level: Real = 0.95, row: float = 0.0, /) -> tuple[float | Floats, float | Floats]:
        """Return ends between which the true p-quantile of the weights lies, with probability ``level`` at least.

        True is every leaf with at most a share p of the weight below it and at most ``1 - p`` beyond, and with a weight
        of a ``row`` also those between the two rows at the rank ``p (n - 1) + 1``, as SQL takes it. If no leaf is left,
        which happens with probability ``1 - level`` at most, the ends are those of the whole grid.
        """
        share, failure = probability(p, "p", zero=True, one=True), (1 - probability(level, "level")) / 2
        raw = tuple(nodes.astype(np.float64) for nodes in self.nodes)
        sums = _below(raw) - float(share) * raw[0].sum(axis=-1, keepdims=True)
        slack = np.abs(raw[0]).sum(axis=-1, keepdims=True) * self.levels * 2.0**-48
        reach = _reach(self.law, self.size, self.branching, self.levels, share, failure) + slack
        left, right = float(1 - share) * row, float(share) * row
        possible = (sums[..., :-1] <= reach[..., :-1] + left) & (sums[..., 1:] >= -reach[..., 1:] - right)
        first, last = possible.argmax(axis=-1), self.leaves - possible[..., ::-1].argmax(axis=-1)
        some = possible.any(axis=-1)
        low = np.where(some, first, 0).astype(np.float64)
        return _told(low), _told(np.where(some, last, self.leaves).astype(np.float64))


@lru_cache(maxsize=64)
def _reach(law: str, size: float, b: int, levels: int, share: Fraction, failure: Fraction) -> Floats:
    """Return for each boundary of leaves how far the noise of its sum strays with probability ``failure``."""
    p = float(share)
    first, below = _digits(b, levels)
    # A sum has the noise of `first` parts of the root with weight 1 - p, of the others with -p, and of `below`
    # siblings further down; which ones does not matter, so few of them differ.
    heads, tails = np.arange(b + 1)[:, None, None], np.arange(int(below.max()) + 1)[None, :, None]
    h = _steps(law, size, failure, b * levels)
    logs = heads * log_moment(law, size, (1 - p) * h) + (b - heads) * log_moment(law, size, p * h)
    logs = logs + tails * log_moment(law, size, h)
    table = ((logs - math.log(failure)) / h).min(axis=-1) * ROUNDING
    reach: Floats = table[first, below]
    reach.flags.writeable = False
    return reach


def _steps(law: str, size: float, failure: Fraction, terms: int) -> Floats:
    """Return values of h around those that are best for one and for all terms."""
    spread = math.sqrt(-2 * math.log(failure))
    if law == "gaussian":
        return np.geomspace(spread / (size * math.sqrt(terms) * 2), spread / size * 100, STEPS)
    return np.geomspace(1 / (size * terms * 4), (1 - 1e-6) / size, STEPS)


def log_moment(law: str, size: float, h: Floats) -> Floats:
    """Return ``log E[e^(h Z)]`` for 0 <= h, in the Laplace case below 1 / scale; for Gaussian noise a bound.

    Discrete Gaussian noise is sub-Gaussian with its sigma (Canonne, Kamath and Steinke, NeurIPS 2020), because no shift
    of ``exp(-z^2 / (2 sigma^2))`` sums to more. With ``a = exp(-1 / scale)`` the moment of the other is
    ``(1 - a)^2 / ((1 - a e^h) (1 - a e^-h))``.

    >>> log_moment("gaussian", 2.0, np.array([1.0])).tolist()
    [2.0]
    """
    if law == "gaussian":
        return (h * size) ** 2 / 2
    r = 1 / size
    moment: Floats = 2 * np.log(-np.expm1(-r)) - np.log(-np.expm1(h - r)) - np.log(-np.expm1(-h - r))
    return moment


def consistent_weights(levels: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """Return the weights closest to the noisy ones among those in which every node is the sum of its children.

    >>> [level.tolist() for level in consistent_weights((np.array([3.0, 7.0]), np.array([1.0, 1.0, 3.0, 4.0])))]
    [[2.66666..., 7.0], [1.3333..., 1.3333..., 3.0, 4.0]]
    """
    b = levels[0].shape[-1]
    up = [levels[-1]]
    for height, level in enumerate(reversed(levels[:-1]), start=2):
        own = (b**height - b ** (height - 1)) / (b**height - 1)
        up.append(own * level + (1 - own) * _children(up[-1], b).sum(axis=-1))
    down = [up[-1]]
    for level in reversed(up[:-1]):
        children = _children(level, b)
        missing = (down[-1] - children.sum(axis=-1)) / b
        down.append((children + missing[..., None]).reshape(level.shape))
    return tuple(down)


def _children(level: Floats, branching: int) -> Floats:
    return level.reshape(*level.shape[:-1], level.shape[-1] // branching, branching)


def _below(levels: tuple[Floats, ...]) -> Floats:
    """Return the weight below each boundary of leaves, from the largest nodes that make it up."""
    b = levels[0].shape[-1]
    starts: Floats = np.zeros((*levels[0].shape[:-1], 1))
    for level in levels:
        children = _children(level, b)
        before = np.cumsum(children, axis=-1) - children
        starts = (starts[..., None] + before).reshape(level.shape)
    return np.concatenate([starts, levels[0].sum(axis=-1, keepdims=True)], axis=-1)


def _digits(branching: int, levels: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for each boundary how many parts of the root lie left of it, and how many siblings further down."""
    first, below = np.arange(branching), np.zeros(branching, dtype=np.int64)
    for _ in range(levels - 1):
        first = np.repeat(first, branching)
        below = (below[:, None] + np.arange(branching)).reshape(-1)
    return np.append(first, branching), np.append(below, 0)


def _told(value: npt.NDArray[np.float64] | np.float64) -> float | Floats:
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
