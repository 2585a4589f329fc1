"""The end of a support told as one outcome, which is post-processing: what a bound from below may do."""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.numerical.pairs import Floats, Pair

__all__ = ["Merged"]


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """A pair in which all outcomes with a loss beyond ``cut`` are told as one, which is post-processing.

    At the end of the support of a sampled pair most of the mass lies within a small part of a cell. Merged, it is an
    atom, and the lattice has a point there.
    """

    pair: Pair
    cut: float
    loss: float
    p: float
    q: float

    @classmethod
    def of(cls, pair: Pair, width: float) -> Pair:
        """Merge the outcomes within a width of the only end of a support."""
        low, high = pair.support
        if math.isfinite(low) == math.isfinite(high):
            return pair
        edges = np.array([low, low + width] if math.isfinite(low) else [high - width, high])
        end = 0 if math.isfinite(low) else 1
        p, q = (float(c[0] + a[end]) for c, a in zip(pair.cells(edges), pair.atoms(edges), strict=True))
        if not (p > 0 and q > 0):
            return pair
        return cls(pair, float(edges[1 - end]), min(max(math.log(p / q), edges[0]), edges[1]), p, q)

    @property
    def support(self) -> tuple[float, float]:
        """From the merged outcomes on, or up to them."""
        low, high = self.pair.support
        return (self.loss, high) if self.loss < self.cut else (low, self.loss)

    def _inside(self, edges: Floats) -> Floats:
        return np.maximum(edges, self.cut) if self.loss < self.cut else np.minimum(edges, self.cut)

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """The pair's masses on this side of the cut."""
        return self.pair.cells(self._inside(edges))

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """The pair's atoms on this side of the cut, and the merged outcomes as one."""
        there = (edges > self.cut) if self.loss < self.cut else (edges < self.cut)
        p, q = (np.where(there, masses, 0.0) for masses in self.pair.atoms(edges))
        here = int(np.argmin(np.abs(edges - self.loss)))
        p[here] += self.p
        q[here] += self.q
        return p, q

    def span(self, tail: float, /) -> tuple[float, float]:
        """The pair's, from or up to the merged outcomes."""
        low, high = self.pair.span(tail)
        return (self.loss, max(high, self.cut)) if self.loss < self.cut else (min(low, self.cut), self.loss)

    def reversed(self) -> "Merged":
        """Exchange the two laws; losses change sign."""
        return Merged(self.pair.reversed(), -self.cut, -self.loss, self.q, self.p)
