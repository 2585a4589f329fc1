"""A pair on a lattice of losses, from above and from below.

Write ``D(x) = sup over events of P - x Q``, the hockey-stick divergence at ``x = e^epsilon``: convex and falling. A
pair dominates another if and only if its D is nowhere smaller, and composition keeps this order (Zhu, Dong and Wang,
AISTATS 2022). A pair on a lattice of losses is a polygon with its corners at the lattice points.

*From above* the polygon through ``D`` at the lattice points: each cell's masses p and q are split between its two
ends so that both are kept (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, PETS 2022).

*From below* the same polygon lowered at corner i by ``s_i``, such that every edge lies below D. How far a chord
overshoots its arc is bounded by the tangents of D at both ends and in the middle of the cell, all of which are known
from the masses of half cells. In the smooth interior ``s_i`` is the larger overshoot of the two adjacent cells; where
the support ends, D is exact at the end and the s follow one another from there. Corners that this leaves concave are
removed, which only lowers the polygon.

The cost of either is of second order in the cell width.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.numerical.pairs import Floats, Pair

__all__ = ["Lattice", "lower", "upper"]

FOLLOWED = 3000
"""Cells in which the lowering follows from an end of the support; beyond, the larger overshoot is as good."""


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Masses of P at the losses ``anchor + (first + i) * step``.

    ``infinite`` is mass of P at an infinite loss (from above), ``excess`` what the delta of one copy may be too large
    (from below).
    """

    anchor: float
    first: int
    step: float
    mass: Floats
    infinite: float = 0.0
    excess: float = 0.0


def upper(pair: Pair, step: float, tail: float) -> Lattice:
    """Return a lattice that dominates the pair; a mass of at most ``tail`` is moved at each end."""
    anchor, first, last, p2, q2, p_at, _ = _halves(pair, step, tail)
    p, q = p2[0::2] + p2[1::2], q2[0::2] + q2[1::2]
    losses: Floats = anchor + np.arange(first, last + 1, dtype=np.float64) * step
    at_top = np.clip((p - np.exp(losses[:-1]) * q) / -math.expm1(-step), 0, p)
    mass = p_at
    mass[:-1] += p - at_top
    mass[1:] += at_top
    below, above = _outside(pair, losses)
    mass[0] += below
    return Lattice(anchor, first, step, mass, infinite=above)


def lower(pair: Pair, step: float, tail: float) -> Lattice:
    """Return a lattice that the pair dominates."""
    anchor, first, last, p2, q2, _, corners = _halves(pair, step, tail)
    if math.isfinite(anchor) and anchor + last * step > pair.support[1] + 1e-6 * step and last - first > 1:
        # The support ends inside the last cell: its losses are lowered to the cell's lower end, where Q keeps its mass.
        corners[-2] += corners[-1] + q2[-1] + q2[-2]
        p2, q2, corners, last = p2[:-2], q2[:-2], corners[:-1], last - 1
    losses = anchor + np.arange(first, last + 1) * step
    x = np.exp(losses)
    p, q = p2[0::2] + p2[1::2], q2[0::2] + q2[1::2]
    width, half = x[:-1] * math.expm1(step), x[:-1] * math.expm1(step / 2)
    q_top = np.clip((p - x[:-1] * q) / width, 0, q)
    q_bottom = q - q_top
    corners[:-1] += q_bottom
    corners[1:] += q_top

    # D less its chord: 0 at both ends with slopes -q_bottom and q_top there, `sag` with slope `slope` in the middle.
    sag = np.minimum(p2[1::2] - (x[:-1] + half) * q2[1::2] - (width - half) * q_top, 0)
    slope = q_top - q2[1::2]
    with np.errstate(divide="ignore", invalid="ignore"):
        left = (sag - slope * half) / (-q_bottom - slope)
        right = half + (-q_top * (width - half) - sag) / (slope - q_top)
    left = np.clip(np.where(np.isnan(left), half, left), 0, half)
    right = np.clip(np.where(np.isnan(right), half, right), half, width)
    meets = np.stack([left, half, right]) / width
    depths = np.maximum(np.stack([q_bottom * left, -sag, q_top * (width - right)]), 0)

    lowered = _lowering(meets, depths, pair.support)
    change = np.diff(lowered) / width
    corners[:-1] -= change
    corners[1:] += change
    corners, raised = _convex(corners, x)
    return Lattice(anchor, first, step, corners * x, excess=float(lowered[-1]) + raised)


def _halves(pair: Pair, step: float, tail: float) -> tuple[float, int, int, Floats, Floats, Floats, Floats]:
    """Return the lattice that covers the pair but for its tails, and the masses of its half cells and points."""
    low, high = pair.support
    anchor = low if math.isfinite(low) else high if math.isfinite(high) else 0.0
    start, end = pair.span(tail)
    first = math.floor((start - anchor) / step + 1e-9) - (0 if math.isfinite(low) else 1)
    last = max(math.ceil((end - anchor) / step - 1e-9) + (0 if math.isfinite(high) else 1), first + 1)
    edges: Floats = anchor + np.arange(2 * first, 2 * last + 1, dtype=np.float64) * (step / 2)
    p, q = pair.cells(edges)
    p_at, q_at = pair.atoms(edges)
    p[1::2] += p_at[1::2]  # an atom in the middle of a cell counts with its upper half
    q[1::2] += q_at[1::2]
    return anchor, first, last, p, q, p_at[0::2].copy(), q_at[0::2].copy()


def _outside(pair: Pair, losses: Floats) -> tuple[float, float]:
    """Return the mass of P below and above the lattice."""
    below, above = 0.0, 0.0
    low, high = pair.support
    if low < losses[0] - 1e-6 * abs(losses[1] - losses[0]):
        below = _mass(pair, low, losses[0])
    if high > losses[-1] + 1e-6 * abs(losses[1] - losses[0]):
        above = _mass(pair, losses[-1], high)
    return below, above


def _mass(pair: Pair, low: float, high: float) -> float:
    """Return the mass of P between two losses, at one of which the support ends."""
    edges = np.array([low, high])
    outer = 0 if low == pair.support[0] else 1
    return float(pair.cells(edges)[0][0]) + float(pair.atoms(edges)[0][outer])


def _lowering(meets: Floats, depths: Floats, support: tuple[float, float]) -> Floats:
    """Return how far each corner is lowered: at each point where tangents meet, the chord sinks at least to them."""
    deepest = depths.max(axis=0)
    lowered = np.zeros(deepest.size + 1)
    lowered[:-1] = deepest
    lowered[1:] = np.maximum(lowered[1:], deepest)
    count = min(FOLLOWED, deepest.size)
    if math.isfinite(support[0]):
        followed = _follow(meets[:, :count], depths[:, :count])
        lowered[:count] = followed[:count]
        lowered[count] = max(lowered[count], followed[count]) if count < deepest.size else followed[count]
        if math.isfinite(support[1]) and deepest.size > 1:  # D is exact there too: the last edge ends on it
            lowered[-1] = 0.0
            lowered[-2] = max(lowered[-2], _follow(1 - meets[:, -1:], depths[:, -1:])[1])
    elif math.isfinite(support[1]):
        followed = _follow(1 - meets[:, ::-1][:, :count], depths[:, ::-1][:, :count])[::-1]
        start = deepest.size - count
        lowered[start + 1 :] = followed[1:]
        lowered[start] = max(lowered[start], followed[0]) if start else followed[0]
    return lowered


def _follow(meets: Floats, depths: Floats) -> Floats:
    """Return the least lowering of each corner given that of the one before, starting from 0."""
    binding = (depths > 0) & (meets > 0)
    needs = np.divide(depths, meets, out=np.zeros_like(depths), where=binding).T.tolist()
    shares = np.divide(1 - meets, meets, out=np.zeros_like(meets), where=binding).T.tolist()
    current, out = 0.0, [0.0]
    for (a, b, c), (u, v, w) in zip(needs, shares, strict=True):
        current = max(0.0, a - u * current, b - v * current, c - w * current)
        out.append(current)
    return np.array(out)


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
