"""How many rows lie below each edge of a fine grid, in one release with one error that holds at all edges.

See ``discreet.mechanisms.TreeCDF`` for the tree and its error. A unit has up to m records, each of which counts in one
cell or nowhere, so it adds weights of at most m in all, none of them negative, to the leaves. By
``discreet.mechanisms.QuantileTree`` a level of the tree then moves by a vector of L1 norm at most m and of squared L2
norm at most m^2, and by twice as much where records are replaced; over all levels both add up. The tree is that of
add_remove under either relation: under replace_one the number of counted rows is as secret as anything else, since a
row may move into what is counted or out of it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import TreeCDF
from discreet.mechanisms.tree_cdf import largest_variance
from discreet.session.adaptive import bounds_told
from discreet.session.joint import Budgeted, Counted, Joint, Made, around, coded
from discreet.tables.fine import Fine

__all__ = ["JointCdf"]

READ = (
    "Each count is of the rows below an edge, and all of them are within the stated error at once. For the rows "
    "between two edges subtract; for a quantile look up the edge. Numbers beyond the declared bounds count at the "
    "ends. Counts are real numbers: round them last."
)


@dataclass(frozen=True)
class JointCdf(Joint):
    """Counts of rows below the edges of a grid.

    Satisfies ``cost.epsilon``-DP, or ``cost.rho``-zCDP, under ``cost.relation`` whenever a unit is up to
    ``cost.records`` records, each of which counts in one cell or nowhere.
    """

    names_of_keys: tuple[str, ...]
    grid: Fine
    cost: Budgeted

    def __post_init__(self) -> None:
        _ = self.mechanism  # which must exist

    @property
    def declared(self) -> tuple[range, ...]:  # type: ignore[override]
        """The places of the cells."""
        return (range(self.grid.count),)

    @property
    def mechanism(self) -> TreeCDF:
        """The tree for one record more or less, at the part of the cost with which m records cost all of it."""
        return _mechanism(self.grid.count, self.cost)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise of all nodes, where the records of a unit change."""
        cost, tree = self.cost, self.mechanism.tree
        law, size = tree.noise
        both = 2 if cost.relation == "replace_one" else 1
        if law == "laplace":
            moved = both * cost.records * tree.levels
            return PrivacyLoss.discrete_laplace(sensitivity=moved, scale=size).under(cost.relation)
        squared = both * cost.records**2 * tree.levels
        square = Fraction(size) ** 2
        return PrivacyLoss.discrete_gaussian(squared_sensitivity=squared, sigma_squared=square).under(cost.relation)

    @property
    def told(self) -> str:
        """How the counts are made, in words."""
        law, size = self.mechanism.tree.noise
        noise = "integer Laplace noise, scale" if law == "laplace" else "discrete Gaussian noise, sigma"
        return f"tree of counts below edges, {noise} {float(size):.3g}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read it."""
        return (READ,)

    @property
    def shown(self) -> tuple[str, ...]:
        """The edges."""
        (name,) = self.names_of_keys
        return (f"{name}_below",)

    @property
    def keys_told(self) -> str:
        """Which groups are shown, in words."""
        return f"public: {self.grid.count:,} edges"

    @property
    def parameters(self) -> dict[str, object]:
        """The grid, and within which bounds it lies."""
        return {"together": "cdf", "sizes": self.sizes, "bounds": bounds_told(self.names_of_keys, (self.grid,))}

    def names(self, count: str) -> tuple[str, ...]:
        """One column of counts."""
        return (count,)

    def parts(self) -> list[tuple[str, float]]:
        """All edges, of which none has a larger standard deviation."""
        law, size = self.mechanism.tree.noise
        variance = largest_variance(self.mechanism.branching, self.mechanism.tree.levels, counted=False)
        return [("all edges together", math.sqrt((2 if law == "laplace" else 1) * variance) * float(size))]

    def half_width(self, deviation: float, beta: float) -> float:
        """The error that holds at all edges at once."""
        return self.mechanism.error(beta)

    def release(self, counted: Counted, count: str, beta: float) -> Made:
        """Return one row for each edge but the first, below which nothing is."""
        cells, counts = coded(counted, self.declared)
        histogram = np.zeros(self.grid.count, dtype=np.int64)
        np.add.at(histogram, cells[:, 0], counts)
        below = self.mechanism.reveal(histogram).below[1:]
        edges = tuple(self.grid.edge(place + 1) for place in range(self.grid.count))
        errors = np.full(self.grid.count, self.mechanism.error(beta))
        return {self.shown[0]: edges}, {count: around(below, errors, self.told)}


@lru_cache(maxsize=64)
def _mechanism(size: int, cost: Budgeted) -> TreeCDF:
    both = 2 if cost.relation == "replace_one" else 1
    epsilon = None if cost.epsilon is None else cost.epsilon / (both * cost.records)
    rho = None if cost.rho is None else cost.rho / (both * cost.records**2)
    return TreeCDF(bounds=(0, size), size=size, relation="add_remove", epsilon=epsilon, rho=rho)
