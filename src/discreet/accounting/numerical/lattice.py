"""A pair on a lattice of losses, from above and from below.

Write ``D(x) = sup over events of P - x Q``, the hockey-stick divergence at ``x = e^epsilon``: convex and falling. A
pair dominates another if and only if its D is nowhere smaller, and composition keeps this order (Zhu, Dong and Wang,
AISTATS 2022). A pair on a lattice of losses is a polygon with its corners at lattice points.

*From above* the polygon through ``D`` at the lattice points: each cell's masses p and q are split between its two
ends so that both are kept (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, PETS 2022).

*From below* the same polygon lowered at corner i by ``s_i``, such that every edge lies below D. How far a chord
overshoots its arc is bounded by the tangents of D at both ends and in the middle of the cell, all of which are known
from the masses of half cells. In the smooth interior ``s_i`` is the larger overshoot of the two adjacent cells; where
the support ends, D is exact at the end and the s follow one another from there. The polygon ends at 0 where it would
fall below; corners that all this leaves concave are removed, which only lowers it further.

The cost of either is of second order in the cell width. Cells are one step wide where the mass is and grow in
proportion to the distance from there (``Grid``): a cell that is ``d / r`` steps wide at d steps from the centre adds
``mass * (d / r)^2`` to the variance, in all at most a part ``1 / r'^2`` of what the deviation, r' cells wide, allows.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.accounting.numerical.merged import Merged
from discreet.accounting.numerical.pairs import Floats, Pair, Spread

__all__ = ["Grid", "Lattice", "lower", "upper"]

Places = npt.NDArray[np.int64]

LOST = 1e-11
"""Mass that may go missing in the rounding of many cells."""

MUCH = 0.02
"""A part of the height of the polygon that is much to lower it by."""

FOLLOWED = 400
"""Cells in which the lowering follows from an end of the support; beyond, the larger overshoot is as good."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Where to cut: every ``stride`` steps within ``core`` cells of ``centre``, less and less often beyond."""

    step: float
    centre: float = 0.0
    core: int = 10_000
    stride: int = 1

    def places(self, first: int, last: int, anchor: float) -> Places:
        """Return the lattice points from first to last at which cells end."""
        middle = min(max(round((self.centre - anchor) / self.step), first), last)
        right = middle + self._distances(last - middle)
        left = middle - self._distances(middle - first)
        return np.concatenate([left[:0:-1], right])

    def _distances(self, furthest: int) -> Places:
        if furthest == 0:
            return np.zeros(1, dtype=np.int64)
        cells = np.arange(min(self.core, furthest // self.stride) + 1, dtype=np.float64)
        reach = furthest / (self.stride * self.core)
        if reach > 1:
            beyond = np.arange(1, math.ceil(math.log(reach) * self.core) + 1)
            cells = np.concatenate([cells, np.rint(self.core * np.exp(beyond / self.core))])
        distances = cells.astype(np.int64) * self.stride
        return np.append(distances[distances < furthest], furthest)


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Masses of P at the losses ``anchor + places * step``.

    ``infinite`` is mass of P at an infinite loss (from above), ``excess`` what the delta of one copy may be too large
    (from below).
    """

    anchor: float
    step: float
    places: Places
    mass: Floats
    infinite: float = 0.0
    excess: float = 0.0


def upper(pair: Pair, grid: Grid, tail: float) -> Lattice:
    """Return a lattice that dominates the pair; a mass of at most ``tail`` is moved at each end."""
    anchor, places = _cover(pair, grid, tail)
    losses: Floats = anchor + places.astype(np.float64) * grid.step
    p, q = pair.cells(losses)
    mass = pair.atoms(losses)[0]
    at_top = np.clip((p - np.exp(losses[:-1]) * q) / -np.expm1(losses[:-1] - losses[1:]), 0, p)
    mass[:-1] += p - at_top
    mass[1:] += at_top
    below, above = _outside(pair, losses)
    mass[0] += below
    if not abs(float(mass.sum()) + above - _whole(pair)) <= LOST:
        raise ArithmeticError("mass was lost between cells: the support is too far from the lattice.")
    return _trimmed(Lattice(anchor, grid.step, places, mass, infinite=above))


def lower(pair: Pair, grid: Grid, tail: float) -> Lattice:
    """Return a lattice that the pair dominates."""
    if pair.support[1] - pair.support[0] < grid.step:
        return _constant(grid.step)
    pair = Merged.of(pair, grid.step * grid.stride)
    anchor, places = _cover(pair, grid, tail)
    losses: Floats = anchor + places.astype(np.float64) * grid.step
    edges = np.empty(2 * losses.size - 1)
    edges[0::2], edges[1::2] = losses, (losses[:-1] + losses[1:]) / 2
    p2, q2 = pair.cells(edges)
    p_at, q_at = pair.atoms(edges)
    p2[1::2] += p_at[1::2]  # an atom in the middle of a cell counts with its upper half
    q2[1::2] += q_at[1::2]
    corners = q_at[0::2].copy()
    if losses[-1] > pair.support[1] + 1e-6 * grid.step and losses.size > 2:
        # The support ends inside the last cell: its losses are lowered to the cell's lower end, where Q keeps its mass.
        corners[-2] += corners[-1] + q2[-1] + q2[-2]
        p2, q2, corners, losses, places = p2[:-2], q2[:-2], corners[:-1], losses[:-1], places[:-1]
    x, rise = np.exp(losses), np.diff(losses)
    p, q = p2[0::2] + p2[1::2], q2[0::2] + q2[1::2]
    width, half = x[:-1] * np.expm1(rise), x[:-1] * np.expm1(rise / 2)
    q_top = np.clip((p - x[:-1] * q) / width, 0, q)
    q_bottom = q - q_top
    corners[:-1] += q_bottom
    corners[1:] += q_top

    # D less its chord: 0 at both ends with slopes -q_bottom and q_top there, `sag` with slope `slope` in the middle.
    gain, cost = p2[1::2], (x[:-1] + half) * q2[1::2] + (width - half) * q_top
    sag = np.minimum(gain - cost - 2.0**-50 * (gain + cost), 0)
    slope = q_top - q2[1::2]
    with np.errstate(divide="ignore", invalid="ignore"):
        left = (sag - slope * half) / (-q_bottom - slope)
        right = half + (-q_top * (width - half) - sag) / (slope - q_top)
    left = np.clip(np.where(np.isnan(left), half, left), 0, half)
    right = np.clip(np.where(np.isnan(right), half, right), half, width)
    meets = np.stack([left, half, right]) / width
    depths = np.maximum(np.stack([q_bottom * left, -sag, q_top * (width - right)]), 0)

    slopes = np.cumsum(corners[:0:-1])[::-1]
    heights = np.append(np.cumsum((width * slopes)[::-1])[::-1], 0.0)
    lowered = _lowering(meets, depths, heights, pair.support)
    corners, raised = _convex(_cut(corners, slopes, heights - lowered, lowered, width), x)
    if not corners.any():
        return _constant(grid.step)
    return _trimmed(Lattice(anchor, grid.step, places, corners * x, excess=raised))


def _cover(pair: Spread, grid: Grid, tail: float) -> tuple[float, Places]:
    """Return the anchor of a lattice and its points that cover the pair but for its tails.

    Where the support ends the lattice has a point: at the upper end if there is one, since a loss from below cannot
    exceed it.
    """
    low, high = pair.support
    start, end = pair.span(tail)
    anchor = min(end, high) if math.isfinite(high) else max(start, low) if math.isfinite(low) else 0.0
    first = math.floor((start - anchor) / grid.step + 1e-9) - (0 if math.isfinite(low) else 1)
    last = max(math.ceil((end - anchor) / grid.step - 1e-9) + (0 if math.isfinite(high) else 1), first + 1)
    while anchor + first * grid.step > start:
        first -= 1
    while anchor + last * grid.step < end:
        last += 1
    return anchor, grid.places(first, last, anchor)


def _constant(step: float) -> Lattice:
    """Return the pair of a release that tells nothing: every pair dominates it."""
    return Lattice(0.0, step, np.zeros(1, dtype=np.int64), np.ones(1))


def _whole(pair: Pair) -> float:
    """Return the whole mass of P."""
    edges = np.array(pair.support)
    if edges[0] == edges[1]:
        return float(pair.atoms(np.array([edges[0] - 1, edges[0], edges[0] + 1]))[0].sum())
    return float(pair.cells(edges)[0].sum()) + float(pair.atoms(edges)[0].sum())


def _trimmed(lattice: Lattice) -> Lattice:
    """Leave out points without mass at both ends."""
    there = np.flatnonzero(lattice.mass)
    first, last = (int(there[0]), int(there[-1]) + 1) if there.size else (0, 1)
    if (first, last) == (0, lattice.mass.size):
        return lattice
    places, mass = lattice.places[first:last], lattice.mass[first:last]
    return Lattice(lattice.anchor, lattice.step, places, mass, lattice.infinite, lattice.excess)


def _outside(pair: Pair, losses: Floats) -> tuple[float, float]:
    """Return the mass of P below and above the lattice."""
    below, above = 0.0, 0.0
    low, high = pair.support
    if low < losses[0]:
        below = _mass(pair, low, losses[0])
    if high > losses[-1]:
        above = _mass(pair, losses[-1], high)
    return below, above


def _mass(pair: Pair, low: float, high: float) -> float:
    """Return the mass of P between two losses, at one of which the support ends."""
    edges = np.array([low, high])
    outer = 0 if low == pair.support[0] else 1
    return float(pair.cells(edges)[0][0]) + float(pair.atoms(edges)[0][outer])


def _lowering(meets: Floats, depths: Floats, heights: Floats, support: tuple[float, float]) -> Floats:
    """Return how far each corner is lowered: at each point where tangents meet, the chord sinks at least to them."""
    deepest = depths.max(axis=0)
    lowered = np.zeros(deepest.size + 1)
    lowered[:-1] = deepest
    lowered[1:] = np.maximum(lowered[1:], deepest)
    count = min(FOLLOWED, deepest.size)
    if math.isfinite(support[0]):
        followed = _follow(meets[:, :count], depths[:, :count], MUCH * heights[1 : count + 1])
        lowered[:count] = followed[:count]
        lowered[count] = max(lowered[count], followed[count]) if count < deepest.size else followed[count]
        if math.isfinite(support[1]) and deepest.size > 1:  # D is exact there too: the last edge ends on it
            lowered[-1] = 0.0
            lowered[-2] = max(lowered[-2], _follow(1 - meets[:, -1:], depths[:, -1:], np.full(1, np.inf))[1])
    elif math.isfinite(support[1]):
        followed = _follow(1 - meets[:, ::-1][:, :count], depths[:, ::-1][:, :count], np.full(count, np.inf))[::-1]
        start = deepest.size - count
        lowered[start + 1 :] = followed[1:]
        lowered[start] = max(lowered[start], followed[0]) if start else followed[0]
    return lowered


def _follow(meets: Floats, depths: Floats, most: Floats) -> Floats:
    """Return the least lowering of each corner given that of the one before, starting from 0.

    Where that would be too much, because tangents meet close to the one before, both are lowered by the overshoot: a
    corner may always be lowered further.
    """
    binding = (depths > 0) & (meets > 0)
    needs = np.divide(depths, meets, out=np.zeros_like(depths), where=binding).T.tolist()
    shares = np.divide(1 - meets, meets, out=np.zeros_like(meets), where=binding).T.tolist()
    out = [0.0]
    for (a, b, c), (u, v, w), deepest, limit in zip(
        needs, shares, depths.max(axis=0).tolist(), most.tolist(), strict=True
    ):
        last = out[-1]
        following = max(0.0, a - u * last, b - v * last, c - w * last)
        if following > max(limit, 2 * deepest):
            out[-1], following = max(last, deepest), deepest
        out.append(following)
    return np.array(out)


def _cut(corners: Floats, slopes: Floats, heights: Floats, lowered: Floats, width: Floats) -> Floats:
    """Lower each corner of the polygon, and let it end at 0 one corner before it would fall below."""
    change = np.diff(lowered) / width
    low = np.flatnonzero(heights < 0)
    whole, corners = corners.sum(), corners.copy()
    corners[:-1] -= change
    corners[1:] += change
    if low.size:
        end = max(int(low[0]) - 1, 0)
        corners[end:] = 0
        if end > 0:
            last = heights[end - 1] / width[end - 1] * (1 - 1e-6)
            before = slopes[end - 2] + change[end - 2] if end > 1 else whole
            corners[end] = last
            corners[end - 1] = min(corners[end - 1], before - last - 1e-6 * abs(before - last))
    return corners


def _convex(corners: Floats, x: Floats) -> tuple[Floats, float]:
    """Remove the corners of negative mass, which are concave: their mass goes to both neighbours, keeping its mean.

    What cannot be removed so is set to 0, which raises the polygon by at most its mass times x; that is returned too.
    """
    last = np.arange(corners.size) == corners.size - 1
    for _ in range(10_000):
        start = int(np.argmax(corners != 0))
        if corners[start] < 0 and start + 1 < corners.size:
            corners[start + 1] += corners[start]
            corners[start] = 0
            continue
        bad = corners < 0
        bad[-1] = False
        if not bad.any():
            break
        gone, kept = np.flatnonzero(bad), np.flatnonzero((corners > 0) | last)
        place = np.searchsorted(kept, gone)
        left, right = kept[place - 1], kept[place]
        share = (x[gone] - x[left]) / (x[right] - x[left])
        np.add.at(corners, right, corners[gone] * share)
        np.add.at(corners, left, corners[gone] * (1 - share))
        corners[gone] = 0
    return np.maximum(corners, 0), float(np.dot(np.maximum(-corners, 0), x))
