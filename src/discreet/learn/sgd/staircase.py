"""The table behind fast normal noise: a density written as many uniform ones and a small rest.

The half normal density is a sum of uniform densities on ``[0, end)``, each with mass ``1 / LAYERS``, and a rest (the
composition method: Marsaglia, "Expressing a random variable in terms of uniform random variables", 1961; the ziggurat
of Marsaglia and Tsang, J. Stat. Softw. 5, 2000, is its kin). The ends are dyadic floats, and that the uniform parts
together stay below the density is proven in ball arithmetic when the table is made, so that what is drawn has the
normal law itself. The rest lies under a staircase of its own, under which it is drawn by rejection; beyond 39
deviations, where ``10^-330`` of the mass lies, nothing is drawn.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from discreet.errors import InvalidParameter
from discreet.exact import ball

__all__ = ["LAYERS", "LAYER_BITS", "TICKET_BITS", "Table", "density", "remainder", "table"]

Floats = npt.NDArray[np.float64]

LAYER_BITS = 10
LAYERS = 1 << LAYER_BITS
TICKET_BITS = 45
SCALE = 2.0**52
FARTHEST = 39.0


@dataclass(frozen=True, slots=True)
class Table:
    """Ends of the uniform parts, largest first, and the staircase over the rest.

    Interval k of the rest is ``[low[k], low[k] + width[k])``. There the uniform parts have the density ``taken[k]``,
    and what is left of the normal one is at most ``height[k]``. A ticket below ``sums[-1]``, of ``TICKET_BITS`` bits,
    chooses the interval in whose part of the sums it lies, with odds of exactly width times height.
    """

    ends: Floats
    low: Floats
    width: Floats
    taken: Floats
    height: Floats
    sums: npt.NDArray[np.int64]

    @property
    def steps(self) -> int:
        """How many of the layers are uniform parts; the others are the rest."""
        return len(self.ends)

    def exact_height(self, k: int) -> Fraction:
        """Return the height of an interval as the odds of its tickets make it."""
        tickets = int(self.sums[k]) - (int(self.sums[k - 1]) if k else 0)
        return Fraction(tickets) / (Fraction(float(self.width[k])) * Fraction(SCALE))


def density(x: arb) -> arb:
    """Return the half normal density."""
    return (2 / arb.pi()).sqrt() * (-x * x / 2).exp()


def remainder(made: Table, k: int, x: arb) -> arb:
    """Return what the uniform parts leave of the density at a point of interval k of the rest."""
    left = density(x)
    for end in made.ends[made.ends > made.low[k]].tolist():
        left -= 1 / ball(Fraction(end) * LAYERS)
    return left


@cache
def table() -> Table:
    """Return the table, made once and proven.

    >>> table().steps, LAYERS
    (1021, 1024)
    """
    ends = np.array(_ends())
    _prove(ends)
    tail = np.append(np.arange(ends[0], FARTHEST, 0.125), FARTHEST)
    low = np.concatenate([tail[:-1][::-1], ends[1:], [0.0]])
    width = np.concatenate([tail[1:][::-1], ends]) - low
    taken = np.concatenate([np.zeros(len(tail) - 1), np.cumsum(1 / (ends * LAYERS))])
    most = math.sqrt(2 / math.pi) * np.exp(-low * low / 2) - taken
    odds = np.ceil((most + 1e-12) * width * SCALE).astype(np.int64) + 1
    sums = np.cumsum(odds)
    if sums[-1] >= 1 << TICKET_BITS:
        raise InvalidParameter("the table of normal noise has too large a rest; this is a fault of it.")
    return Table(ends, low, width, taken, odds / (width * SCALE), sums)


def _ends() -> list[float]:
    """Return ends of 24 bits, each about the largest at which one more uniform part stays below the density."""

    def room(x: float) -> float:
        return math.sqrt(2 / math.pi) * math.exp(-x * x / 2) - 1 / (LAYERS * x) - 1e-9

    found: list[float] = []
    taken, high = 0.0, 6.0
    while len(found) < LAYERS:
        low = high
        while room(low) < taken:
            low *= 0.9
            if low < 1e-3:
                return found
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if room(middle) >= taken else (low, middle)
        high = float(np.float32(low) - np.spacing(np.float32(low)))
        found.append(high)
        taken += 1 / (LAYERS * high)
    return found


def _prove(ends: Floats) -> None:
    """Refuse ends at which the uniform parts rise above the density.

    Both fall in x, and the parts are constant between ends, so that it is enough to look at the ends.
    """
    before = ctx.prec
    ctx.prec = 128
    try:
        total = arb(0)
        for end, after in zip(ends.tolist(), [*ends[1:].tolist(), 0.0], strict=True):
            total += 1 / ball(Fraction(end) * LAYERS)
            if not (after < end and total <= density(ball(Fraction(end)))):
                raise InvalidParameter("the table of normal noise is not below the density; this is a fault of it.")
    finally:
        ctx.prec = before
