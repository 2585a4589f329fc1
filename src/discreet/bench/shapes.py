"""Shapes of our own, to measure without any data at hand: deterministic, and each hard in another way."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from discreet.bench.source import Source
from discreet.errors import InvalidParameter

__all__ = ["LINES", "PLANES", "generated", "generated_names"]

Floats = npt.NDArray[np.float64]
SEED = 20_240_401

CENTRES = ((0.15, 0.03, 3.0), (0.4, 0.01, 2.0), (0.55, 0.1, 4.0), (0.9, 0.02, 1.0))
"""Place, width and weight of the hills of the mixture."""

TOWNS = 12
SPIKES = 50
STEPS = 8


def generated(name: str, sizes: tuple[int, ...]) -> Source:
    """Return one of the shapes, on a line or a plane of cells.

    >>> generated("zipf", (4,)).weights.round(2)
    array([0.48, 0.24, 0.16, 0.12])
    """
    table = {1: LINES, 2: PLANES}.get(len(sizes), {})
    if name not in table:
        raise InvalidParameter(
            f"the shapes on {len(sizes)} dimension(s) are {', '.join(table) or 'none'}; {name!r} is none of them."
        )
    return Source(name=name, weights=table[name](sizes))


def generated_names(dimensions: int) -> tuple[str, ...]:
    """Return the names of all shapes on a line or a plane.

    >>> generated_names(1)
    ('uniform', 'zipf', 'mixture', 'spikes', 'steps')
    """
    return tuple({1: LINES, 2: PLANES}[dimensions])


def _random(name: str) -> np.random.Generator:
    return np.random.default_rng([SEED, *name.encode()])


def _middles(side: int) -> Floats:
    return (np.arange(side) + 0.5) / side


def _uniform(sizes: tuple[int, ...]) -> Floats:
    return np.ones(sizes)


def _zipf(sizes: tuple[int, ...]) -> Floats:
    return 1.0 / np.arange(1, sizes[0] + 1)


def _mixture(sizes: tuple[int, ...]) -> Floats:
    x = _middles(sizes[0])
    hills = [w / s * np.exp(-(((x - c) / s) ** 2) / 2) for c, s, w in CENTRES]
    return np.asarray(np.sum(hills, axis=0) + 1e-12)


def _spikes(sizes: tuple[int, ...]) -> Floats:
    """Few cells hold everybody: their places are fixed parts of the sides."""
    draw = _random("spikes")
    weights = np.zeros(sizes)
    places = tuple((draw.random(SPIKES) * side).astype(np.int64) for side in sizes)
    np.add.at(weights, places, 1.0 / np.arange(1, SPIKES + 1))
    return weights


def _steps(sizes: tuple[int, ...]) -> Floats:
    draw = _random("steps")
    ends = np.sort(draw.random(STEPS - 1))
    heights = draw.exponential(size=STEPS) ** 2
    return np.asarray(heights[np.searchsorted(ends, _middles(sizes[0]))]) + 1e-12


def _clusters(sizes: tuple[int, ...]) -> Floats:
    """Towns of different size and spread on an empty plane."""
    draw = _random("clusters")
    rows, columns = _middles(sizes[0])[:, None], _middles(sizes[1])[None, :]
    weights = np.zeros(sizes)
    for town in range(TOWNS):
        (r, c), spread = draw.random(2), 0.01 + 0.05 * draw.random()
        far = ((rows - r) ** 2 + (columns - c) ** 2) / spread**2
        weights += np.where(far < 16, np.exp(-far / 2), 0.0) / (town + 1)
    return weights + 1e-12


def _streets(sizes: tuple[int, ...]) -> Floats:
    """Two thin lines that cross, and a ring around their crossing."""
    rows, columns = _middles(sizes[0])[:, None], _middles(sizes[1])[None, :]
    ring = np.abs(np.hypot(rows - 0.45, columns - 0.55) - 0.25)
    away = np.minimum(np.minimum(np.abs(rows - 0.3 - 0.3 * columns), np.abs(columns - 0.55)), ring)
    return np.asarray(np.exp(-((away / 0.02) ** 2) / 2) + 1e-6)


LINES: dict[str, Callable[[tuple[int, ...]], Floats]] = {
    "uniform": _uniform,
    "zipf": _zipf,
    "mixture": _mixture,
    "spikes": _spikes,
    "steps": _steps,
}
PLANES: dict[str, Callable[[tuple[int, ...]], Floats]] = {
    "uniform": _uniform,
    "clusters": _clusters,
    "streets": _streets,
    "spikes": _spikes,
}
