"""Bins that are small where many people are: a box is halved as long as it seems to hold many.

Zhang, Xiao and Xie, "PrivTree: A Differentially Private Algorithm for Hierarchical Decompositions", SIGMOD 2016. A box
at depth i with c people has the score ``max(threshold - decay, c - i decay)``, and is split into ``2^dimensions`` equal
ones if the score plus noise is above the threshold. Since scores fall by a decay with every level, the noise need not
grow with the depth of the tree, nor is a number of splits fixed beforehand. Boxes of a public depth are never split.

The proof, for whole scores and two-sided geometric noise of scale s, ``a = e^(-1/s)``; it is sharper than the paper's.
A person who comes raises the counts on one path by one. Let y be a score less the threshold. At y = -decay or above a
node's score rises with its count, below it does not move. On the path scores fall by a decay per level, so those that
move are at least ``-decay, 0, decay, 2 decay, ...`` from the last one up. The chance to be split is ``a^(1-y) / (1 +
a)`` for y of at most 0 and ``1 - a^y / (1 + a)`` for y of at least 0; a score that rises by one raises its logarithm by

    g(y) = 1 / s  for y <= 0,  and  g(y) = log((1 + a - a^(y+1)) / (1 + a - a^y))  for y >= 0,

which does not rise in y. So a tree in which m boxes on the path are split becomes more likely by a factor of at most
the exponential of ``g(-decay) + g(0) + g(decay) + ...`` with m terms; the box that is not split makes it less likely.
It becomes less likely by a factor of ``e^(1/s)`` at most: only the box at the end of the path is less often left
unsplit. Under add_remove the larger of both is the structure's epsilon, evaluated in balls, with m up to the public
depth: at most ``2 / s`` and a series, where the paper has ``(2 + 1 / (fanout - 1)) / s``. Many people at one place
attain it. Under replace_one a person leaves one path and joins another, which share the root at least, whose count does
not change: the sum has a term less, and ``1 / s`` is added for the path that is left.

Then every leaf gets geometric noise on its count: a person is in one leaf, or moves from one to another. Both parts
add up. Coordinates are clamped to the box and rounded to its finest grid, each record by itself.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, finite, positive, probability, show, smallest, up
from discreet.mechanisms.boxes import Boxes, morton
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaps import whole_vector
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.points import as_points, on_grid
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise.fast import Floats
from discreet.units import Relation, check_relation

__all__ = ["PrivTree", "path_loss"]

Int64 = npt.NDArray[np.int64]

DEEPEST = {1: 24, 2: 16, 3: 12, 4: 10}
"""What depth is taken if none is said, for each number of dimensions."""

BITS = 60
"""A depth times the number of dimensions is at most this."""

LARGEST = 1 << 40
"""More people than there are: counts above this are taken as this, which moves none by more than it moved itself."""

MOST = 1 << 16
"""How many people are enough to show what one of them changes at worst."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PrivTree(Faces):
    """Split a public box into bins that are small where many points are, and count the points in each.

    Satisfies ``epsilon``-DP under ``relation`` whenever each person has one point; a ``share`` of epsilon is for where
    to split and the rest for the counts. ``bounds`` are the ends of the box, one pair for each of up to four
    directions; points outside are moved to its border. A box that was halved ``depth`` times is not split again.

    >>> tree = PrivTree(bounds=((0, 1), (0, 1)), epsilon=1, relation="add_remove")
    >>> tree.fanout, tree.decay, round(tree.scale, 3)
    (4, 7, 4.328)
    >>> made = tree.release(np.full((10_000, 2), 0.3))
    >>> bool(abs(made.total - 10_000) < 500), len(made) > 10
    (True, True)
    """

    bounds: tuple[tuple[Real, Real], ...]
    epsilon: Real
    relation: Relation
    depth: int = NOT_GIVEN
    share: Real = Fraction(1, 2)
    threshold: int = 0

    def __post_init__(self) -> None:
        check_relation(self.relation)
        positive(self.epsilon, "epsilon")
        probability(self.share, "share")
        store(self, epsilon=self.epsilon, share=self.share)
        object.__setattr__(self, "bounds", _checked(self.bounds))
        if self.depth is NOT_GIVEN:
            object.__setattr__(self, "depth", DEEPEST[self.dimensions])
        most = BITS // self.dimensions
        if type(self.depth) is not int or not 1 <= self.depth <= most:
            raise InvalidParameter(f"depth must be a whole number from 1 to {most} here, got {self.depth!r}.")
        if type(self.threshold) is not int or not 0 <= self.threshold <= 1 << 40:
            raise InvalidParameter(f"threshold must be a whole number from 0 to 2^40, got {self.threshold!r}.")
        _ = self.scale  # which must exist

    def __repr__(self) -> str:
        depth = "" if self.depth == DEEPEST[self.dimensions] else f", depth={self.depth}"
        share = "" if self.share == Fraction(1, 2) else f", share={show(self.share)}"
        threshold = f", threshold={self.threshold}" if self.threshold else ""
        bounds = ", ".join(f"({show(low)}, {show(high)})" for low, high in self.bounds)
        comma = "," if self.dimensions == 1 else ""
        return (
            f"PrivTree(bounds=({bounds}{comma}), epsilon={show(self.epsilon)}, relation={self.relation!r}"
            f"{depth}{share}{threshold})"
        )

    @property
    def dimensions(self) -> int:
        """How many directions there are."""
        return len(self.bounds)

    @property
    def fanout(self) -> int:
        """Into how many boxes one is split."""
        return int(2**self.dimensions)

    @property
    def scale(self) -> float:
        """The scale of the noise on each score."""
        moved = self.relation == "replace_one"
        return _scale(Fraction(self.share) * Fraction(self.epsilon), self.fanout, self.depth, moved)

    @property
    def decay(self) -> int:
        """By how much scores fall from level to level: so much that an empty box has half a child on average."""
        return _decay(self.scale, self.fanout)

    @property
    def leaves(self) -> Geometric:
        """The noise on the counts of the bins."""
        return Geometric(
            sensitivity=2 if self.relation == "replace_one" else 1,
            epsilon=(1 - Fraction(self.share)) * Fraction(self.epsilon),
        )

    @property
    def domain(self) -> Records:
        """People with one point each."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the splits, and that of the counts."""
        return (PrivacyLoss.pure(Fraction(self.share) * Fraction(self.epsilon)) + self.leaves.loss).under(self.relation)

    def error(self, beta: Real = 0.05, *, queries: int = 1) -> int:
        """Return the least t that the error of a bin's noisy count exceeds with probability ``beta`` at most.

        It is that of ``Boxes.noisy``. ``Boxes.counts`` are these without what is negative, all lowered alike by what
        that adds; how much this is depends on how many bins are nearly empty, and may be more than t.
        """
        return self.leaves.error(beta, queries=queries)

    def release(self, points: npt.ArrayLike | Iterable[object], /) -> Boxes:
        """Return bins with noisy counts; a point is a row, or a number if there is one direction.

        A record that is no point is at the lower ends.
        """
        codes = self._codes(points)
        return self._made(codes, np.arange(len(codes) + 1))

    def reveal(self, cells: npt.ArrayLike, counts: npt.ArrayLike, /) -> Boxes:
        """Return the same of people whom somebody else has counted on the finest grid; for the same loss.

        A cell is a row of places, one for each direction, from 0 to ``2^depth - 1``; others are moved there. Cells
        without anybody may be left out, and one that is there twice is one cell with the sum of its counts.
        """
        places = whole_vector(np.asarray(cells).reshape(-1))
        exact = whole_vector(np.asarray(counts))
        if places.size != exact.size * self.dimensions:
            raise InvalidInput(f"cells must be rows of {self.dimensions} places, with one count for each.")
        inside = np.clip(places.reshape(-1, self.dimensions), 0, 2**self.depth - 1)
        codes = morton(inside, self.depth)
        order = np.argsort(codes, kind="stable")
        each = np.clip(exact, 0, LARGEST)[order]
        return self._made(codes[order], np.concatenate([[0], np.cumsum(each)]))

    def split_probability(self, count: int, depth: int, /) -> float:
        """Return the probability that a box of this depth with so many people is split."""
        if depth >= self.depth:
            return 0.0
        y = max(-self.decay, count - depth * self.decay - self.threshold)
        a = math.exp(-1 / self.scale)
        return a ** (1 - y) / (1 + a) if y <= 0 else 1 - a**y / (1 + a)

    def worst_case(self) -> tuple[Floats, Floats]:
        """Many at one place and one less, or two crowds, each at an end, of which one person changes sides.

        The crowd that grows makes all boxes on its path likelier to be split, the last by as much as noise allows; the
        one that is left makes the first box of its own likelier not to be. Crowds of more than ``MOST`` people are for
        fewer boxes than ``depth``, of which those further up change less and less.
        """
        deep = min(self.depth - 2, max(0, MOST - self.threshold) // self.decay)
        grows, shrinks = self.threshold + max(0, deep) * self.decay + 1, self.threshold + self.decay + 1
        high = np.array([[float(high) for _, high in self.bounds]] * grows)
        if self.relation == "add_remove":
            return high, high[1:]
        low = np.array([[float(low) for low, _ in self.bounds]] * shrinks)
        return np.concatenate([low, high[1:]]), np.concatenate([low[1:], high])

    def _codes(self, points: object) -> Int64:
        """Return where on the finest grid each point is, in order."""
        ends = tuple((float(low), float(high)) for low, high in self.bounds)
        return np.sort(morton(on_grid(as_points(points, self.dimensions), ends, 2**self.depth), self.depth))

    def _made(self, codes: Int64, below: Int64) -> Boxes:
        """Split and count, from codes in order and the number of people before each of them, and before the end."""
        depths, places = self._split(codes, below)
        return self._counted(codes, below, depths, places)

    def _split(self, codes: Int64, below: Int64) -> tuple[Int64, Int64]:
        """Return the depths and places of all leaves, level by level."""
        noise = Geometric(sensitivity=1, scale=self.scale)
        open_, depths, places = np.zeros(1, dtype=np.int64), [], []
        for depth in range(self.depth):
            score = self._counts(codes, below, np.full(len(open_), depth), open_) - depth * self.decay
            score = np.maximum(score, self.threshold - self.decay)
            goes_on = noise.release(score) > self.threshold
            places.append(open_[~goes_on])
            depths.append(np.full(len(places[-1]), depth))
            open_ = (open_[goes_on, None] * self.fanout + np.arange(self.fanout)).reshape(-1)
        places.append(open_)
        depths.append(np.full(len(open_), self.depth))
        return np.concatenate(depths), np.concatenate(places)

    def _counted(self, codes: Int64, below: Int64, depths: Int64, places: Int64) -> Boxes:
        order = np.argsort(places << self._rest(depths), kind="stable")
        depths, places = depths[order], places[order]
        ends = tuple((float(low), float(high)) for low, high in self.bounds)
        return Boxes(ends, depths, places, self.leaves.release(self._counts(codes, below, depths, places)))

    def _counts(self, codes: Int64, below: Int64, depths: Int64, places: Int64) -> Int64:
        rest = self._rest(depths)
        return below[np.searchsorted(codes, (places + 1) << rest)] - below[np.searchsorted(codes, places << rest)]

    def _rest(self, depths: Int64) -> Int64:
        return (self.depth - depths) * self.dimensions


def path_loss(scale: Real, decay: int, nodes: int, *, moved: bool = False) -> float:
    """Return by how much the log-probability of any tree changes at most when one person comes, or ``moved``.

    ``nodes`` is how many boxes on a path may be split.

    >>> round(path_loss(3, 3, 20), 3), round((2 + 1 / (math.e - 1)) / 3, 3)
    (0.778, 0.861)
    """
    s, terms = Fraction(scale), nodes - 1 if moved else nodes

    def formula() -> arb:
        a = (-ball(1 / s)).exp()
        total = ball((min(terms, 2) + moved) / s)
        for k in range(1, terms - 1):
            power = (-ball(k * decay / s)).exp()
            total += (power * (1 - a) / (1 + a - power)).log1p()
        return total.max(ball(1 / s))

    return up(formula)


def _decay(scale: float, fanout: int) -> int:
    return max(1, math.ceil(scale * math.log(fanout)))


@lru_cache(maxsize=64)
def _scale(epsilon: Fraction, fanout: int, depth: int, moved: bool) -> float:
    def enough(scale: float) -> bool:
        return scale > 0 and path_loss(scale, _decay(scale, fanout), depth, moved=moved) <= epsilon

    found = smallest(enough)
    if not math.isfinite(found) or found > 1 << 40:
        raise InvalidParameter("epsilon is too small to split anything; take a larger one.")
    return found


def _checked(bounds: object) -> tuple[tuple[Real, Real], ...]:
    refusal = "bounds must be one to four pairs (low, high) with low below high, one for each direction."
    if not isinstance(bounds, tuple | list) or not 1 <= len(bounds) <= max(DEEPEST):
        raise InvalidParameter(refusal)
    checked: list[tuple[Real, Real]] = []
    for pair in bounds:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidParameter(refusal)
        low, high = finite(pair[0], "a bound"), finite(pair[1], "a bound")
        if not float(low) < float(high) or not math.isfinite(float(high) - float(low)):
            raise InvalidParameter(refusal)
        checked.append((pair[0], pair[1]))
    return tuple(checked)
