"""Bins that are small where many rows are, in one release: the engine counts in a fine grid, a tree splits it.

See ``discreet.mechanisms.PrivTree`` for the tree, what one record of one person costs, and its proof. Here a unit has
up to m records, each of which may also be counted nowhere. Changing them one after the other makes m steps, each of
which adds, removes or moves one record, and under add_remove none moves. A record that is added or removed costs the
tree of replace_one no more than one that moves: with n boxes on a path and g falling from ``1 / s``, adding one costs
``2 / s + g(decay) + ... + g((n - 2) decay)``, removing one costs ``1 / s``, and moving one costs ``3 / s + g(decay) +
... + g((n - 3) decay)``, which is no less as no term is above ``1 / s``. A count in a leaf changes by one where moving
changes two. So the tree at an m-th of epsilon satisfies epsilon-DP for the unit. Splits cost their share of it, and
the leaves change by a vector of L1 norm at most m, or 2 m where records move.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.mechanisms import PrivTree
from discreet.session.estimates import Estimates
from discreet.session.joint import Budgeted, Counted, Joint, Made, coded
from discreet.tables.fine import Fine

__all__ = ["JointTree"]

READ = (
    "Each bin holds the numbers from its lower end up to its upper one, which is in the next; numbers beyond the "
    "declared bounds are in no bin. Where the bins are depends on the data and is protected as the counts are; a count "
    "may be negative."
)


@dataclass(frozen=True)
class JointTree(Joint):
    """Counts of bins that a tree chooses.

    Satisfies ``cost.epsilon``-DP under ``cost.relation`` whenever a unit is up to ``cost.records`` records, each of
    which counts in one cell or nowhere.
    """

    names_of_keys: tuple[str, ...]
    grids: tuple[Fine, ...]
    cost: Budgeted

    def __post_init__(self) -> None:
        if self.cost.epsilon is None:
            raise InvalidParameter("a tree has Laplace noise: leave noise='gaussian' out.")
        _ = self.mechanism  # which must exist

    @property
    def declared(self) -> tuple[range, ...]:  # type: ignore[override]
        """The places of the cells."""
        return tuple(range(grid.count) for grid in self.grids)

    @property
    def mechanism(self) -> PrivTree:
        """The tree, for one record at its part of epsilon; its coordinates are places of cells."""
        assert self.cost.epsilon is not None  # noqa: S101  checked when it was made
        depth = self.grids[0].count.bit_length() - 1
        return _mechanism(self.cost.epsilon / self.cost.records, self.cost.relation, depth, len(self.grids))

    @property
    def loss(self) -> PrivacyLoss:
        """That of the splits, and that of the counts."""
        tree, records = self.mechanism, self.cost.records
        splits = PrivacyLoss.pure(records * Fraction(tree.share) * Fraction(tree.epsilon))
        moved = records * int(tree.leaves.sensitivity)
        counts = PrivacyLoss.discrete_laplace(sensitivity=moved, scale=Fraction(tree.leaves.scale))
        return (splits + counts).under(self.cost.relation)

    @property
    def told(self) -> str:
        """How the counts are made, in words."""
        return f"tree of bins, integer Laplace noise, scale {float(self.mechanism.leaves.scale):.3g}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read it."""
        return (READ,)

    @property
    def shown(self) -> tuple[str, ...]:
        """The ends of the bins, for each number."""
        return tuple(f"{name}_{end}" for name in self.names_of_keys for end in ("from", "to"))

    @property
    def keys_told(self) -> str:
        """Which groups are shown, in words."""
        return f"bins of {math.prod(self.sizes.values()):,} cells, chosen privately"

    @property
    def parameters(self) -> dict[str, object]:
        """The grid, and within which bounds it lies."""
        return {"together": "tree", "sizes": self.sizes, "bounds": bounds_told(self.names_of_keys, self.grids)}

    def names(self, count: str) -> tuple[str, ...]:
        """One column of counts."""
        return (count,)

    def parts(self) -> list[tuple[str, float]]:
        """All bins, which have the same noise."""
        return [("a bin", math.sqrt(2) * float(self.mechanism.leaves.scale))]

    def half_width(self, deviation: float, beta: float) -> float:
        """The quantile of the noise of a bin, which is exact."""
        return float(self.mechanism.error(beta))

    def release(self, counted: Counted, count: str, beta: float) -> Made:
        """Split and count; bins that hold no whole number are left out."""
        cells, counts = coded(counted, self.declared)
        made, off = self.mechanism.reveal(cells, counts), self.mechanism.error(beta)
        lows, highs = made.low.astype(int).tolist(), made.high.astype(int).tolist()
        ends = [
            [(grid.edge(a), grid.edge(b)) for grid, a, b in zip(self.grids, low, high, strict=True)]
            for low, high in zip(lows, highs, strict=True)
        ]
        kept = [row for row, box in enumerate(ends) if all(a < b for a, b in box)]
        keys = {name: tuple(ends[row][place // 2][place % 2] for row in kept) for place, name in enumerate(self.shown)}
        value = [int(made.noisy[row]) for row in kept]
        estimates = Estimates(
            value=tuple(value),
            low=tuple(one - off for one in value),
            high=tuple(one + off for one in value),
            method=self.told,
            error=off,
        )
        return keys, {count: estimates}


def bounds_told(names: tuple[str, ...], grids: tuple[Fine, ...]) -> dict[str, list[int | float]]:
    """Return the ends of the grids by name."""
    return {name: [grid.edge(0), grid.edge(grid.count)] for name, grid in zip(names, grids, strict=True)}


@lru_cache(maxsize=64)
def _mechanism(epsilon: Fraction, relation: str, depth: int, dimensions: int) -> PrivTree:
    bounds = ((0, 2**depth),) * dimensions
    return PrivTree(bounds=bounds, epsilon=epsilon, relation=relation, depth=depth)  # type: ignore[arg-type]
