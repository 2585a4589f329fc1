"""The auditor let loose on a specimen of the zoo, told nothing of its mistake."""

import numpy as np

from discreet.auditing.audit import Audit, audit
from discreet.auditing.zoo.specimen import Specimen

__all__ = ["hunt"]


def hunt(
    specimen: Specimen,
    *,
    seconds: float | None = None,
    alpha: float = 1e-4,
    draws: int | None = None,
    seed: int = 1,
) -> Audit:
    """Audit a specimen; its noise is seeded, so that a hunt with a number of draws and no clock can be repeated."""
    generator, batch = np.random.default_rng(seed), specimen.batch
    return audit(
        lambda data: specimen.run(data, generator),
        claims=specimen.claims,
        neighbours=[specimen.neighbours],
        batch=None if batch is None else lambda data, count: batch(data, count, generator),
        timing=specimen.shows == "duration",
        delta=specimen.delta,
        seconds=seconds,
        alpha=alpha,
        draws=draws,
    )
