"""How many people are below each point of a public grid: one noisy tree, all points at once.

Hay, Rastogi, Miklau and Suciu, "Boosting the Accuracy of Differentially Private Histograms Through Consistency", VLDB
2010; for the monotone step Barlow and others, "Statistical Inference under Order Restrictions", 1972. Noise goes on all
nodes of a tree over the cells (see ``QuantileTree``, which knows what one person changes in it), least squares makes
the nodes agree, and the sums below each edge of a cell are made monotone. Under replace_one the number of people does
not change between neighbours; it is public, and taken as it is.

Errors are known before any data, and hold at all edges together. Least squares is linear, so the error at an edge is a
sum of noise with known weights w. Let ``v_1 = 1`` and ``v_k = b v_(k-1) / (1 + b v_(k-1))`` be the variances of what a
tree of branching b and k levels tells of its own root, in units of the noise. Where the value R of a root is given, the
estimate of what lies below a point in its tree is ``A R + E``, A being the share of leaves below the point; E is
uncorrelated with what the tree tells of its root, and one level deeper, with d children wholly below the point,

    Var E_k = v_(k-1) (d + A'^2 - (d + A')^2 / b) + Var E_(k-1),

all primes being those of the child that holds the point. So the sum of all ``w^2``, at most V over all edges, is known.
No weight is above 1 in size: what a tree tells of its root has a weight ``1 - v_k <= 1 / b`` for what its children
tell, and a child's share less the mean of all b is at most ``1 - 1 / b``; ``(1 - 1 / b) (1 + 1 / b + ...)`` is 1. The
log-moment psi of the noise has a power series in h^2 without negative terms, so ``psi(h w) <= w^2 psi(h)``, and by
Chernoff's inequality an error above t has a probability of at most ``exp(V psi(h) - h t)`` for every h, on each side of
each edge. Neither a running maximum nor a running minimum, nor their mean, has a larger error than the largest of all.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, finite, positive, probability, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaps import Int64, whole_vector
from discreet.mechanisms.interface import Records
from discreet.mechanisms.noisy_cdf import NoisyCDF
from discreet.mechanisms.noisy_tree import consistent_weights, log_moment
from discreet.mechanisms.points import as_points, on_grid
from discreet.mechanisms.quantile_tree import QuantileTree
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise.fast import Floats
from discreet.units import Relation, check_relation

__all__ = ["TreeCDF", "largest_variance"]

MOST_CELLS = 1 << 24
BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 64)
CHUNK = 1 << 16
STEPS = 200
LIMB = 31


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TreeCDF(Faces):
    """Tell how many people are below each point of a grid of ``size`` cells between two public bounds.

    Satisfies ``epsilon``-DP by integer Laplace noise, or ``rho``-zCDP by discrete Gaussian noise, under ``relation``,
    whenever each person has one value; values outside the bounds are moved to them. ``branching`` is the best one for
    the size if it is not said.

    >>> ages = TreeCDF(bounds=(0, 128), size=1024, epsilon=1, relation="replace_one")
    >>> found = ages.release(np.arange(100_000) % 80)
    >>> bool(abs(found.quantile(0.5) - 40) < 1), bool(abs(found.cdf(20) - 0.25) < 0.01)
    (True, True)
    >>> bool(np.abs(found.bins(4) - [0, 20, 40, 60, 128]).max() < 2)
    True
    >>> TreeCDF(bounds=(0, 1), size=4096, epsilon=1, relation="add_remove").error(0.05) < 200
    True
    """

    bounds: tuple[Real, Real]
    size: int
    relation: Relation
    epsilon: Real | None = None
    rho: Real | None = None
    branching: int = NOT_GIVEN

    def __post_init__(self) -> None:
        check_relation(self.relation)
        object.__setattr__(self, "bounds", _checked(self.bounds))
        if type(self.size) is not int or not 1 <= self.size <= MOST_CELLS:
            raise InvalidParameter(f"size must be a whole number of cells from 1 to 2^24, got {self.size!r}.")
        if (self.epsilon is None) == (self.rho is None):
            raise InvalidParameter("TreeCDF takes epsilon= or rho=: how much noise shall there be?")
        store(self, epsilon=self.epsilon, rho=self.rho)
        for name in ("epsilon", "rho"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)
        if self.branching is NOT_GIVEN:
            object.__setattr__(self, "branching", _best(self.size, self.relation, self.rho is None))
        if type(self.branching) is not int or self.branching < 2:
            raise InvalidParameter(f"branching must be a whole number of at least 2, got {self.branching!r}.")
        _ = self.tree  # which must exist

    def __repr__(self) -> str:
        bounds = f"({show(self.bounds[0])}, {show(self.bounds[1])})"
        given = f"epsilon={show(self.epsilon)}" if self.epsilon is not None else f"rho={show(self.rho or 0)}"
        return (
            f"TreeCDF(bounds={bounds}, size={self.size}, relation={self.relation!r}, {given}, "
            f"branching={self.branching})"
        )

    @property
    def tree(self) -> QuantileTree:
        """The tree that is measured, whose leaves are the cells and some empty ones."""
        levels = _levels(self.size, self.branching)
        return QuantileTree(
            branching=self.branching, levels=levels, relation=self.relation, epsilon=self.epsilon, rho=self.rho
        )

    @property
    def domain(self) -> Records:
        """People with one value each."""
        return Records(relation=self.relation, bounds=self.bounds)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the tree."""
        return self.tree.loss

    def error(self, beta: Real = 0.05) -> float:
        """Return a t that the error of the number of people below an edge exceeds with probability ``beta`` at most.

        It holds for all edges of cells together, wherever people are. What float64 rounds off comes on top; that is
        less than one person where the number of people times ``size`` is at most ``2^48``, and may be much beyond.
        """
        law, size = self.tree.noise
        most = largest_variance(self.branching, self.tree.levels, counted=self.relation == "replace_one")
        return _reach(most, law, float(size), float(probability(beta, "beta")) / (2 * self.size))

    def release(self, values: npt.ArrayLike | Iterable[object], /) -> NoisyCDF:
        """Return how many people are below each point, from one number for each; what is none is at the lower end."""
        cells = on_grid(as_points(values, 1), (self._ends(),), self.size)
        return self._estimated(np.bincount(cells[:, 0], minlength=self.size))

    def reveal(self, counts: npt.ArrayLike, /) -> NoisyCDF:
        """Return the same of people whom somebody else has counted: one whole number for each cell."""
        exact = whole_vector(counts if isinstance(counts, np.ndarray) else list(np.asarray(counts, dtype=object)))
        if exact.size != self.size:
            raise InvalidInput(f"counts must be {self.size} whole numbers, one for each cell.")
        return self._estimated(np.maximum(exact, 0))

    def worst_case(self) -> tuple[Floats, Floats]:
        """Somebody at the lower end, who is gone, or is at the upper end."""
        low, high = np.array([float(self.bounds[0])]), np.array([float(self.bounds[1])])
        return low, (low[:0] if self.relation == "add_remove" else high)

    def _estimated(self, counts: Int64) -> NoisyCDF:
        leaves = np.zeros(self.tree.leaves, dtype=np.int64)
        leaves[: self.size] = counts
        nodes = self.tree.release(leaves).nodes
        cells = consistent_weights(tuple(level.astype(np.float64) for level in nodes))[-1]
        below = np.concatenate([[0.0], np.cumsum(cells)])
        if self.relation == "replace_one":
            total = (int((counts >> LIMB).sum()) << LIMB) + int((counts & ((1 << LIMB) - 1)).sum())
            below += (total - below[-1]) * (np.arange(below.size) / (below.size - 1))
            return NoisyCDF.monotone(self._ends(), below[: self.size + 1], float(total))
        return NoisyCDF.monotone(self._ends(), below[: self.size + 1])

    def _ends(self) -> tuple[float, float]:
        return float(self.bounds[0]), float(self.bounds[1])


@lru_cache(maxsize=256)
def largest_variance(branching: int, levels: int, *, counted: bool) -> float:
    """Return the largest variance of a sum below an edge by least squares, in units of that of the noise; rounded up.

    With ``counted`` the number of all is known. The upper levels are looked at exactly, up to ``CHUNK`` edges; what the
    lower ones add is largest at the same point at worst.

    >>> round(largest_variance(2, 1, counted=True), 6), round(largest_variance(2, 2, counted=False), 6)
    (0.5, 1.333333)
    """
    told = [1.0]
    for _ in range(levels - 1):
        told.append(branching * told[-1] / (1 + branching * told[-1]))
    heights, total = told[::-1], 0.0
    while heights:
        many = max(1, int(math.log(CHUNK) / math.log(branching)))
        upper, heights, first = heights[:many], heights[many:], len(heights) == levels
        spread = np.zeros(1)
        for i in range(len(upper) - 1, -1, -1):
            share = np.arange(spread.size) / spread.size
            children = np.arange(branching + 1 if i == 0 else branching)[:, None]
            free = first and i == 0 and not counted
            sums = children + share**2 - (0.0 if free else (children + share) ** 2 / branching)
            spread = (upper[i] * sums + spread).reshape(-1)
            if i == 0:
                spread = spread[: spread.size // (branching + 1) * branching + 1]
        total += float(spread.max())
    return total * (1 + 1e-9)


def _levels(size: int, branching: int) -> int:
    levels, leaves = 1, branching
    while leaves < size:
        levels, leaves = levels + 1, leaves * branching
    return levels


@lru_cache(maxsize=256)
def _best(size: int, relation: Relation, pure: bool) -> int:
    """Return the branching of the least error, for noise that is not small."""

    def error(branching: int) -> float:
        levels = _levels(size, branching)
        most = largest_variance(branching, levels, counted=relation == "replace_one")
        noise = ("laplace", 100.0 * levels) if pure else ("gaussian", math.sqrt(levels))
        return _reach(most, *noise, 0.05 / (2 * size))

    return min((b for b in BRANCHINGS if b ** _levels(size, b) <= MOST_CELLS), key=error)


def _reach(variance: float, law: str, noise: float, failure: float) -> float:
    """Return how far a weighted sum of noise strays on one side with this probability at most, by Chernoff's bound."""
    far = -math.log(failure)
    if law == "gaussian":
        return noise * math.sqrt(2 * variance * far) * (1 + 1e-9)
    h = np.geomspace(1e-4, 1 - 1e-6, STEPS) / noise
    return float(((variance * log_moment(law, noise, h) + far) / h).min()) * (1 + 1e-9)


def _checked(bounds: object) -> tuple[Real, Real]:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InvalidParameter("bounds must be a pair (low, high).")
    low, high = finite(bounds[0], "a bound"), finite(bounds[1], "a bound")
    if not float(low) < float(high) or not math.isfinite(float(high) - float(low)):
        raise InvalidParameter("the lower bound must be below the upper one.")
    return bounds[0], bounds[1]
