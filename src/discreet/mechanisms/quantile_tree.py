"""All quantiles at once: a tree of noisy weights over a public grid.

Hay, Rastogi, Miklau and Suciu, "Boosting the Accuracy of Differentially Private Histograms Through Consistency",
VLDB 2010. The grid has ``branching ** levels`` leaves; level l holds the weights of its ``branching ** l`` parts, and
every one of them gets noise. Whatever is read from the noisy tree afterwards costs nothing.

A unit spreads a weight of at most ``unit``, none of it negative, over the leaves, and each level holds all of it. So
between add_remove neighbours a level moves by a vector of L1 norm at most ``unit``, and then of squared L2 norm at
most ``unit ** 2``, both attained by a unit in one leaf. Between replace_one neighbours it moves by the difference of
two such vectors, none of them negative, so by ``2 * unit`` and by ``2 * unit ** 2``, attained by a unit that moves from
one part of the first level to another. Over all levels norms and squared norms add up.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import cast

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, positive, show, up
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaps import Histogram, Int64, Whole, whole_vector
from discreet.mechanisms.interface import Records
from discreet.mechanisms.noisy_tree import NoisyTree
from discreet.mechanisms.scale import store
from discreet.mechanisms.whole import add_noise
from discreet.noise import discrete_gaussian, discrete_laplace
from discreet.units import Relation, check_relation

__all__ = ["QuantileTree", "level_weights"]

MOST_LEAVES = 1 << 24
HEAVIEST = 1 << 62
LIMB = 31


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QuantileTree(Faces):
    """Release a noisy tree of weights, from which any quantile and rank is read.

    Satisfies ``epsilon``-DP by integer Laplace noise, or the guarantee of discrete Gaussian noise if given by ``rho``
    (zCDP) or ``sigma``, whenever a unit adds weights of at most ``unit`` in all, none of them negative. Leaves outside
    the grid are clamped to it, and weights to what 64 bits hold together; nothing is refused for what it holds.

    >>> tree = QuantileTree(branching=16, levels=3, epsilon=1, relation="add_remove")
    >>> noisy = tree.release(np.arange(4096), np.full(4096, 10))
    >>> bool(abs(noisy.quantile(0.5) - 2048) < 100)
    True
    >>> low, high = noisy.interval(0.5, 0.95)
    >>> bool(low < high)
    True
    """

    branching: int
    levels: int
    relation: Relation
    epsilon: Real | None = None
    rho: Real | None = None
    sigma: Real | None = None
    unit: int = 1
    consistent: bool = True

    def __post_init__(self) -> None:
        for name, smallest in (("branching", 2), ("levels", 1), ("unit", 1)):
            exact = positive(getattr(self, name), name)
            if exact.denominator != 1 or exact < smallest:
                raise InvalidParameter(f"{name} must be a whole number of at least {smallest}, got {show(exact)}.")
            store(self, **{name: exact})
        check_relation(self.relation)
        if not isinstance(self.consistent, bool):
            raise InvalidParameter(f"consistent must be True or False, got {type(self.consistent).__name__}.")
        if self.levels * self.branching.bit_length() > 64 or self.leaves > MOST_LEAVES:
            raise InvalidParameter(f"a tree has at most {MOST_LEAVES} leaves; take fewer levels or a coarser grid.")
        given = {"epsilon": self.epsilon, "rho": self.rho, "sigma": self.sigma}
        if sum(value is not None for value in given.values()) != 1:
            raise InvalidParameter(
                "QuantileTree takes one of epsilon=, rho= and sigma=: how much noise shall there be?"
            )
        for name, value in given.items():
            if value is not None:
                positive(value, name)
                store(self, **{name: value})

    def __repr__(self) -> str:
        given = {"epsilon": self.epsilon, "rho": self.rho, "sigma": self.sigma}
        noise = next(f"{name}={show(value)}" for name, value in given.items() if value is not None)
        more = f", unit={self.unit}" if self.unit > 1 else ""
        more += "" if self.consistent else ", consistent=False"
        return (
            f"QuantileTree(branching={self.branching}, levels={self.levels}, relation={self.relation!r}, {noise}{more})"
        )

    @property
    def leaves(self) -> int:
        """How many cells the grid has."""
        return int(self.branching**self.levels)

    @property
    def domain(self) -> Records:
        """Units with weights in leaves, which are clamped to the grid."""
        return Records(relation=self.relation, bounds=(0, self.leaves - 1))

    @property
    def sensitivity(self) -> int:
        """The L1 norm of what a unit changes in the whole tree."""
        return self.levels * self.unit * (2 if self.relation == "replace_one" else 1)

    @property
    def squared_sensitivity(self) -> int:
        """The squared L2 norm of what a unit changes in the whole tree."""
        return self.levels * self.unit**2 * (2 if self.relation == "replace_one" else 1)

    @property
    def noise(self) -> tuple[str, Real]:
        """The law of the noise of each node, "laplace" or "gaussian", and its scale or sigma.

        A sigma that comes from rho is rounded up to a float.
        """
        if self.epsilon is not None:
            return "laplace", self.sensitivity / Fraction(self.epsilon)
        if self.sigma is not None:
            return "gaussian", self.sigma
        assert self.rho is not None  # noqa: S101 - one of three was given
        square = self.squared_sensitivity / (2 * Fraction(self.rho))
        return "gaussian", up(lambda: ball(square).sqrt())

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise on all nodes together."""
        law, size = self.noise
        if law == "laplace":
            return PrivacyLoss.discrete_laplace(sensitivity=self.sensitivity, scale=size).under(self.relation)
        return PrivacyLoss.discrete_gaussian(
            squared_sensitivity=self.squared_sensitivity, sigma_squared=Fraction(size) ** 2
        ).under(self.relation)

    def release(self, cells: Whole | Histogram | Int64, weights: Whole | None = None, /) -> NoisyTree:
        """Return a noisy tree of leaves and their weights, of one pair of them, or of an array of all weights.

        A two-dimensional array has one row for each group, and so has what is read from the tree; a unit in k groups
        pays k times.
        """
        law, size = self.noise
        draw = partial(discrete_laplace if law == "laplace" else discrete_gaussian, size)
        exact = level_weights(self._leaf_weights(cells, weights), self.branching, self.levels)
        noisy = tuple(add_noise(level, draw, "QuantileTree") for level in exact)
        return NoisyTree(nodes=noisy, law=law, size=float(size), consistent=self.consistent)

    def worst_case(self) -> tuple[Histogram, Histogram]:
        """A unit in the first leaf, which is gone, or in the last leaf, on the other side."""
        one: Histogram = ([0], [self.unit])
        return one, (([], []) if self.relation == "add_remove" else ([self.leaves - 1], [self.unit]))

    def _leaf_weights(self, cells: Whole | Histogram | Int64, weights: Whole | None) -> Int64:
        """Return the weights of all leaves; clamping a sum moves it by no more than it moved itself."""
        most = HEAVIEST // self.leaves
        if weights is None and isinstance(cells, np.ndarray):
            if cells.ndim not in (1, 2) or cells.shape[-1] != self.leaves:
                raise InvalidInput(f"an array of weights has {self.leaves} columns, one for each leaf.")
            return np.clip(whole_vector(cells.reshape(-1)), 0, most).reshape(cells.shape)
        if weights is None:
            if not isinstance(cells, tuple) or len(cells) != 2:
                raise InvalidInput("give leaves and weights, one pair (leaves, weights), or an array of all weights.")
            return self._leaf_weights(*cast("Histogram", cells))
        places = np.clip(whole_vector(cells), 0, self.leaves - 1)
        counts = np.clip(whole_vector(weights), 0, most)
        if places.size != counts.size:
            raise InvalidInput("a histogram has as many weights as leaves.")
        high, low = np.zeros(self.leaves, dtype=np.int64), np.zeros(self.leaves, dtype=np.int64)
        np.add.at(high, places, counts >> LIMB)
        np.add.at(low, places, counts & ((1 << LIMB) - 1))
        high = np.minimum(high + (low >> LIMB), (most >> LIMB) + 1)
        return np.minimum((high << LIMB) + (low & ((1 << LIMB) - 1)), most)


def level_weights(leaves: Int64, branching: int, levels: int) -> list[npt.NDArray[np.int64]]:
    """Return the exact weights of each level, from the parts of the root down to the leaves.

    >>> [level.tolist() for level in level_weights(np.array([1, 2, 3, 4]), 2, 2)]
    [[3, 7], [1, 2, 3, 4]]
    """
    rows = leaves.shape[:-1]
    return [
        leaves.reshape(*rows, branching**level, branching ** (levels - level)).sum(axis=-1)
        for level in range(1, levels + 1)
    ]
