"""The pair behind a bounded range: its profile is the worst of all mechanisms whose losses lie within epsilon.

Dong, Durfee and Rogers, ICML 2020. On neighbours the losses of such a mechanism lie in ``[t - epsilon, t]`` for some t
between 0 and epsilon, and the pair with nothing but these two losses is the worst of them. Its profile is
``(B - e^t) (1 - x e^-t) / (B - 1)`` with ``B = e^epsilon``, largest over t where ``e^t = sqrt(B x)``:

    D(x) = (sqrt B - sqrt x)^2 / (B - 1),   1/B <= x <= B.

D is convex and falls from ``1 - 1/B`` to 0, so it is the profile of a pair, with ``Q(L > log x) = -D'(x)``. It is not
that of a mechanism with a range of epsilon: composed, it is more than any of these costs.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.numerical.pairs import Atoms, Floats

__all__ = ["BoundedRangePair", "two_losses"]


@dataclass(frozen=True, slots=True)
class BoundedRangePair:
    """Losses between ``-epsilon`` and ``epsilon`` with densities proportional to ``e^(l/2)`` and ``e^(-l/2)``."""

    epsilon: float

    @property
    def support(self) -> tuple[float, float]:
        """From ``-epsilon`` to ``epsilon``."""
        return -self.epsilon, self.epsilon

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Differences of ``P(L <= l) = (sqrt(B) e^(l/2) - 1) / (B - 1)`` and of its mirror image."""
        e = self.epsilon
        low, high = np.clip(edges[:-1], -e, e), np.clip(edges[1:], -e, e)
        rise = np.expm1((high - low) / 2) / -math.expm1(-e)
        return np.exp((low - e) / 2) * rise, np.exp((-high - e) / 2) * rise

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """No atoms."""
        return np.zeros(edges.size), np.zeros(edges.size)

    def span(self, tail: float, /) -> tuple[float, float]:
        """The whole support."""
        return self.support

    def reversed(self) -> "BoundedRangePair":
        """Symmetric."""
        return self


def two_losses(epsilon: float, share: float) -> Atoms:
    """Return the mechanism with the losses ``t = share epsilon`` and ``t - epsilon``: one that a range allows.

    >>> two_losses(1.0, 0.5).losses.tolist()
    [-0.5, 0.5]
    """
    t = share * epsilon
    p, rest = (math.expm1(end) / math.expm1(-epsilon) for end in (t - epsilon, -t))
    return Atoms(
        np.array([t - epsilon, t]), np.array([rest * math.exp(t - epsilon), p]), np.array([rest, p * math.exp(-t)])
    )
