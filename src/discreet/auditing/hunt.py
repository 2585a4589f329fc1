"""The auditor let loose on a specimen of the zoo, told nothing of its mistake."""

import numpy as np

from discreet.auditing.audit import MOST, Audit, audit
from discreet.auditing.zoo.specimen import Specimen

__all__ = ["hunt"]


def hunt(specimen: Specimen, *, seconds: float = 60.0, alpha: float = 1e-4, draws: int = MOST, seed: int = 1) -> Audit:
    """Audit a specimen; its noise is seeded, so that the hunt can be repeated."""
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
