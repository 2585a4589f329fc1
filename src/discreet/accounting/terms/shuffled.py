"""Local reports that lose their senders: each of n people sends one epsilon0-DP report, someone trusted shuffles them.

Feldman, McMillan and Talwar, FOCS 2021 ("Hiding Among the Clones"), Theorem 3.2. Let R be the randomiser and let the
attacked person hold x0 or x1. Two laws that are epsilon0-close are mixtures of the same two, Q0 and Q1, with weights
``p = e^epsilon0 / (1 + e^epsilon0)`` and ``1 - p``, exchanged. Everyone else's law is at least ``e^-epsilon0`` times
either, so with probability ``e^-epsilon0`` their report is a clone, drawn from Q0 or Q1 by a fair coin. All that tells
is how many reports come from Q0 and from Q1:

    C ~ Bin(n - 1, e^-epsilon0),  A ~ Bin(C, 1/2),  d ~ Bernoulli(p),
    (A + d, C - A + 1 - d)  against  (A + 1 - d, C - A + d).

Given C = c, the loss of ``x = A + d`` is ``log((p x + (1 - p) y) / ((1 - p) x + p y))`` with ``y = c + 1 - x``, and its
P-mass ``2^-c C(c + 1, x) (p x + (1 - p) y) / (c + 1)``. Four things are rounded, all to the worse:

- a clone more is post-processing, so C may be rounded down: in blocks, and to none at all where it is very unlikely;
- where x is very unlikely, the whole (symmetric) event is replaced by randomised response with epsilon0, which
  dominates what it was;
- where losses are too many they are gathered on fewer, as a polygon through the profile;
- probabilities come from products of ratios in float64; both laws are multiplied by one plus the error this can have.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.accounting.numerical.pairs import Atoms, Floats
from discreet.accounting.terms.base import Term
from discreet.accounting.terms.pure import Pure, pure_rho, response_pair
from discreet.errors import InvalidParameter
from discreet.exact import ball, enclose

__all__ = ["Shuffled"]

MOST = 10**8
"""Reports beyond this gain nothing more."""

BLOCKS = 160
"""Counts of clones that are told apart where there are many: one more moves epsilon by less than a part in 10^4."""

SPREAD = 10**6
"""Of more clones than this the likely counts lie so close together that fewer blocks tell them apart as well."""

FEWEST = 16

LISTED = 1 << 14
"""Losses up to so many are kept one by one."""

UNLIKELY = 1e-45
"""Beside the most likely value."""

LARGEST = 700.0
"""Local epsilons beyond this leave no clones: a single report dominates any number of them."""

SMALLEST_ORDER = 1.01
UNIT = 2.0**-53


@dataclass(frozen=True, slots=True)
class Shuffled:
    """``users`` shuffled reports of one and the same ``epsilon``-DP randomiser, to which the next may be adapted."""

    epsilon: Fraction
    users: int
    kind: ClassVar[str] = "shuffled"
    attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.users < 1:
            raise InvalidParameter("shuffled reports have at least one sender.")

    @property
    def pure(self) -> Fraction:
        """That of a single report: all others may be known."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """That of any pure mechanism."""
        return pure_rho(self.epsilon)

    def delta(self, epsilon: Fraction, /) -> float:
        """The sum over clones and reports."""
        if epsilon >= self.epsilon:
            return 0.0
        atoms, at = self.pair(), math.nextafter(float(epsilon), -math.inf)
        excess = atoms.losses - at + (np.abs(atoms.losses) + abs(at)) * 2.0**-50
        seen = excess > 0
        gained = float(np.dot(atoms.p[seen], -np.expm1(-excess[seen])))
        return min(1.0, gained * (1 + atoms.p.size * 2 * UNIT))

    def renyi(self, alpha: Fraction, /) -> float:
        """The moment of the same sum; orders next to 1 are answered by one a little larger."""
        if not self.epsilon:
            return 0.0
        a, atoms = max(float(alpha) * (1 + 2 * UNIT), SMALLEST_ORDER), self.pair()
        exponents = (a - 1) * atoms.losses
        top = float(exponents.max())
        total = top + math.log(float(np.dot(atoms.p, np.exp(np.maximum(exponents - top, -LARGEST)))))
        slack = (atoms.p.size + 16 + 8 * abs(top)) * 2 * UNIT
        return max(0.0, total + slack) / (a - 1) * (1 + 8 * UNIT)

    def pair(self) -> Atoms:
        """The reduction to clones."""
        return (
            _clones(self.epsilon, min(self.users, MOST)) if self.epsilon < LARGEST else response_pair(self.epsilon, 2)
        )

    def group(self, size: int, /) -> Term:
        """Pure losses add up along the chain."""
        return self if size == 1 else Pure(size * self.epsilon)


@lru_cache(maxsize=8)
def _clones(epsilon: Fraction, users: int) -> Atoms:
    e = float(epsilon)
    chance = math.exp(-e)
    counts, weights, steps = _around_mode(users - 1, chance, epsilon)
    expected = max(SPREAD, users * chance)
    starts = _blocks(weights, max(FEWEST, math.ceil(BLOCKS * math.sqrt(SPREAD / expected))))
    masses = np.add.reduceat(weights, starts)
    parts = [_given(int(c), e, float(w)) for c, w in zip(counts[starts], masses, strict=True)]
    longest = max(part[3] for part in parts)
    lost = UNLIKELY * (users + sum(part[2] for part in parts))
    response = 1 / (1 + chance)
    ends = np.array([-e, e]), np.array([lost * (1 - response), lost * response])
    losses, p = (np.concatenate([*(part[i] for part in parts), ends[i]]) for i in (0, 1))
    p *= 1 + (steps + longest + 64) * 8 * UNIT
    if losses.size <= LISTED:
        order = np.argsort(losses, kind="stable")
        return Atoms(losses[order], p[order], (p * np.exp(-losses))[order])
    likely = parts[int(np.argmax(masses))][0]
    return _gathered(losses, p, e, min(float(np.max(np.abs(likely))), e))


def _gathered(losses: Floats, p: Floats, e: float, reach: float) -> Atoms:
    """Return fewer atoms that dominate: the masses of each cell are moved to its ends so that P and Q keep theirs."""
    middle = np.linspace(-reach, reach, LISTED)
    outer = np.geomspace(reach, e, LISTED // 16)[1:] if reach < e else np.zeros(0)
    edges = np.concatenate([-outer[::-1], middle, outer])
    cell = np.clip(np.searchsorted(edges, losses, side="right") - 1, 0, edges.size - 2)
    count, low, width = edges.size - 1, edges[:-1], np.diff(edges)
    inside = np.clip(losses - low[cell], 0, width[cell])
    at_top = p * np.expm1(-inside) / np.expm1(-width[cell])
    mass = np.append(np.bincount(cell, p - at_top, count), 0.0) + np.append(0.0, np.bincount(cell, at_top, count))
    return Atoms(edges, mass, mass * np.exp(-edges))


def _blocks(weights: Floats, most: int = BLOCKS) -> npt.NDArray[np.int64]:
    """Return where blocks of clones start: small ones where clones are likely."""
    if weights.size <= most:
        return np.arange(weights.size)
    share = np.cumsum(weights**0.1)
    starts = np.searchsorted(share / share[-1], np.linspace(0, 1, most, endpoint=False))
    return np.unique(starts)


def _given(count: int, e: float, weight: float) -> tuple[Floats, Floats, float, int]:
    """Return losses and P-masses given so many clones, how many were left out, and how many ratios were multiplied."""
    x, law, steps = _around_mode(count + 1, 0.5, None)
    chance, others = math.exp(-e), count + 1 - x
    told, hidden = x + chance * others, chance * x + others
    p = law * (2 * told / ((1 + chance) * (count + 1)))
    losses = np.log(told / hidden)
    return np.clip(losses, -e, e), weight * p, weight * (count + 2 - x.size), steps


def _around_mode(trials: int, rate: float, epsilon: Fraction | None) -> tuple[Floats, Floats, int]:
    """Return the likely values of a binomial law, their probabilities, and how many ratios were multiplied at most.

    The law is followed from its mode by the ratios of neighbouring probabilities. For ``rate = e^-epsilon`` the ratios
    are those of the float next to it, and the mode's probability is the exact one.
    """
    mode = min(trials, math.floor((trials + 1) * rate))
    odds = 1.0 if epsilon is None else 1 / math.expm1(float(epsilon)) if epsilon else math.inf
    reach = math.ceil(15 * math.sqrt(trials * rate * (1 - rate))) + 120
    while True:
        low, high = max(0, mode - reach), min(trials, mode + reach)
        up = np.arange(mode, high, dtype=np.float64)
        down = np.arange(mode, low, -1, dtype=np.float64)
        rising = np.cumprod((trials - up) / (up + 1) * odds)
        falling = np.cumprod(down / ((trials - down + 1) * odds))
        law: Floats = np.concatenate([falling[::-1], [1.0], rising])
        if (low == 0 or law[0] <= UNLIKELY) and (high == trials or law[-1] <= UNLIKELY):
            break
        reach *= 2
    values = np.arange(low, high + 1, dtype=np.float64)
    kept = law > UNLIKELY
    return values[kept], law[kept] * _at_mode(trials, mode, epsilon), max(up.size, down.size)


@lru_cache(maxsize=1024)
def _at_mode(trials: int, mode: int, epsilon: Fraction | None) -> float:
    """Return the probability of the mode."""
    if epsilon is not None and not epsilon:
        return 1.0

    def formula() -> arb:
        ways = ball(trials + 1).lgamma() - ball(mode + 1).lgamma() - ball(trials - mode + 1).lgamma()
        if epsilon is None:
            return (ways - trials * ball(2).log()).exp()
        return (ways - mode * ball(epsilon) + (trials - mode) * (1 - ball(-epsilon).exp()).log()).exp()

    return float(enclose(formula))
