"""What counted events prove about two distributions: exact confidence bounds, and the epsilon that they certify."""

import math
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

    def most(self, q: Floats, scale: float = 1.0) -> Floats:
        """Return the largest chance allowed, and 1 where nothing is ruled out; with epsilons scaled, if so wished."""
        slopes = np.exp(np.minimum(scale * self.epsilons, 700.0))
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

    @property
    def refutes(self) -> bool:
        """Whether the event is more likely than the claim allows, at the stated confidence."""
        return self.excess > 0

    def __str__(self) -> str:
        (a, b), (m, n) = self.hits, self.draws
        return f"{self.event} ({self.direction}): {a} of {m} against {b} of {n}"


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
    return Proof(event, direction, (first, second), (both, both), (0.0, 1.0), epsilon, excess)


def prove(
    event: str, direction: str, hits: tuple[int, int], draws: tuple[int, int], claim: Claim, delta: float, alpha: float
) -> Proof:
    """Return what counts prove, each of the two chances being off with probability at most ``alpha / 2``."""
    low = float(chance_below(np.array([float(hits[0])]), draws[0], alpha / 2)[0])
    high = float(chance_above(np.array([float(hits[1])]), draws[1], alpha / 2)[0])
    epsilon = float(epsilon_above(np.array([low]), np.array([high]), delta)[0])
    excess = low - float(claim.most(np.array([high]))[0])
    return Proof(event, direction, hits, draws, (low, high), epsilon if math.isfinite(epsilon) else 0.0, excess)
