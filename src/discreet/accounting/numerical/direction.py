"""One direction of a composition, P against Q: all pairs on one lattice, their sum, and a point of its delta curve.

Copies of a pair whose masses are known to a relative error k have, together, every loss moved by at most ``2 k T`` and
every mass by a factor ``(1 + k)^T``: epsilon is widened by the first, delta by the second.
"""

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.accounting.numerical.convolution import MOST_WINDOW, Law, compose
from discreet.accounting.numerical.few import Outcomes
from discreet.accounting.numerical.lattice import Grid, Lattice, lower, upper
from discreet.accounting.numerical.many import upper_many
from discreet.accounting.numerical.pairs import ON_EDGE, RELATIVE_ERROR, Floats, Pair
from discreet.accounting.numerical.parts import Moments, Parts, Window, saddle_point, window
from discreet.accounting.numerical.profiled import MOST_CORE, Profiled, lower_profiled, upper_profiled

__all__ = ["Direction", "Side"]

TIGHT, LOOSE = 4e-6, 3e-5
"""What the lattice may add to epsilon, relatively; the second where the first would take more than ``MANY_POINTS``."""

CORE = 4.0
"""Standard deviations around the mean in which cells are one step wide."""

MANY_POINTS, MOST_POINTS = 1 << 20, 1 << 21
"""Points of a transform that are a matter of milliseconds, and that fit into any machine's memory."""

MANY = 10**5
"""Of so many profiles the sum is so smooth that few of its frequencies matter, however long the window."""

SKETCHED = 256
"""So many pairs are looked at to choose the tilt and the step."""

SMALLEST_DELTA = 1e-300
RAREST = (1e-50, 1e-25, 1e-12)
"""Where a delta is asked for, what is left out beyond the lattice: the first that fits. Smaller ones are not told."""

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
        if (outcomes := Outcomes.of(self.pairs)) is not None:
            return outcomes.epsilon(delta, side)
        sign = 1 if side == "upper" else -1
        tail = max(delta, SMALLEST_DELTA) * 1e-9 / self.copies
        lattices, law = self._composed(side, tail, log_delta=math.log(delta))
        slack = sign * math.expm1(self.copies * self._error)
        target = delta * (1 - slack) - sign * _aside(lattices, side)
        if not target > 0:
            return math.inf if side == "upper" else 0.0
        return _crossing(law, math.log(target), sign) + law.shift + sign * self._moved(law.step)

    def delta(self, epsilon: float, side: Side) -> float:
        """Return a bound on the smallest delta with that epsilon."""
        if (outcomes := Outcomes.of(self.pairs)) is not None:
            return outcomes.delta(epsilon, side)
        sign = 1 if side == "upper" else -1
        rarest = next((tail for tail in RAREST if self._fits(tail / self.copies)), RAREST[-1])
        lattices, law = self._composed(side, rarest / self.copies, epsilon=epsilon)
        wanted = (epsilon - sign * self._moved(law.step) - law.shift) / law.step
        place = math.floor(wanted)
        before, after = (math.exp(min(law.log_delta(place + i, sign), 0.0)) for i in (0, 1))
        share = math.expm1((wanted - place) * law.step) / math.expm1(law.step)
        found = before + (after - before) * share
        slack = 1 + sign * math.expm1(self.copies * self._error)
        return min(1.0, max(0.0, found * slack + sign * _aside(lattices, side)))

    @property
    def by_profile(self) -> bool:
        """Whether the pairs bring their profiles, from which lattices are made of which every error is counted."""
        return all(isinstance(pair, Profiled) for pair, _ in self.pairs)

    @property
    def _error(self) -> float:
        return 0.0 if self.by_profile else RELATIVE_ERROR

    def _fits(self, tail: float) -> bool:
        return self.by_profile or all(
            max(map(abs, pair.span(tail))) - math.log(tail) < LARGEST_LOSS for pair, _ in self.pairs
        )

    def weight(self, *, delta: float | None = None, epsilon: float | None = None) -> float:
        """Return Chernoff's bound on epsilon, or on the log of delta, roughly: it tells which direction is worse."""
        tail = RAREST[-1] / self.copies if delta is None else max(delta, SMALLEST_DELTA) * 1e-9 / self.copies
        sketch = Parts.of(self._sketch(tail))
        log_delta = None if delta is None else math.log(delta)
        theta = max(saddle_point(sketch, log_delta=log_delta, epsilon=epsilon), 1e-9)
        value = sketch.moments(theta)[0] - math.log1p(theta)
        return value - theta * (epsilon or 0.0) if log_delta is None else (value - log_delta) / theta

    def _sketch(self, tail: float) -> list[tuple[Lattice, int]]:
        """Return the pairs, or some of them counted for all, roughly."""
        unit = max(max(map(abs, pair.span(tail))) for pair, _ in self.pairs) * 2.0**-50
        chosen, rest = list(self.pairs), []
        if len(chosen) > SKETCHED:  # those that weigh most, and some of the others for all of these
            chosen.sort(key=lambda item: -item[1] * max(map(abs, item[0].span(tail))) ** 2)
            chosen, rest = chosen[: SKETCHED // 4], chosen[SKETCHED // 4 :]
            some = rest[:: max(1, len(rest) // SKETCHED)]
            scale = sum(count for _, count in rest) / sum(count for _, count in some)
            rest = [(pair, max(1, round(scale * count))) for pair, count in some]
        return [(_outline(pair, tail, unit), count) for pair, count in (*chosen, *rest)]

    def _composed(
        self, side: Side, tail: float, *, log_delta: float | None = None, epsilon: float | None = None
    ) -> tuple[list[tuple[Lattice, int]], Law]:
        """Return all pairs on one lattice and the law of their sum; coarser where a window of profiles is too wide."""
        for fineness in (1.0, 1 / 8, 1 / 64, 1 / 512) if self.by_profile else (1.0,):
            lattices, theta, frame = self._lattices(side, tail, fineness, log_delta=log_delta, epsilon=epsilon)
            with suppress(OverflowError):
                return lattices, compose(Parts.of(lattices), theta, frame)
        raise OverflowError

    def _lattices(
        self,
        side: Side,
        tail: float,
        fineness: float = 1.0,
        *,
        log_delta: float | None = None,
        epsilon: float | None = None,
    ) -> tuple[list[tuple[Lattice, int]], float, Window]:
        """Return all pairs on one lattice whose step suits the tail that is asked for, and the tilt to that tail.

        With it, a window that suits them.
        """
        copies = self.copies
        if not self._fits(tail):
            raise OverflowError
        outlines = self._sketch(tail)
        sketch = Parts.of(outlines)
        theta, frame = _tilt(sketch, log_delta, epsilon)
        step = self._step(sketch, theta, frame.width) / (self.fineness * fineness)
        seen = [Parts.of([(outline, 1)]).moments(theta)[1:] for outline, _ in outlines]
        grids = []
        for place, (_, count) in enumerate(self.pairs):
            centre, variance = seen[place] if len(seen) == len(self.pairs) else (0.0, math.inf)
            stride = max(1, math.isqrt(copies // (4 * count * len(self.pairs))))
            most = MOST_CORE if self.by_profile else 1e4
            core = max(16, math.ceil(min(CORE * math.sqrt(variance) / (step * stride), most)))
            grids.append(Grid(step, centre, core, stride))
        made: list[Lattice]
        if self.by_profile:
            by_profile = upper_profiled if side == "upper" else lower_profiled
            listed = [(pair, grid) for (pair, _), grid in zip(self.pairs, grids, strict=True)]
            made = [by_profile(pair, grid, tail) for pair, grid in listed if isinstance(pair, Profiled)]
        elif side == "upper" and len(self.pairs) > SKETCHED:
            made = upper_many([pair for pair, _ in self.pairs], grids, tail)
        else:
            make = upper if side == "upper" else lower
            made = [make(pair, grid, tail) for (pair, _), grid in zip(self.pairs, grids, strict=True)]
        lattices = [(lattice, count) for lattice, (_, count) in zip(made, self.pairs, strict=True)]
        return lattices, theta, frame

    def _step(self, sketch: Parts, theta: float, reach: float) -> float:
        """Return a step for which the lattice adds little to epsilon.

        To split the mass of a cell of width h between its ends multiplies ``E e^(theta L)`` by
        ``1 + theta (1 + theta) h^2 / 12`` or so, and T such factors move epsilon by ``T (1 + theta) h^2 / 12``. The
        usual loss is several steps in any case. Where most releases are of one pair with a bounded loss, the step
        divides its range.
        """
        _, mean, variance = sketch.moments(theta)
        epsilon = max(mean, math.sqrt(variance) / 10)
        tight, loose = (math.sqrt(12 * part * epsilon / (self.copies * (1 + theta))) for part in (TIGHT, LOOSE))
        tight = min(tight, sketch.usual() / 8)
        most = reach / MANY_POINTS if len(self.pairs) <= SKETCHED else loose
        if len(self.pairs) > 8 * SKETCHED:
            tight = 2 * loose
        step = max(tight, min(loose, most), reach / MOST_POINTS)
        if self.by_profile:
            step = max(loose, reach / (MANY_POINTS / 4 if self.copies < MANY else MOST_WINDOW))
        pair, count = max(self.pairs, key=lambda item: item[1])
        low, high = pair.span(RAREST[0]) if math.isfinite(sum(pair.support)) else pair.support
        if math.isfinite(low) and math.isfinite(high) and high - low > step and 2 * count > self.copies:
            step = (high - low) / math.ceil((high - low) / step)
        return step

    def _moved(self, step: float) -> float:
        """Return how far the summed loss may be off: by errors of the masses, snapped atoms and rounded places."""
        widest = max(abs(end) for pair, _ in self.pairs for end in pair.span(1e-60) if math.isfinite(end))
        snapped = 0.0 if self.by_profile else 2 * RELATIVE_ERROR + ON_EDGE * step
        return self.copies * (snapped + 2.0**-50 * widest)


def _outline(pair: Pair, tail: float, unit: float) -> Lattice:
    """Return the pair roughly, with cells that are narrow about 0; each cell's loss is the log of its mass ratio."""
    low, high = pair.span(tail)
    size = max(abs(low), abs(high), 1e-300)
    powers = size * np.exp(np.arange(-160, -40) / 10)
    even = np.linspace(low, high, 300)
    edges: Floats = np.concatenate([-powers, [0.0], powers, even[np.abs(even) > powers[-1]], [low, high]])
    edges = np.unique(edges[(edges >= low) & (edges <= high)])
    if isinstance(pair, Profiled):
        losses, mass = edges, pair.outline(edges)
    else:
        p, q = pair.cells(edges)
        within = np.clip(np.log(p / q), edges[:-1], edges[1:])
        losses, mass = np.concatenate([within, edges]), np.concatenate([p, pair.atoms(edges)[0]])
    there = np.flatnonzero(mass > 0)
    if not there.size:
        raise OverflowError
    there = there[np.argsort(losses[there])]
    return Lattice(0.0, unit, np.rint(losses[there] / unit).astype(np.int64), mass[there])


def _tilt(sketch: Parts, log_delta: float | None, epsilon: float | None) -> tuple[float, Window]:
    """Return a tilt to the tail that is asked for, and its window.

    At the saddle point rare large losses can outweigh all others, and the window is wide. A smaller tilt does as well
    then, as long as a fair share of the tilted mass lies in the tail: that is ``delta e^(theta epsilon - K(theta))``,
    where epsilon is at least 0 and hardly above the best of Chernoff's bounds.
    """
    saddle = saddle_point(sketch, log_delta=log_delta, epsilon=epsilon)
    saddle = max(saddle, 1e-4 / max(math.sqrt(sketch.moments(saddle)[2]), sketch.step))
    plain = math.sqrt(sketch.moments(0.0)[2])
    found: list[tuple[float, Moments, Window]] = []
    for part in (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.12):
        around = sketch.moments(part * saddle)
        found.append((part * saddle, around, window(sketch, part * saddle, around)))
        deviation = math.sqrt(around[2])
        if found[-1][2].width < 18 * deviation < 36 * plain or deviation == 0:
            break
    if log_delta is None:
        wanted = (epsilon or 0.0) - sketch.shift
        fair = [row for row in found if row[1][1] + 4 * math.sqrt(row[1][2]) >= wanted]
    else:
        wanted = max(0.0, min((value - math.log1p(theta) - log_delta) / theta for theta, (value, *_), _ in found))
        shares = [log_delta + theta * wanted - value + math.log1p(theta) for theta, (value, *_), _ in found]
        sure = [log_delta - value + math.log1p(theta) for theta, (value, *_), _ in found]
        fair = [row for row, share, least in zip(found, shares, sure, strict=True) if share > -4 or least > -12]
    theta, _, frame = min(fair or found[:1], key=lambda row: row[2].width)
    return theta, frame


def _aside(lattices: list[tuple[Lattice, int]], side: Side) -> float:
    """Return the delta that does not come from the lattice: the chance of an infinite loss, or what is too much."""
    if side == "lower":
        return math.fsum(count * part.excess for part, count in lattices)
    chance = -math.expm1(math.fsum(count * _log_without(part.infinite) for part, count in lattices))
    return min(1.0, chance * (1 + (8 + len(lattices)) * 2.0**-50))


def _log_without(chance: float) -> float:
    return math.log1p(-chance) if chance < 1 else -math.inf


def _crossing(law: Law, log_target: float, sign: int) -> float:
    """Return the loss (less the shift) at which delta is reached; linear in e^epsilon between lattice points."""
    low, high = _bracket(law, log_target)
    if sign > 0:
        if high == law.start + law.size:
            return math.inf  # above the window nothing is known
        if low < law.start:
            return high * law.step
        above, below = law.log_delta(low, 1), law.log_delta(high, 1)
    else:
        found = _last_above(law, log_target, low)
        if found is None:
            return -math.inf
        low, above = found
        below = law.log_delta(low + 1, -1)
    bottom = math.exp(min(below - above, 0.0))
    share = -math.expm1(log_target - above) / (1 - bottom) if bottom < 1 else 0.5 + 0.5 * sign
    return low * law.step + math.log1p(min(share, 1.0) * math.expm1(law.step))


def _bracket(law: Law, log_target: float) -> tuple[int, int]:
    """Return neighbours on the lattice between which delta from above falls to the target; by regula falsi."""
    low, high = law.start - 1, law.start + law.size
    above, below = math.inf, -math.inf  # the logarithm of delta there, as far as it is known
    guess = law.mean / law.step
    for rounds in range(400):
        place = min(max(math.floor(guess), low + 1), high - 1)
        value = law.log_delta(place, 1)
        if value > log_target:
            low, above = place, value
        else:
            high, below = place, value
        if high - low <= 1:
            break
        if rounds % 6 == 5 or not math.isfinite(value):
            guess = (low + high) / 2
        elif math.isfinite(above) and math.isfinite(below):
            guess = low + (high - low) * (above - log_target) / (above - below)
        else:
            guess = place + 1.02 * (value - log_target) / (law.theta * law.step) + (2 if value > log_target else -2)
    return low, high


def _last_above(law: Law, log_target: float, place: int) -> tuple[int, float] | None:
    """Return a place near this one at which delta from below exceeds the target, and its logarithm there."""
    step, tried = 1, place + 1
    while place >= law.start:
        value = law.log_delta(place, -1)
        if value > log_target:
            break
        tried, step = place, 2 * step
        place -= step
    else:
        return None
    while tried - place > 1:
        middle = (place + tried) // 2
        found = law.log_delta(middle, -1)
        if found > log_target:
            place, value = middle, found
        else:
            tried = middle
    return place, value
