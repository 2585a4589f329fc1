"""Certified bounds on epsilon and delta of a composition, from above and from below.

Both directions of every pair are composed; the larger counts. Copies of a pair whose masses are known to a relative
error k have, together, every loss moved by at most ``2 k T`` and every mass by a factor ``(1 + k)^T``: epsilon is
widened by the first, delta by the second.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.accounting.numerical.convolution import Sum, compose, tilt_for
from discreet.accounting.numerical.lattice import Lattice, lower, upper
from discreet.accounting.numerical.pairs import ON_EDGE, RELATIVE_ERROR, Floats, Pair

__all__ = ["Composition", "step_for"]

FINENESS = 56.0
"""Lattice steps in one standard deviation of the loss of a release."""

MOST_CELLS = 1 << 21
SMALLEST_DELTA = 1e-300
LARGEST_LOSS = 600.0
SMALLEST_LOSS = 1e-8
MOST_COPIES = 10**8
LARGEST_EXPONENT = 300.0

Side = Literal["upper", "lower"]
Direction = tuple[tuple[Pair, int], ...]


def moments(pair: Pair) -> tuple[float, float]:
    """Return mean and standard deviation of the loss, roughly: they only choose a step."""
    low, high = pair.span(1e-12)
    size = max(abs(low), abs(high))
    step = max(high - low, size / 10) / 2000
    for _ in range(6):
        lattice = upper(pair, step, 1e-12)
        losses = lattice.anchor + (lattice.first + np.arange(lattice.mass.size)) * step
        total = float(lattice.mass.sum())
        mean = float(np.dot(lattice.mass, losses)) / total
        deviation = math.sqrt(max(float(np.dot(lattice.mass, (losses - mean) ** 2)) / total, 0.0))
        if deviation > 4 * step or (high - low) / step > MOST_CELLS / 4:
            break
        step /= 8
    return mean, max(deviation, size * 1e-4)


def step_for(pairs: Sequence[tuple[Pair, int]], fineness: float = FINENESS) -> float:
    """Return a common lattice step: a fixed part of the typical deviation of one release.

    If the pair that weighs most has a bounded loss, the step divides its range, so that its atoms lie on the lattice.
    """
    spread = [(moments(pair)[1], count, pair) for pair, count in pairs]
    copies = sum(count for _, count, _ in spread)
    typical = math.sqrt(math.fsum(count * deviation**2 for deviation, count, _ in spread) / copies)
    step = typical / fineness
    widest = max(high - low for low, high in (pair.span(1e-20) for pair, _ in pairs))
    step = max(step, widest / MOST_CELLS)
    _, _, heaviest = max(spread, key=lambda item: item[0] ** 2 * item[1])
    low, high = heaviest.support
    if math.isfinite(low) and math.isfinite(high) and high > low:
        step = (high - low) / math.ceil((high - low) / step)
    return step


@dataclass(frozen=True, slots=True)
class Composition:
    """Pairs with the number of times each is used, all fixed beforehand."""

    pairs: tuple[tuple[Pair, int], ...]
    fineness: float = FINENESS

    @property
    def feasible(self) -> bool:
        """Whether the losses are of a size that float64 exponentials and the error analysis can carry."""
        if self.copies > MOST_COPIES:
            return False
        ends = [pair.span(1e-290) for pair, _ in self.pairs]
        return all(low > -LARGEST_LOSS and high < LARGEST_LOSS for low, high in ends) and any(
            max(-low, high) > SMALLEST_LOSS for low, high in ends
        )

    def epsilon(self, delta: float, side: Side = "upper") -> float:
        """Return a bound on the smallest epsilon with that delta; infinity or 0 where float64 cannot tell."""
        unknown = math.inf if side == "upper" else 0.0
        return max(0.0, self._worst(lambda direction: self._epsilon(direction, delta, side), unknown))

    def delta(self, epsilon: float, side: Side = "upper") -> float:
        """Return a bound on the smallest delta with that epsilon; 1 or 0 where float64 cannot tell."""
        unknown = 1.0 if side == "upper" else 0.0
        return self._worst(lambda direction: self._delta(direction, epsilon, side), unknown)

    def _worst(self, bound: Callable[[Direction], float], unknown: float) -> float:
        """Return the larger bound of the two directions."""
        try:
            with np.errstate(all="ignore"):
                found = [bound(direction) for direction in self._directions()]
        except (ArithmeticError, ValueError, MemoryError):  # overflow: the parameters are too far apart
            return unknown
        return unknown if any(map(math.isnan, found)) else max(found)

    @property
    def copies(self) -> int:
        """How many releases there are."""
        return sum(count for _, count in self.pairs)

    def _directions(self) -> list[Direction]:
        back = tuple((pair.reversed(), count) for pair, count in self.pairs)
        symmetric = all(a is b or a == b for (a, _), (b, _) in zip(self.pairs, back, strict=True))
        return [self.pairs] if symmetric else [self.pairs, back]

    def _lattices(self, pairs: Direction, delta: float, side: Side) -> list[tuple[Lattice, int]]:
        step = step_for(pairs, self.fineness)
        tail = max(delta, SMALLEST_DELTA) * 1e-9 / self.copies
        make = upper if side == "upper" else lower
        return [(make(pair, step, tail), count) for pair, count in pairs]

    def _epsilon(self, pairs: Direction, delta: float, side: Side) -> float:
        sign = 1 if side == "upper" else -1
        parts = self._lattices(pairs, delta, side)
        slack = sign * math.expm1(self.copies * RELATIVE_ERROR)
        target = delta * (1 - slack) - sign * self._aside(parts, side)
        if target <= 0:
            return math.inf if side == "upper" else 0.0
        law = compose(parts, tilt_for(parts, math.log(target)))
        return _crossing(law, target, sign) + law.shift + sign * self._moved(parts)

    def _delta(self, pairs: Direction, epsilon: float, side: Side) -> float:
        sign = 1 if side == "upper" else -1
        parts = self._lattices(pairs, 1e-20, side)
        wanted = epsilon - sign * self._moved(parts)
        law = compose(parts, _tilt_at(parts, wanted))
        place = wanted - law.shift
        found = float(_deltas(law, np.array([place]), sign, place)[0])
        if not math.isfinite(found):
            return 1.0
        slack = 1 + sign * math.expm1(self.copies * RELATIVE_ERROR)
        return min(1.0, max(0.0, found * slack + sign * self._aside(parts, side)))

    def _moved(self, parts: list[tuple[Lattice, int]]) -> float:
        """Return how far the summed loss may be off: errors of the masses, and atoms taken to lie on the lattice."""
        return self.copies * (2 * RELATIVE_ERROR + ON_EDGE * parts[0][0].step)

    @staticmethod
    def _aside(parts: list[tuple[Lattice, int]], side: Side) -> float:
        """Return the delta that does not come from the lattice."""
        return math.fsum(count * (part.infinite if side == "upper" else part.excess) for part, count in parts)


def _tilt_at(parts: list[tuple[Lattice, int]], epsilon: float) -> float:
    """Return the tilt whose mean is epsilon, between 0 and a limit."""
    from discreet.accounting.numerical.convolution import log_moment

    shift = math.fsum(part.anchor * count for part, count in parts)
    low, high = 0.0, 1.0
    while high < 1e6 and log_moment(parts, high)[1] + shift < epsilon:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if log_moment(parts, middle)[1] + shift < epsilon else (low, middle)
    return (low + high) / 2


def _deltas(law: Sum, epsilons: Floats, sign: int, reference: float) -> Floats:
    """Return delta at some losses (less the shift), widened by what the window and the transform may hide.

    Masses are taken relative to the tilt at the reference. Where that cannot be told in float64, far below it, delta is
    answered with the safe extreme: infinity from above, 0 from below.
    """
    distance = law.losses - reference
    weights = law.mass * np.exp(np.minimum(-law.theta * distance, LARGEST_EXPONENT))
    above = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
    weights *= np.exp(np.minimum(-distance, LARGEST_EXPONENT))
    below = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
    index = np.searchsorted(law.losses, epsilons, side="right")
    offsets = epsilons - reference
    hidden = (law.error + (1 if sign > 0 else 2) * law.outside) * np.exp(-law.theta * offsets)
    gain, cost = above[index], np.exp(offsets) * below[index]
    hidden += (gain + cost) * (law.losses.size * 2.0**-52)  # the rounding of the cumulative sums
    plain = gain - cost
    log_factor = law.log_scale - law.theta * reference
    known = ((law.theta + 1) * -offsets < LARGEST_EXPONENT) & (log_factor < LARGEST_EXPONENT)
    found = (plain + sign * hidden) * math.exp(min(log_factor, LARGEST_EXPONENT))
    return np.where(known & ~np.isnan(found), found, np.inf if sign > 0 else 0.0)


def _crossing(law: Sum, delta: float, sign: int) -> float:
    """Return the loss (less the shift) at which delta is reached; linear in e^epsilon between lattice points."""
    points = law.losses
    deltas = _deltas(law, points, sign, law.mean)
    over = np.flatnonzero(~(deltas <= delta))
    if not over.size:
        return float(points[0]) if sign > 0 else -math.inf
    last = int(over[-1])
    if last == points.size - 1:
        return math.inf if sign > 0 else float(points[-1])
    before, after = deltas[last], deltas[last + 1]
    width = float(points[last + 1] - points[last])
    if sign > 0 and not math.isfinite(before):
        return float(points[last + 1])
    share = (before - delta) / (before - after)
    return float(points[last] + math.log1p(share * math.expm1(width)))
