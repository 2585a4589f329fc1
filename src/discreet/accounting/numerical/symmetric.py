"""The pair of a sample that hides which neighbour it came from, in both directions at once.

With (P, Q) a symmetric pair and ``M = (1 - rate) Q + rate P`` its profile is that of (M, Q) for ``x >= 1`` and that of
(Q, M) for ``x < 1``: the larger of the two everywhere. See ``discreet.accounting.terms.symmetric`` for the theorem.

It is convex. At 1 both profiles are ``rate d`` with d the total variation of the base, and the slope jumps by
``1 - rate d - 2 Q(P > Q) >= 0``, since ``2 Q(P > Q) + d <= 1`` for a symmetric pair. So it belongs to a pair: positive
losses as (M, Q) has them, negative ones as (Q, M) has them, and what is left of either law at loss 0.
"""

from dataclasses import dataclass

import numpy as np

from discreet.accounting.numerical.pairs import ON_EDGE, Floats, Pair, Sampled

__all__ = ["SymmetricPair"]


@dataclass(frozen=True, slots=True)
class SymmetricPair:
    """``(1 - rate) Q + rate P`` against Q where the loss is positive, the mirror image where it is negative."""

    base: Pair
    rate: float

    @property
    def support(self) -> tuple[float, float]:
        """As far down as up."""
        high = self._one_way().support[1]
        return -high, high

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Both sides, and the mass at 0 if it lies in a cell."""
        above, below = self._above(edges, "cells"), self._above(-edges[::-1], "cells")
        p, q = above[0] + below[1][::-1], above[1] + below[0][::-1]
        where, on_edge = _zero(edges)
        if not on_edge and 0 < where < edges.size:
            p[where - 1] += self._tied()
            q[where - 1] += self._tied()
        return p, q

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Both sides, and the mass at 0 if it lies on an edge."""
        above, below = self._above(edges, "atoms"), self._above(-edges[::-1], "atoms")
        p, q = above[0] + below[1][::-1], above[1] + below[0][::-1]
        where, on_edge = _zero(edges)
        if on_edge:
            p[where] += self._tied()
            q[where] += self._tied()
        return p, q

    def span(self, tail: float, /) -> tuple[float, float]:
        """The upper end of one direction, the lower end of the other."""
        one_way = self._one_way()
        return min(one_way.reversed().span(tail)[0], 0.0), max(one_way.span(tail)[1], 0.0)

    def reversed(self) -> "SymmetricPair":
        """Symmetric."""
        return self

    def _one_way(self) -> Sampled:
        return Sampled(self.base, self.rate)

    def _above(self, edges: Floats, what: str) -> tuple[Floats, Floats]:
        """Return the masses of the positive cells or edges in the direction of the mixture against Q."""
        first = int(np.searchsorted(edges, ON_EDGE * _width(edges), side="right"))
        count = edges.size - (what == "cells")
        p, q = np.zeros(count), np.zeros(count)
        if first < edges.size:
            used: Floats = np.concatenate([[0.0], edges[first:]]) if first else edges
            with np.errstate(invalid="ignore"):  # edges beyond the support are infinite in the base
                found = self._one_way().cells(used) if what == "cells" else self._one_way().atoms(used)
            start = 0 if not first else first - 1 if what == "cells" else first
            skip = 1 if first and what == "atoms" else 0
            p[start:], q[start:] = found[0][skip:], found[1][skip:]
        return p, q

    def _tied(self) -> float:
        """Return what neither side holds. Rounding is relative to 1, and composition multiplies by at most that."""
        p, q = self._one_way().cells(np.array([0.0, np.inf]))
        return max(0.0, 1 - float(p[0]) - float(q[0]))


def _width(edges: Floats) -> float:
    width = float(np.min(np.diff(edges)))
    return width if np.isfinite(width) else 0.0


def _zero(edges: Floats) -> tuple[int, bool]:
    """Return where 0 is among the edges: the edge it lies on, or the first one above it."""
    near = ON_EDGE * _width(edges)
    where = int(np.searchsorted(edges, -near, side="left"))
    return where, where < edges.size and abs(float(edges[where])) <= near
