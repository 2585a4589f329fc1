"""A mixture of normal laws against one of them, seen through its loss.

``R(x) = sum w_j e^(m_j x - m_j^2 / 2)`` with ``m_j >= 0`` rises in x, so cells of the loss ``log R`` are cells of x. An
edge is inverted by Newton's method on the logarithm of the part with ``m_j > 0``, which is convex with slopes between
the smallest and the largest of these: started where one component alone reaches the edge, it falls to the solution.
P and Q are taken of the same cells of x. So what the inversion is off, a few units in the last place of the loss, moves
losses by that much and no mass; the accountant allows for 10^4 times as much.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.numerical.pairs import Floats, normal_mass

__all__ = ["MixturePair"]

ITERATIONS = 60


@dataclass(frozen=True, slots=True)
class MixturePair:
    """``sum w_j N(m_j, 1)`` against ``N(0, 1)``, or the reverse; shifts in rising order, none negative."""

    shifts: tuple[float, ...]
    weights: tuple[float, ...]
    mixed_first: bool = True

    @property
    def support(self) -> tuple[float, float]:
        """From the log of the weight at shift 0, if there is one."""
        low = math.log(self.weights[0]) if self.shifts[0] == 0 else -math.inf
        return (low, math.inf) if self.mixed_first else (-math.inf, -low)

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Normal masses between the points where the loss is at the edges."""
        x = self._places(edges if self.mixed_first else -edges[::-1])
        q = normal_mass(x[:-1], x[1:])
        p = np.zeros(q.size)
        for m, w in zip(self.shifts, self.weights, strict=True):
            p += w * normal_mass(x[:-1] - m, x[1:] - m)
        return (p, q) if self.mixed_first else (q[::-1], p[::-1])

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """No atoms."""
        return np.zeros(edges.size), np.zeros(edges.size)

    def span(self, tail: float, /) -> tuple[float, float]:
        """The losses at points beyond which no component has more than its share of the tail."""
        from scipy.special import ndtri

        tail = max(tail, 1e-300)
        reach = -float(ndtri(tail))
        if not self.mixed_first:
            return -self.loss(reach), -self.loss(-reach)
        shares = [(m, tail / (len(self.shifts) * w)) for m, w in zip(self.shifts, self.weights, strict=True)]
        return self.loss(-reach), self.loss(
            max((m - float(ndtri(share)) for m, share in shares if share < 1), default=0.0)
        )

    def reversed(self) -> "MixturePair":
        """The other direction."""
        return MixturePair(self.shifts, self.weights, not self.mixed_first)

    def loss(self, x: float) -> float:
        """Return ``log R(x)``."""
        parts = [math.log(w) + m * x - m * m / 2 for m, w in zip(self.shifts, self.weights, strict=True)]
        top = max(parts)
        return top + math.log(math.fsum(math.exp(part - top) for part in parts))

    def place(self, loss: float) -> float:
        """Return the point with this loss, infinite beyond the support."""
        return float(self._places(np.array([loss]))[0])

    def _places(self, losses: Floats) -> Floats:
        """Return the points with these losses, infinite beyond the support."""
        shifts, weights = np.array(self.shifts), np.array(self.weights)
        flat = float(weights[shifts == 0].sum())
        m, log_w = shifts[shifts > 0], np.log(weights[shifts > 0])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if flat:
                above = losses - math.log(flat)
                wanted = math.log(flat) + np.where(
                    above > 1, above + np.log1p(-np.exp(-above)), np.log(np.expm1(above))
                )
            else:
                wanted = losses
        inside = np.isfinite(wanted)
        x = np.where(losses > 0, np.inf, -np.inf)
        if not inside.any():
            return x
        target = wanted[inside]
        at = np.min((target[:, None] - log_w + m * m / 2) / m, axis=1)
        for _ in range(ITERATIONS):
            parts = at[:, None] * m + (log_w - m * m / 2)
            top = parts.max(axis=1)
            shares = np.exp(parts - top[:, None])
            total = shares.sum(axis=1)
            step = (top + np.log(total) - target) * total / (shares @ m)
            at = at - step
            if float(np.max(np.abs(step) / (1 + np.abs(at)))) < 2.0**-50:
                break
        x[inside] = at
        return x
