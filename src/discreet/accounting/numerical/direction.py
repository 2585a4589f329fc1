"""One direction of a composition, P against Q: all pairs on one lattice, their sum, and a point of its delta curve.

Copies of a pair whose masses are known to a relative error k have, together, every loss moved by at most ``2 k T`` and
every mass by a factor ``(1 + k)^T``: epsilon is widened by the first, delta by the second.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.accounting.numerical.convolution import Law, compose
from discreet.accounting.numerical.lattice import Grid, Lattice, lower, upper
from discreet.accounting.numerical.many import upper_many
from discreet.accounting.numerical.pairs import ON_EDGE, RELATIVE_ERROR, Floats, Pair
from discreet.accounting.numerical.parts import Parts, Window, saddle_point, window

__all__ = ["Direction", "Side"]

TIGHT, LOOSE = 4e-6, 3e-5
"""What the lattice may add to epsilon, relatively; the second where the first would take more than ``MANY_POINTS``."""

CORE = 4.0
"""Standard deviations around the mean in which cells are one step wide."""

MANY_POINTS, MOST_POINTS = 1 << 20, 1 << 22
"""Points of a transform that are a matter of milliseconds, and that fit into any machine's memory."""

SKETCHED = 256
"""So many pairs are looked at to choose the tilt and the step."""

SMALLEST_DELTA = 1e-300
RAREST = 1e-50
"""Where a delta is asked for, what is left out beyond the lattice; smaller ones are not told apart."""

LARGEST_LOSS = 680.0
"""Losses times the tail's rarity that float64 exponentials carry, as a logarithm."""


Side = Literal["upper", "lower"]


@dataclass(frozen=True, slots=True)
class Direction:
    """Pairs with the number of times each is used."""

    pairs: tuple[tuple[Pair, int], ...]
    fineness: float = 1.0

    @property
    def copies(self) -> int:
        """How many releases there are."""
        return sum(count for _, count in self.pairs)

    def epsilon(self, delta: float, side: Side) -> float:
        """Return a bound on the smallest epsilon with that delta; infinity or 0 where float64 cannot tell."""
        sign = 1 if side == "upper" else -1
        tail = max(delta, SMALLEST_DELTA) * 1e-9 / self.copies
        lattices, theta, frame = self._lattices(side, tail, log_delta=math.log(delta))
        slack = sign * math.expm1(self.copies * RELATIVE_ERROR)
        target = delta * (1 - slack) - sign * _aside(lattices, side)
        if not target > 0:
            return math.inf if side == "upper" else 0.0
        law = compose(Parts.of(lattices), theta, frame)
        return _crossing(law, math.log(target), sign) + law.shift + sign * self._moved(law.step)

    def delta(self, epsilon: float, side: Side) -> float:
        """Return a bound on the smallest delta with that epsilon."""
        sign = 1 if side == "upper" else -1
        lattices, theta, frame = self._lattices(side, RAREST / self.copies, epsilon=epsilon)
        law = compose(Parts.of(lattices), theta, frame)
        wanted = (epsilon - sign * self._moved(law.step) - law.shift) / law.step
        place = math.floor(wanted)
        before, after = (math.exp(min(law.log_delta(place + i, sign), 0.0)) for i in (0, 1))
        share = math.expm1((wanted - place) * law.step) / math.expm1(law.step)
        found = before + (after - before) * share
        slack = 1 + sign * math.expm1(self.copies * RELATIVE_ERROR)
        return min(1.0, max(0.0, found * slack + sign * _aside(lattices, side)))

    def _lattices(
        self, side: Side, tail: float, *, log_delta: float | None = None, epsilon: float | None = None
    ) -> tuple[list[tuple[Lattice, int]], float, Window]:
        """Return all pairs on one lattice whose step suits the tail that is asked for, and the tilt to that tail.

        With it, a window that suits them.
        """
        copies = self.copies
        if any(pair.span(tail)[1] - math.log(tail) > LARGEST_LOSS for pair, _ in self.pairs):
            raise OverflowError
        chosen = self.pairs[:: max(1, len(self.pairs) // SKETCHED)]
        scale = copies / sum(count for _, count in chosen)
        unit = max(max(map(abs, pair.span(tail))) for pair, _ in chosen) * 2.0**-50
        outlines = [(_outline(pair, tail, unit), max(1, round(scale * count))) for pair, count in chosen]
        sketch = Parts.of(outlines)
        theta, frame = _tilt(sketch, log_delta, epsilon)
        step = self._step(sketch, theta, frame.width) / self.fineness
        seen = [Parts.of([(outline, 1)]).moments(theta)[1:] for outline, _ in outlines]
        grids = []
        for place, (_, count) in enumerate(self.pairs):
            centre, variance = seen[place] if len(chosen) == len(self.pairs) else (0.0, math.inf)
            stride = max(1, math.isqrt(copies // (4 * count * len(self.pairs))))
            core = max(16, math.ceil(min(CORE * math.sqrt(variance) / (step * stride), 1e4)))
            grids.append(Grid(step, centre, core, stride))
        made: list[Lattice]
        if side == "upper" and len(self.pairs) > SKETCHED:
            made = upper_many([pair for pair, _ in self.pairs], grids, tail)
        else:
            make = upper if side == "upper" else lower
            made = [make(pair, grid, tail) for (pair, _), grid in zip(self.pairs, grids, strict=True)]
        lattices = [(lattice, count) for lattice, (_, count) in zip(made, self.pairs, strict=True)]
        return lattices, theta, frame

    def _step(self, sketch: Parts, theta: float, reach: float) -> float:
        """Return a step for which the lattice adds little to epsilon.

        To split the mass of a cell of width h between its ends multiplies ``E e^(theta L)`` by
        ``1 + theta (1 + theta) h^2 / 12`` or so, and T such factors move epsilon by ``T (1 + theta) h^2 / 12``. Where
        most releases are of one pair with a bounded loss, the step divides its range.
        """
        _, mean, variance = sketch.moments(theta)
        epsilon = max(mean, math.sqrt(variance) / 10)
        tight, loose = (math.sqrt(12 * part * epsilon / (self.copies * (1 + theta))) for part in (TIGHT, LOOSE))
        most = reach / MANY_POINTS if len(self.pairs) <= SKETCHED else loose
        step = max(tight, min(loose, most), reach / MOST_POINTS)
        pair, count = max(self.pairs, key=lambda item: item[1])
        low, high = pair.support
        if math.isfinite(low) and math.isfinite(high) and high > low and 2 * count > self.copies:
            step = (high - low) / math.ceil((high - low) / step)
        return step

    def _moved(self, step: float) -> float:
        """Return how far the summed loss may be off: errors of the masses, and atoms taken to lie on the lattice."""
        return self.copies * (2 * RELATIVE_ERROR + ON_EDGE * step)


def _outline(pair: Pair, tail: float, unit: float) -> Lattice:
    """Return the pair roughly, with cells that are narrow about 0; each cell's loss is the log of its mass ratio."""
    low, high = pair.span(tail)
    size = max(abs(low), abs(high), 1e-300)
    powers = size * np.exp(np.arange(-160, -40) / 10)
    even = np.linspace(low, high, 300)
    edges: Floats = np.concatenate([-powers, [0.0], powers, even[np.abs(even) > powers[-1]], [low, high]])
    edges = np.unique(edges[(edges >= low) & (edges <= high)])
    p, q = pair.cells(edges)
    p_at, _ = pair.atoms(edges)
    within = np.clip(np.log(p / q), edges[:-1], edges[1:])
    losses, mass = np.concatenate([within, edges]), np.concatenate([p, p_at])
    there = np.flatnonzero(mass > 0)
    there = there[np.argsort(losses[there])]
    return Lattice(0.0, unit, np.rint(losses[there] / unit).astype(np.int64), mass[there])


def _tilt(sketch: Parts, log_delta: float | None, epsilon: float | None) -> tuple[float, Window]:
    """Return a tilt to the tail that is asked for, and its window.

    At the saddle point rare large losses can outweigh all others, and the window is wide. A smaller tilt that still
    has the tail within 4 deviations does as well then.
    """
    saddle = saddle_point(sketch, log_delta=log_delta, epsilon=epsilon)
    saddle = max(saddle, 1e-4 / max(math.sqrt(sketch.moments(saddle)[2]), sketch.step))
    found: list[tuple[float, float, float, Window]] = []
    for theta in (saddle, 0.85 * saddle, 0.7 * saddle, 0.55 * saddle):
        around = value, mean, variance = sketch.moments(theta)
        frame, deviation = window(sketch, theta, around), math.sqrt(variance)
        bound = mean if log_delta is None else (value - math.log1p(theta) - log_delta) / theta
        found.append((theta, bound, mean + 4 * deviation, frame))
        if frame.width < 18 * deviation or deviation == 0:
            break
    wanted = min(row[1] for row in found) if epsilon is None else epsilon - sketch.shift
    near = [row for row in found if row[2] >= wanted]
    theta, *_, frame = min(near or found[:1], key=lambda row: row[3].width)
    return theta, frame


def _aside(lattices: list[tuple[Lattice, int]], side: Side) -> float:
    """Return the delta that does not come from the lattice."""
    return math.fsum(count * (part.infinite if side == "upper" else part.excess) for part, count in lattices)


def _crossing(law: Law, log_target: float, sign: int) -> float:
    """Return the loss (less the shift) at which delta is reached; linear in e^epsilon between lattice points."""
    low, high = law.start - 1, law.start + law.size  # delta is above the target at low, and not at high
    above, below = math.inf, -math.inf  # its logarithm there, as far as it is known
    guess = law.mean / law.step
    for rounds in range(200):
        place = min(max(math.floor(guess), low + 1), high - 1)
        value = law.log_delta(place, sign)
        if value > log_target:
            low, above = place, value
        else:
            high, below = place, value
        if high - low <= 1:
            break
        if rounds % 6 == 5:
            guess = (low + high) / 2
        elif math.isfinite(above) and math.isfinite(below):
            guess = low + (high - low) * (above - log_target) / (above - below)
        elif math.isfinite(value):
            guess = place + 1.02 * (value - log_target) / (law.theta * law.step) + (2 if value > log_target else -2)
        else:
            guess = (low + high) / 2
    if high == law.start + law.size and sign > 0:
        return math.inf  # nothing is known above the window but what lies there
    if low < law.start:
        return high * law.step if sign > 0 else -math.inf
    if not math.isfinite(above):
        above = law.log_delta(low, sign)
    top, bottom = 1.0, math.exp(min(below - above, 0.0))
    share = (top - math.exp(log_target - above)) / (top - bottom) if bottom < top else 1.0
    return low * law.step + math.log1p(share * math.expm1(law.step))
