"""A pair on a lattice by its profile alone, for losses that masses in float64 cannot carry.

Masses of cells tell the losses of a release only where these are well above the rounding of the masses and well below
the largest exponent. The profile ``D(x)`` of a pair, the hockey-stick divergence at ``x = e^l``, is known in balls at
any loss, however small or large, and a polygon through it is a lattice. With V what ``D(x)`` exceeds ``(1 - x)_+`` by,
G the falls of V over cells of width h, each divided by ``e^h - 1``, and E the same of ``(1 - x)_+``, the mass of P at a
corner is

    p_i = e^h_(i-1) (G + E)_(i-1) - (G + E)_i,

where the parts of E cancel but for the cell about loss 0. Nothing is exponentiated but widths of cells.

The masses found are not trusted. The polygon they stand for is summed from them, all of its terms being positive, and
compared with D at every corner; all masses are scaled by what is missing, or too much. A polygon dominates D if it does
so at all corners, since D is convex. From below each corner is first lowered by what a chord can overshoot its arc by:
D, being convex, lies above the chords of its neighbours.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.accounting.numerical.lattice import Grid, Lattice, Places, _constant, _cover, _trimmed
from discreet.accounting.numerical.pairs import Floats, Pair, Spread

__all__ = ["MOST_CORE", "Bounds", "Profile", "Profiled", "lower_profiled", "upper_profiled"]

Bounds = tuple[float, float]
"""From below and from above."""

Profile = Callable[[float, bool], Bounds]
"""Delta at a loss of at least 0: of the first law against the second or, if so asked, the other way round."""

MOST_CORE = 300
"""Cells of one step on either side of the mean: a polygon of so many adds a few parts in 10^5 to epsilon."""

ROOM = 2.0**-6
"""A part of a loss."""

WIDEST = 100.0
"""Cells wider than this are no place to tell outcomes as one: a step of the exponent is all they hold."""

SLACK = 2.0**-49
"""A relative error that the few roundings at one corner do not exceed."""


@dataclass(frozen=True, slots=True, eq=False)
class Profiled:
    """A pair, roughly, and its profile with certainty."""

    pair: Pair
    profile: Profile
    turned: bool = False

    @property
    def support(self) -> tuple[float, float]:
        """That of the pair."""
        return self.pair.support

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Those of the pair."""
        return self.pair.cells(edges)

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Those of the pair."""
        return self.pair.atoms(edges)

    def span(self, tail: float, /) -> tuple[float, float]:
        """That of the pair; one loss alone is given room below."""
        low, high = self.pair.span(tail)
        return min(low, high - ROOM * abs(high)), high

    def reversed(self) -> "Profiled":
        """The other direction; itself where the pair is symmetric."""
        back = self.pair.reversed()
        same = back is self.pair or back == self.pair
        return self if same else Profiled(back, self.profile, not self.turned)

    def outline(self, losses: Floats) -> Floats:
        """Return masses at some losses, for a rough view of the pair."""
        return _masses(losses, np.minimum(self.excess(losses, 1), np.exp(np.minimum(losses, 0.0))))

    def excess(self, losses: Floats, side: int) -> Floats:
        """Return ``D(e^l) - (1 - e^l)_+``, from above for side 1 and from below for side 0.

        Below 0 that is ``e^l`` times delta of the other direction at ``-l``.
        """
        found = []
        for loss in losses.tolist():
            value = self.profile(abs(loss), self.turned != (loss < 0))[side]
            found.append(value if loss >= 0 else value * math.exp(loss) * (1 + SLACK * (2 * side - 1)))
        return np.array(found)


def upper_profiled(pair: Profiled, grid: Grid, tail: float) -> Lattice:
    """Return a lattice that dominates the pair."""
    anchor, places, losses = _corners(pair, grid, tail)
    excess = np.minimum(pair.excess(losses, 1), np.exp(np.minimum(losses, 0.0)))
    mass, plain = _masses(losses, excess), -np.expm1(np.minimum(losses, 0.0))
    rest = float(excess[-1] + plain[-1])
    heights, whole = _polygon(mass, np.diff(losses))
    missing = max(1.0, float(np.max((excess + plain) / np.maximum(heights + rest, 1e-300))), 1 / (whole + rest))
    scale = missing * (1 + (losses.size + 8) * SLACK)
    return _trimmed(Lattice(anchor, grid.step, places, mass * scale, infinite=min(1.0, rest * scale)))


def lower_profiled(pair: Profiled, grid: Grid, tail: float) -> Lattice:
    """Return a lattice that the pair dominates."""
    if pair.support[1] - pair.support[0] < grid.step:
        return _constant(grid.step)
    merged = _Merged.of(pair, grid.step)
    anchor, places, losses = _corners(merged, grid, tail)
    fine = np.empty(2 * losses.size - 1)
    fine[0::2], fine[1::2] = losses, (losses[:-1] + losses[1:]) / 2
    curve = np.maximum(merged.heights(fine), 0.0) * (1 - 4 * SLACK)
    wanted = curve[0::2] - _overshoot(curve, np.diff(fine))
    most = 1.0 if losses[0] < 0 else float(wanted[0])
    # Beyond the last corner nothing is counted on, and below the first one that D is at least 1 - x.
    wanted[0] = min(wanted[0], -math.expm1(losses[0]) * (1 - 4 * SLACK)) if losses[0] < 0 else wanted[0]
    wanted[-1] = 0.0
    end = int(np.argmax(wanted <= 0)) + 1
    heights = np.maximum(wanted[:end], 0.0)
    mass = _hull(losses[:end], heights)
    if not mass.any():
        return _constant(grid.step)
    room = 1 + (end + 8) * SLACK
    sums, whole = _polygon(mass, np.diff(losses[:end]))
    mass /= max(1.0, float(np.max(sums[:-1] / heights[:-1])) * room, whole * room / most)
    mass[0] = max(0.0, most / room - float(mass.sum()))
    return _trimmed(Lattice(anchor, grid.step, places[:end], mass))


@dataclass(frozen=True, slots=True, eq=False)
class _Merged:
    """A pair whose least losses, up to ``cut``, are told as one, ``loss``, which is post-processing.

    Near the only end of the support of a sample most of the mass lies within a small part of a cell. Up to the cut the
    profile is the larger of ``1 - x`` and a line below D, of height ``level`` at the cut, with the slope of a chord
    beyond it.
    """

    pair: Profiled
    cut: float = -math.inf
    loss: float = -math.inf
    level: float = 0.0
    slope: float = 0.0

    @classmethod
    def of(cls, pair: Profiled, width: float) -> "_Merged":
        low, high = pair.support
        if not math.isfinite(low) or math.isfinite(high) or width > WIDEST:
            return cls(pair)
        ends = np.array([low + width, low + 1.25 * width])
        level, beyond = (pair.excess(ends, 0) + -np.expm1(np.minimum(ends, 0.0))) * (1 - 4 * SLACK)
        slope = (level - beyond) * (1 - 2.0**-30) / math.expm1(width / 4)
        share = slope * math.exp(-ends[0])
        rise = (-level - share * math.expm1(ends[0])) / (1 - share) if share < 1 else -1.0
        loss = math.log1p(rise) if rise > -1 else -math.inf
        return cls(pair, float(ends[0]), loss, level, slope) if low < loss < ends[0] else cls(pair)

    @property
    def support(self) -> tuple[float, float]:
        """From the merged losses on."""
        low, high = self.pair.support
        return max(low, self.loss), high

    def span(self, tail: float, /) -> tuple[float, float]:
        """The pair's, from the merged losses on."""
        low, high = self.pair.span(tail)
        return max(low, self.loss), max(high, self.cut)

    def heights(self, losses: Floats) -> Floats:
        """Return the profile from below."""
        inside, plain = losses < self.cut, -np.expm1(np.minimum(losses, 0.0))
        line = self.level - self.slope * np.expm1(np.minimum(losses - self.cut, 0.0))
        found = np.maximum(plain, line)
        found[~inside] = self.pair.excess(losses[~inside], 0) + plain[~inside]
        return found


def _corners(pair: Spread, grid: Grid, tail: float) -> tuple[float, Places, Floats]:
    anchor, places = _cover(pair, grid, tail)
    return anchor, places, np.asarray(anchor + places.astype(np.float64) * grid.step, dtype=np.float64)


def _masses(losses: Floats, excess: Floats) -> Floats:
    """Return the masses of P at the corners of the polygon through the profile, given by its excess."""
    widths, falls = np.diff(losses), excess[:-1] - excess[1:]
    mass = np.zeros(losses.size)
    mass[1:] = falls / -np.expm1(-widths)
    mass[:-1] -= falls / np.expm1(widths)
    mass[0] -= excess[0]
    # Those of (1 - x)_+ itself: all of it at loss 0, or split between the ends of the cell that holds 0.
    at = int(np.searchsorted(losses, 0.0, side="right")) - 1
    if at < 0:
        mass[0] += 1.0
    elif losses[at] == 0 or at == losses.size - 1:
        mass[at] += math.exp(losses[at])
    else:
        fall = -math.expm1(losses[at])
        mass[at] += math.exp(losses[at]) - fall / np.expm1(widths[at])
        mass[at + 1] += fall / -math.expm1(-widths[at])
    return np.maximum(mass, 0)


def _polygon(mass: Floats, widths: Floats) -> tuple[Floats, float]:
    """Return the heights of the polygon that masses stand for, at their losses, and at ``x = 0``."""
    heights, slope = [0.0], 0.0
    falls, rises = np.exp(-widths[::-1]).tolist(), (-np.expm1(-widths[::-1])).tolist()
    for p, fall, rise in zip(mass[:0:-1].tolist(), falls, rises, strict=True):
        heights.append(heights[-1] + rise * (p + slope))
        slope = fall * (p + slope)
    return np.array(heights[::-1]), heights[-1] + slope + float(mass[0])


def _overshoot(curve: Floats, widths: Floats) -> Floats:
    """Return by how much to lower corners, which are every other point, so that all chords between them lie below D.

    Slopes are those in x, times x at the end of their cell or at the start of the next one.
    """
    falls = np.maximum(curve[:-1] - curve[1:], 0.0)
    at_end, at_start = falls / -np.expm1(-widths), falls / np.expm1(widths)
    before = np.append(math.inf, at_end[:-1] * np.exp(widths[1:]))
    left, right = np.maximum(before - at_end, 0.0), np.maximum(at_end - np.append(at_start[1:], 0.0), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        between = np.where(np.isfinite(left), left * right / (left + right), right)
    depths = np.nan_to_num(between) * -np.expm1(-widths) + 16 * SLACK * np.append(curve[0], curve[:-2])
    share = np.expm1(-widths[0::2]) * np.exp(-widths[1::2]) / np.expm1(-(widths[0::2] + widths[1::2]))
    chord = curve[0:-1:2] + (curve[2::2] - curve[0:-1:2]) * share
    each = np.maximum(chord - curve[1::2], 0.0) + np.maximum(depths[0::2], depths[1::2])
    return np.asarray(np.maximum(np.append(each, 0.0), np.append(0.0, each)), dtype=np.float64)


def _hull(losses: Floats, heights: Floats) -> Floats:
    """Return the masses of the convex polygon below these points that touches the first and the last."""
    points, levels = losses.tolist(), heights.tolist()
    kept, slopes = [0], [math.inf]  # corners, and the slope of the edge that ends there, times x there
    for place in range(1, losses.size):
        while True:
            fall, width = levels[kept[-1]] - levels[place], points[place] - points[kept[-1]]
            slope = fall / -math.expm1(-width)
            if slopes[-1] > slope * math.exp(-width):
                break
            kept.pop()
            slopes.pop()
        kept.append(place)
        slopes.append(slope)
    mass = np.zeros(losses.size)
    following = 0.0
    for number in range(len(kept) - 1, 0, -1):
        mass[kept[number]] = max(0.0, slopes[number] - following)
        following = slopes[number] * math.exp(points[kept[number - 1]] - points[kept[number]])
    return mass
