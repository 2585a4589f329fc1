"""Certified bounds on epsilon and delta of a composition, from above and from below.

Both directions of every pair are composed; the larger counts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discreet.accounting.numerical.direction import Direction, Side
from discreet.accounting.numerical.pairs import Pair

__all__ = ["Composition"]

ROUGHLY = 1 / 8
"""The fineness at which it is found out which direction is worse."""

SMALLEST_LOSS = 1e-8
MOST_COPIES = 10**8


@dataclass(frozen=True, slots=True)
class Composition:
    """Pairs with the number of times each is used, all fixed beforehand."""

    pairs: tuple[tuple[Pair, int], ...]
    fineness: float = 1.0

    @property
    def feasible(self) -> bool:
        """Whether the losses are of a size that the error analysis can carry."""
        if sum(count for _, count in self.pairs) > MOST_COPIES:
            return False
        return any(max(map(abs, pair.span(1e-9))) > SMALLEST_LOSS for pair, _ in self.pairs)

    def epsilon(self, delta: float, side: Side = "upper") -> float:
        """Return a bound on the smallest epsilon with that delta; infinity or 0 where float64 cannot tell."""
        unknown = math.inf if side == "upper" else 0.0
        found = self._worst(
            lambda direction: direction.epsilon(delta, side),
            lambda direction: direction.weight(delta=delta),
            side,
            unknown,
        )
        return max(0.0, found)

    def delta(self, epsilon: float, side: Side = "upper") -> float:
        """Return a bound on the smallest delta with that epsilon; 1 or 0 where float64 cannot tell."""
        unknown = 1.0 if side == "upper" else 0.0
        return self._worst(
            lambda direction: direction.delta(epsilon, side),
            lambda direction: direction.weight(epsilon=epsilon),
            side,
            unknown,
        )

    def _worst(
        self,
        bound: Callable[[Direction], float],
        weight: Callable[[Direction], float],
        side: Side,
        unknown: float,
    ) -> float:
        """Return the larger bound of the two directions.

        From above, one that is smaller even roughly is not looked at closely. From below either will do, so only the
        one that seems larger is.
        """
        here, back = Direction(self.pairs, self.fineness), self._reversed()
        try:
            with np.errstate(all="ignore"):
                if back is None:
                    found = bound(here)
                elif side == "lower":
                    found = bound(max(here, back, key=weight))
                else:
                    found = bound(here)
                    if not bound(replace(back, fineness=min(ROUGHLY, self.fineness))) <= found:
                        found = max(found, bound(back))
        except (ArithmeticError, ValueError, MemoryError):  # overflow: the parameters are too far apart
            return unknown
        return unknown if math.isnan(found) else found

    def _reversed(self) -> Direction | None:
        """Return the other direction; None if it is the same."""
        back = tuple((pair.reversed(), count) for pair, count in self.pairs)
        same = all(a is b or a == b for (a, _), (b, _) in zip(self.pairs, back, strict=True))
        return None if same else Direction(back, self.fineness)
