"""The law of the privacy loss cut into slices: for pictures, which need no certified bounds.

What is charged never comes from here. The loss of the whole is the sum of the losses of the parts, so its law is their
convolution, computed by one plain Fourier transform.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.numerical.pairs import Atoms, Floats, Pair
from discreet.accounting.terms import Approximate, Concentrated, Gaussian, Pure, Term
from discreet.errors import NoTheorem

__all__ = ["Histogram", "loss_histogram"]

SLICES = 90
COARSE = 20
"""Slices follow the atoms where there are more than this."""

MOST_COPIES = 10**8
MOST_CELLS = 1 << 20
HIDDEN = 5e-4
"""What lies to the left, and to the right, of all slices."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Probabilities of the privacy loss between rising edges; ``infinite`` is what gives everything away."""

    edges: Floats
    probabilities: Floats
    mean: float
    deviation: float
    infinite: float = 0.0


def loss_histogram(loss: PrivacyLoss) -> Histogram:
    """Return how the loss is distributed when the record is there; zCDP is shown by the Gaussian that has it.

    >>> bell = loss_histogram(PrivacyLoss.gaussian(mu=1))
    >>> round(bell.mean, 2), round(bell.deviation, 2)
    (0.5, 1.0)
    """
    infinite, pairs = _pairs(loss)
    if not pairs:
        raise NoTheorem("this loss is always 0: there is nothing to draw.")
    if sum(count for _, count in pairs) > MOST_COPIES:
        raise NoTheorem(f"the loss of more than {MOST_COPIES:,} releases is not drawn.")
    with np.errstate(all="ignore"):
        rough = [(count, *_moments(*_points(pair))) for pair, count in pairs]
        mean = math.fsum(count * m for count, m, _ in rough)
        deviation = math.sqrt(math.fsum(count * d**2 for count, _, d in rough))
        (first, copies), *others = pairs
        if copies == 1 and not others:
            edges = _edges(*_points(first), _grain(first))
            probabilities = _inside(first, edges)
        else:
            grain = 0.0 if others else _grain(first)
            typical = deviation / math.sqrt(sum(count for _, count in pairs))
            fine = min(typical / 8, deviation / 300)
            step = grain / math.ceil(grain / fine) if grain and not isinstance(first, Atoms) else grain or fine
            losses, masses = _sum(pairs, step, mean, deviation)
            edges = _edges(losses, masses, grain)
            atoms = isinstance(first, Atoms) and not others
            probabilities = _counted(losses, masses, edges) if atoms else _spread(losses, masses, edges, step)
    return Histogram(edges, probabilities, mean, deviation, infinite)


def _pairs(loss: PrivacyLoss) -> tuple[float, list[tuple[Pair, int]]]:
    """Return the probability of an infinite loss, and the pairs of everything else."""
    survival, pairs = 1.0, []
    for term, count in loss.terms:
        known: Term = term
        if isinstance(term, Approximate):
            survival *= (1 - float(term.failure)) ** count
            known = Pure(term.epsilon)
        elif isinstance(term, Concentrated):
            known = Gaussian(2 * term.parameter)
        if known.pure == 0:
            continue
        pair = known.pair()
        if pair is None:
            raise NoTheorem(f"the loss of {term.kind} has no law of its own that could be drawn.")
        pairs.append((pair, count))
    return 1 - survival, pairs


def _points(pair: Pair) -> tuple[Floats, Floats]:
    """Return losses of one release and their masses, finely."""
    low, high = pair.span(1e-7)
    edges: Floats = np.linspace(low, high, 4001)
    cells, atoms = pair.cells(edges)[0], pair.atoms(edges)[0]
    losses = np.concatenate([(edges[1:] + edges[:-1]) / 2, edges])
    return losses, np.concatenate([cells, atoms])


def _moments(losses: Floats, masses: Floats) -> tuple[float, float]:
    total = float(masses.sum())
    mean = float(np.dot(losses, masses)) / total
    return mean, math.sqrt(max(float(np.dot((losses - mean) ** 2, masses)) / total, 1e-30))


def _grain(pair: Pair) -> float:
    """Return the distance of the atoms of a pair, or of its ends, where sums of losses lie the same way; else 0."""
    if isinstance(pair, Atoms):
        gaps = np.diff(pair.losses[pair.p > 0])
        return float(gaps[0]) if gaps.size and np.allclose(gaps, gaps[0], rtol=1e-9) else 0.0
    low, high = pair.support
    return high - low if math.isfinite(high - low) else 0.0


def _sum(pairs: list[tuple[Pair, int]], step: float, mean: float, deviation: float) -> tuple[Floats, Floats]:
    """Return the losses of the whole and their masses, on a lattice."""
    from scipy import fft

    size = fft.next_fast_len(min(max(64, math.ceil(24 * deviation / step)), MOST_CELLS), real=True)
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    first = 0.0
    for pair, count in pairs:
        start, masses = _lattice(pair, step)
        folded = np.bincount(np.arange(masses.size) % size, weights=masses, minlength=size)
        product *= fft.rfft(folded / folded.sum()) ** count
        first += count * start
    turns = round((mean - first) / step) - size // 2
    masses = np.roll(fft.irfft(product, size), -(turns % size))
    losses = np.asarray(first + (turns + np.arange(size)) * step, dtype=np.float64)
    return losses, np.maximum(np.asarray(masses, dtype=np.float64), 0)


def _lattice(pair: Pair, step: float) -> tuple[float, Floats]:
    """Return the least loss and the masses at its multiples, cells split so that both laws keep their mass."""
    low, high = pair.span(1e-13)
    count = min(max(1, math.ceil((high - low) / step - 1e-6)), MOST_CELLS)
    edges = np.asarray(low + np.arange(count + 1) * step, dtype=np.float64)
    (p, q), masses = pair.cells(edges), pair.atoms(edges)[0].copy()
    top = np.nan_to_num(np.clip((p - np.exp(edges[:-1]) * q) / -math.expm1(-step), 0, p))
    masses[:-1] += p - top
    masses[1:] += top
    return low, masses


def _edges(losses: Floats, masses: Floats, grain: float) -> Floats:
    """Return slices that show all but what is hidden; where atoms are fine and regular, each slice holds as many."""
    order = np.argsort(losses, kind="stable")
    losses, running = losses[order], np.cumsum(masses[order]) / masses.sum()
    last = losses.size - 1
    low = float(losses[min(int(np.searchsorted(running, HIDDEN)), last)])
    high = float(losses[min(int(np.searchsorted(running, 1 - HIDDEN)), last)])
    if 0 < grain < (high - low) / COARSE:
        width = grain * max(1, math.ceil((high - low) / grain / SLICES))
        places = np.arange(math.floor((high - low) / width + 1e-6) + 2, dtype=np.float64)
        return np.asarray(low - width / 2 + width * places, dtype=np.float64)
    near = max(1e-6 * abs(high - low), 1e-9 * abs(high))
    return np.linspace(low - near, high + near, SLICES + 1)


def _inside(pair: Pair, edges: Floats) -> Floats:
    """Return the masses of one release between edges; an atom on an edge belongs to the slice above it."""
    masses = np.asarray(pair.cells(edges)[0], dtype=np.float64).copy()
    masses += pair.atoms(edges)[0][:-1]
    return masses


def _counted(losses: Floats, masses: Floats, edges: Floats) -> Floats:
    """Return the mass between edges, each loss being an atom."""
    return np.asarray(np.histogram(losses, bins=edges, weights=masses)[0], dtype=np.float64)


def _spread(losses: Floats, masses: Floats, edges: Floats, step: float) -> Floats:
    """Return the mass between edges, each loss standing for a cell of the lattice."""
    running = np.concatenate([[0.0], np.cumsum(masses / masses.sum())])
    between = np.append(losses - step / 2, losses[-1] + step / 2)
    wanted = np.concatenate([[edges[0] - step / 2], edges[1:-1], [edges[-1] + step / 2]])
    return np.diff(np.interp(wanted, between, running))
