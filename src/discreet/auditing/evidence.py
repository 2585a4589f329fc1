"""What counted events prove about two distributions: exact confidence bounds, and the epsilon that they certify."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter

__all__ = ["Claim", "Proof", "chance_above", "chance_below", "epsilon_above"]

Floats = npt.NDArray[np.float64]

DELTAS = (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1)
POINTS = 40
"""Where the curve of a claim is read: the epsilons of some deltas, and points between them."""


def chance_below(hits: Floats, draws: float, alpha: float) -> Floats:
    """Return lower confidence bounds on a chance: each is too large with probability at most alpha.

    Clopper and Pearson, Biometrika 1934.

    >>> float(chance_below(np.array([95.0]), 100, 0.05)[0])
    0.8977...
    """
    from scipy.special import betaincinv

    with np.errstate(invalid="ignore"):
        found = betaincinv(hits, draws - hits + 1, alpha)
    return np.where(hits > 0, found, 0.0)


def chance_above(hits: Floats, draws: float, alpha: float) -> Floats:
    """Return upper confidence bounds on a chance: each is too small with probability at most alpha."""
    return 1 - chance_below(draws - hits, draws, alpha)


def epsilon_above(p: Floats, q: Floats, delta: float) -> Floats:
    """Return ``log((p - delta) / q)``, the epsilon that an event of chances p and q rules out below; at least 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log((p - delta) / q)
    return np.where(p > delta, np.maximum(found, 0.0), 0.0)


@dataclass(frozen=True, slots=True)
class Claim:
    """A loss as the largest chance that it allows an event which a neighbour gives a known chance.

    ``p <= e^epsilon q + delta`` and, the other way round for what is not the event, ``1 - q <= e^epsilon (1 - p) +
    delta``, for every epsilon and its delta; the smallest of these at many epsilons is taken.
    """

    epsilons: Floats
    deltas: Floats

    @classmethod
    def of(cls, loss: PrivacyLoss, delta: float = 1e-3) -> "Claim":
        """Read a loss at many epsilons, that of ``delta`` among them."""
        if not isinstance(loss, PrivacyLoss):
            raise InvalidParameter(f"a claim is a PrivacyLoss, such as PrivacyLoss.pure(1); got {type(loss).__name__}.")
        return cls(*_curve(loss, delta))

    def most(self, q: Floats) -> Floats:
        """Return the largest chance allowed, and 1 where nothing is ruled out."""
        slopes = np.exp(np.minimum(self.epsilons, 700.0))
        chances = np.asarray(q, dtype=np.float64)[..., None]
        lines = chances * slopes + self.deltas
        others = 1 - (1 - chances - self.deltas) / slopes
        return np.asarray(np.minimum(np.minimum(lines.min(axis=-1), others.min(axis=-1)), 1.0))


@lru_cache(maxsize=64)
def _curve(loss: PrivacyLoss, delta: float) -> tuple[Floats, Floats]:
    ends = [loss.epsilon(d) for d in {delta, *DELTAS}]
    found = [min(end, 700.0) for end in ends if math.isfinite(end)]
    top = max(found, default=50.0)
    epsilons = np.unique(np.concatenate([np.linspace(0.0, top, POINTS), found]))
    return epsilons, np.array([loss.delta(float(e)) for e in epsilons])


@dataclass(frozen=True, slots=True)
class Proof:
    """One event, counted on draws that did not choose it."""

    event: str
    direction: str
    hits: tuple[int, int]
    draws: tuple[int, int]
    chances: tuple[float, float]
    epsilon: float
    excess: float
    alpha: float
    paired: bool = False

    @property
    def refutes(self) -> bool:
        """Whether the event is more likely than the claim allows, at the stated confidence."""
        return self.excess > 0

    def notices(self, claim: Claim, factor: float) -> bool:
        """Tell whether this event and these draws refute, 9 times in 10, a release that loses ``factor`` times as much.

        That is as much more than what was counted, or than what the claim allows if what was counted is more: a release
        that is true to its claim has no more than that. Either count is taken at its unfavourable twentieth.
        """
        m, n = self.draws
        if not m or not n:
            return False
        if self.paired:
            ratio = (self.hits[0] + 0.5) / (self.hits[1] + 0.5)
            top = float(claim.epsilons[-1]) if claim.deltas[-1] == 0 else math.inf
            seen = min(math.log(ratio) / 2, top)
            hits = _quantile(0.05, m, 1 / (1 + math.exp(-2 * min(seen * factor, 350.0))))
            return float(chance_below(np.array([hits]), m, self.alpha)[0]) > 1 / (1 + math.exp(-2 * min(top, 350.0)))
        p, q = (self.hits[0] + 0.5) / (m + 1), (self.hits[1] + 0.5) / (n + 1)
        p, q = _worse(p, q, claim, factor)
        low = chance_below(np.array([_quantile(0.05, m, p)]), m, self.alpha / 2)
        high = chance_above(np.array([_quantile(0.95, n, q)]), n, self.alpha / 2)
        return bool(low[0] > claim.most(high)[0])

    def __str__(self) -> str:
        (a, b), (m, n) = self.hits, self.draws
        return f"{self.event} ({self.direction}): {a} of {m} against {b} of {n}"


def _worse(p: float, q: float, claim: Claim, factor: float) -> tuple[float, float]:
    """Return what two chances become with ``factor`` times the loss, from where the claim would just allow them.

    The difference of their log-odds grows by the factor and their sum stays: with less noise an event becomes more
    likely on one side and less likely on the other.
    """
    both = p + q
    if p > float(claim.most(np.array([q]))[0]):
        q = _last(lambda x: x + float(claim.most(np.array([x]))[0]) < both)
        p = both - q
    if not 0 < q < p < 1:
        return p, q
    wide = factor * (_log_odds(p) - _log_odds(q))
    less = _last(lambda x: x + 1 / (1 + math.exp(min(-_log_odds(x) - wide, 700.0))) < both)
    return both - less, less


def _log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance))


def _last(holds: Callable[[float], bool]) -> float:
    """Return where a condition that holds at first, from 0 to 1, ceases to hold."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def _quantile(share: float, draws: int, chance: float) -> float:
    """Return the least number of hits that is not exceeded with probability ``share``."""
    from scipy.special import bdtrik

    if not 0 < chance < 1:
        return draws * float(chance >= 1)
    found = float(bdtrik(share, draws, chance))
    return 0.0 if math.isnan(found) else float(min(draws, max(0, math.ceil(found - 1e-9))))


def prove_in_pairs(event: str, direction: str, first: int, second: int, claim: float, alpha: float) -> Proof:
    """Return what discordant pairs prove: draws on both data sets side by side, in an order drawn by lot.

    Let an event have the chances p and q in one pair, whatever state the machine is in, with ``p <= e^epsilon q`` and
    ``1 - q <= e^epsilon (1 - p)``. Of pairs in which it happens on one side alone it is then the first with a chance of
    at most ``e^(2 epsilon) / (1 + e^(2 epsilon))``. So a drift that both share proves nothing.
    """
    both = first + second
    low = float(chance_below(np.array([float(first)]), both, alpha)[0]) if both else 0.0
    epsilon = max(0.0, math.log(low / (1 - low)) / 2) if 0 < low < 1 else 0.0
    excess = low - 1 / (1 + math.exp(-2 * min(claim, 350.0)))
    return Proof(event, direction, (first, second), (both, both), (0.0, 1.0), epsilon, excess, alpha, paired=True)


def prove(
    event: str, direction: str, hits: tuple[int, int], draws: tuple[int, int], claim: Claim, delta: float, alpha: float
) -> Proof:
    """Return what counts prove, each of the two chances being off with probability at most ``alpha / 2``."""
    low = float(chance_below(np.array([float(hits[0])]), draws[0], alpha / 2)[0])
    high = float(chance_above(np.array([float(hits[1])]), draws[1], alpha / 2)[0])
    epsilon = float(epsilon_above(np.array([low]), np.array([high]), delta)[0])
    excess = low - float(claim.most(np.array([high]))[0])
    return Proof(event, direction, hits, draws, (low, high), epsilon if math.isfinite(epsilon) else 0.0, excess, alpha)
