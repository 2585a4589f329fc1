"""Who is in a batch: coins and places from the secure source, one for each record.

A batch is drawn anew and kept secret. Each record has a coin, or a place in a pass, of its own, so that a record that
joins or leaves changes nothing for the others. A fixed batch size, a shuffled order or weights would not be so, and
Poisson accounting does not hold for them (Chua et al., "How Private are DP-SGD Implementations?", ICML 2024).
"""

import numpy as np
import numpy.typing as npt

from discreet.learn.sgd.plan import Training
from discreet.noise import bernoulli, source, uniform_below

__all__ = ["Sampler"]

Indices = npt.NDArray[np.int64]


class Sampler:
    """Draws the batches of one plan from ``present`` records, the true number of them, which is private.

    ``places`` says in which batch of the pass each record takes part; it is as private as the data.
    """

    def __init__(self, plan: Training, present: int) -> None:
        self.plan = plan
        self.present = present
        self.places: Indices | None = None

    def draw(self, step: int) -> Indices:
        """Return the records of one step, in random order."""
        if self.plan.sampling == "poisson":
            chosen = np.flatnonzero(np.asarray(bernoulli(self.plan.rate, size=self.present)))
        else:
            turn = step % self.plan.per_pass
            if self.places is None or (turn == 0 and self.plan.strategy in ("independent", "tree")):
                self.places = np.asarray(uniform_below(self.plan.per_pass, size=self.present), dtype=np.int64)
            chosen = np.flatnonzero(self.places == turn)
        order = np.argsort(source().words(chosen.size), kind="stable")
        found: Indices = chosen[order].astype(np.int64)
        return found
