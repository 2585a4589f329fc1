"""Many different pairs put on one lattice at once, from above: the same splitting as ``lattice.upper``, in bulk."""

import math
from collections.abc import Sequence

import numpy as np

from discreet.accounting.numerical.lattice import Grid, Lattice, Places, upper
from discreet.accounting.numerical.pairs import Atoms, Floats, LaplacePair, Pair

__all__ = ["upper_many"]

FEW, WIDEST = 64, 1 << 14
CHUNK = 1 << 18


def upper_many(pairs: Sequence[Pair], grids: Sequence[Grid], tail: float) -> list[Lattice]:
    """Return a lattice that dominates each pair."""
    step = grids[0].step
    found: dict[int, Lattice] = {}
    laplace = [i for i, pair in enumerate(pairs) if isinstance(pair, LaplacePair) and pair.epsilon < WIDEST * step]
    found.update(zip(laplace, _laplace(np.array([pairs[i].support[1] for i in laplace]), step), strict=True))
    atoms = [(i, pair) for i, pair in enumerate(pairs) if isinstance(pair, Atoms) and pair.losses.size <= FEW]
    found.update(zip([i for i, _ in atoms], _atoms([pair for _, pair in atoms], step), strict=True))
    return [found[i] if i in found else upper(pair, grids[i], tail) for i, pair in enumerate(pairs)]


def _laplace(epsilons: Floats, step: float) -> list[Lattice]:
    """Return Laplace pairs, each anchored at its largest loss; those of similar size are computed together."""
    found: dict[int, Lattice] = {}
    order = np.argsort(-epsilons)
    start = 0
    while start < order.size:
        cells = math.ceil(2 * float(epsilons[order[start]]) / step)
        rows = order[start : start + max(1, CHUNK // cells)]
        places: Places = np.arange(-cells, 1, dtype=np.int64)
        e = epsilons[rows, None]
        edges = np.maximum(e + places * step, -e)
        rise = np.expm1(np.diff(edges) / 2)
        p = np.exp((edges[:, :-1] - e) / 2) * rise / 2
        q = np.exp(-(edges[:, 1:] + e) / 2) * rise / 2
        mass = np.zeros(edges.shape)
        at_top = np.clip((p - np.exp(e + places[:-1] * step) * q) / -math.expm1(-step), 0, p)
        mass[:, :-1] += p - at_top
        mass[:, 1:] += at_top
        mass[:, -1] += 0.5
        small = np.exp(-e[:, 0]) / 2  # the mass of P at -epsilon, between two lattice points
        below = np.floor(-2 * e[:, 0] / step).astype(np.int64)
        share = np.expm1(-(-2 * e[:, 0] - below * step)) / math.expm1(-step)
        line = np.arange(rows.size)
        mass[line, below + cells] += small * (1 - share)
        mass[line, np.minimum(below + 1, 0) + cells] += small * share
        for i, row in enumerate(rows):
            first = int(below[i]) + cells
            found[int(row)] = Lattice(float(epsilons[row]), step, places[first:], mass[i, first:])
        start += rows.size
    return [found[i] for i in range(epsilons.size)]


def _atoms(pairs: list[Atoms], step: float) -> list[Lattice]:
    """Return atoms, each split between the two lattice points about it; each pair is anchored at its largest loss."""
    if not pairs:
        return []
    sizes = np.array([pair.losses.size for pair in pairs])
    anchors = np.repeat([pair.support[1] for pair in pairs], sizes)
    distance = np.concatenate([pair.losses for pair in pairs]) - anchors
    p = np.concatenate([pair.p for pair in pairs])
    below = np.minimum(np.floor(distance / step), -1).astype(np.int64)
    share = np.clip(np.expm1(below * step - distance) / math.expm1(-step), 0, 1)
    places = np.stack([below, below + 1], axis=1).ravel()
    mass = np.stack([p * (1 - share), p * share], axis=1).ravel()
    found, start = [], 0
    for pair in pairs:
        end = start + 2 * pair.losses.size
        found.append(Lattice(pair.support[1], step, places[start:end], mass[start:end]))
        start = end
    return found
