"""Replaying measurements: weights that go through all that was measured, again and again.

Hardt, Ligett and McSherry, NIPS 2012, section 2.3: what a measurement told can be learned more than once, for nothing.
It looks at what was released alone, and nothing private depends on how well it works.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.noise.fast import Floats
from discreet.synthetic.graphical.estimation import Measured, fit
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.multiplicative.weights import Weights

__all__ = ["Lesson", "Update", "averaged", "replayed"]

Update = Literal["paper", "scaled"]

WORK = 1 << 24
"""About so many weights are moved in one replay."""

PASSES = (2, 30)
FITTED_STEPS = 100
LONGEST = 1.0
"""No entry is multiplied by more than ``exp`` of this, or its inverse, at once."""

STILL = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A table that was measured, with the size of its noise."""

    attributes: Attributes
    counts: Floats
    deviation: float


def replayed(
    weights: Weights,
    lessons: Sequence[Lesson],
    total: float,
    update: Update,
    *,
    zeros: Mapping[Attributes, npt.NDArray[np.bool_]] | None = None,
    deadline: float | None = None,
) -> None:
    """Move weights toward all lessons, the latest first.

    Where blocks would be too large, all lessons are fitted at once instead.

    >>> even = Weights((2,), cells=2)
    >>> replayed(even, [Lesson((0,), np.array([30.0, 10.0]), 1.0)], 40.0, "scaled")
    >>> (40 * even.table((0,))).round(1).tolist()
    [30.0, 10.0]
    """
    last = lessons[-1]
    exponents = _exponents(weights, last, total, update)
    weights.multiply(last.attributes, exponents)
    if weights.blocks is None:
        told = [Measured(one.attributes, one.counts, one.deviation) for one in lessons]
        start = {a: table for a, table in weights.lessons.items() if a not in (zeros or {})}
        found = fit(
            weights.sizes, told, total=total, start=start, zeros=zeros, steps=FITTED_STEPS, deadline=deadline
        ).potentials
        kept = {a: np.where(mask, -np.inf, 0.0) for a, mask in (zeros or {}).items()}
        for attributes, table in found.items():
            kept[attributes] = kept[attributes] + table if attributes in kept else table
        weights.learned(kept)
        return
    once = sum(weights.table(one.attributes).size for one in lessons) + sum(
        int(np.prod([weights.sizes[i] for i in block])) for block in weights.blocks for _ in lessons
    )
    passes = min(max(WORK // once, PASSES[0]), PASSES[1])
    for _ in range(passes):
        if deadline is not None and time.monotonic() >= deadline:
            return
        moved = 0.0
        for one in reversed(lessons):
            exponents = _exponents(weights, one, total, update)
            moved = max(moved, float(np.abs(exponents).max()))
            weights.multiply(one.attributes, exponents)
        if moved < STILL:
            return


def averaged(weights: Weights, seen: Sequence[Weights]) -> Weights:
    """Return the mean of several weights: exact for every question about one block of the last of them.

    >>> first, second = Weights((2,), cells=2), Weights((2,), cells=2)
    >>> second.multiply((0,), np.log([3.0, 1.0]))
    >>> averaged(second, [first, second]).table((0,)).tolist()
    [0.625, 0.375]
    """
    if not seen or weights.blocks is None:
        return weights
    mean = Weights(weights.sizes, cells=weights.cells)
    for block in weights.blocks:
        table = sum((one.table(block) for one in seen), np.zeros(())) / len(seen)
        with np.errstate(divide="ignore"):
            mean.multiply(block, np.log(table))
    return mean


def _exponents(weights: Weights, lesson: Lesson, total: float, update: Update) -> Floats:
    expected = weights.table(lesson.attributes) * total
    gaps = lesson.counts - expected
    if update == "paper":
        return np.clip(gaps / (2 * total), -LONGEST, LONGEST)
    return np.clip(gaps / (2 * (expected + lesson.deviation)), -LONGEST, LONGEST)
