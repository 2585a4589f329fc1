"""Compositions of finite pairs with few outcomes, summed outcome by outcome: no lattice, and so no width of a cell.

Eight different releases by randomised response have 256 outcomes. Their delta is a sum over these, which is what the
exact composition of Murtagh and Vadhan (TCC 2016) computes: its time is exponential in the number of different
releases, and short where there are few.

Each loss and each mass is known up to ``RELATIVE_ERROR``, which is carried as in ``direction``.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting.numerical.pairs import RELATIVE_ERROR, Atoms, Floats, Pair
from discreet.exact import smallest

__all__ = ["Outcomes"]

MOST_OUTCOMES, MOST_COPIES = 1 << 14, 64
UNIT = 2.0**-53


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The loss and the mass under P of each outcome, in one direction, with what they may be off by."""

    losses: Floats
    mass: Floats
    moved: float
    relative: float

    @classmethod
    def of(cls, pairs: tuple[tuple[Pair, int], ...]) -> "Outcomes | None":
        """Return all outcomes of a composition; None if they are too many, or not finitely many."""
        copies = sum(count for _, count in pairs)
        if copies > MOST_COPIES or not all(isinstance(pair, Atoms) for pair, _ in pairs):
            return None
        losses, mass = np.zeros(1), np.ones(1)
        moved, relative = 2 * copies * RELATIVE_ERROR, math.expm1(copies * RELATIVE_ERROR) + 1e-12
        for pair, count in pairs:
            assert isinstance(pair, Atoms)  # noqa: S101 - all of them are
            there = pair.p > 0
            size = int(np.count_nonzero(there))
            if losses.size * math.comb(count + size - 1, count) > MOST_OUTCOMES:
                return None
            one, p = pair.losses[there], pair.p[there]
            if count > 1:
                reach = 2 * math.lgamma(count + 1) + count * float(np.abs(np.log(p)).max())
                one, p = _repeated(one, p, count)
                relative += 16 * UNIT * reach
            losses, mass = np.add.outer(losses, one).ravel(), np.multiply.outer(mass, p).ravel()
            moved += 8 * UNIT * copies * float(np.abs(one).max())
        return cls(losses, mass, moved, relative)

    def delta(self, epsilon: float, side: Literal["upper", "lower"]) -> float:
        """Return a bound on ``E (1 - e^(epsilon - L))_+``."""
        sign = 1 if side == "upper" else -1
        excess = self.losses - epsilon + sign * (self.moved + 4 * UNIT * abs(epsilon))
        over = excess > 0
        found = float(np.dot(self.mass[over], -np.expm1(-excess[over])))
        return min(1.0, max(0.0, found * (1 + sign * self.relative) + sign * 1e-300))

    def epsilon(self, delta: float, side: Literal["upper", "lower"]) -> float:
        """Return a bound on the smallest epsilon with that delta."""
        top = max(0.0, float(self.losses.max())) * (1 + 8 * UNIT) + 2 * self.moved
        found = smallest(lambda epsilon: self.delta(epsilon, side) <= delta, top)
        if side == "upper":  # what float64 cannot hold is left out, so that the largest loss is no bound by itself
            return found if self.delta(found, side) <= delta else math.inf
        below = found * (1 - 1e-12)
        return below if self.delta(below, side) > delta else 0.0


def _repeated(losses: Floats, mass: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the sums of so many losses and their masses, by how often each loss occurs among them."""
    left: npt.NDArray[np.int64] = np.full(1, count, dtype=np.int64)
    columns: list[npt.NDArray[np.int64]] = []
    for _ in range(losses.size - 1):
        rows = np.repeat(np.arange(left.size), left + 1)
        used = np.arange(rows.size) - np.repeat(np.cumsum(left + 1) - (left + 1), left + 1)
        columns = [*(column[rows] for column in columns), used]
        left = left[rows] - used
    ways = np.column_stack([*columns, left])
    factorials = np.array([math.lgamma(k + 1) for k in range(count + 1)])
    logs = factorials[count] - factorials[ways].sum(axis=1) + ways @ np.log(mass)
    return ways @ losses, np.exp(logs)
