"""The same question asked of a release that discreet protects: what the strongest attacker gets, what theory allows.

The attacker knows every record but one, and knows that one too: all that is left open is whether it was counted. From
counts with noise the best test is the likelihood ratio (Neyman and Pearson, 1933); here it is run many times on the
real mechanism, with the record and without. Whatever links records to people starts from less than that.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric

__all__ = ["Protection", "protect", "tell_apart"]

LARGEST = 20
DRAWS = 400_000
"""About how much noise is drawn for each side of the measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What is published instead, and how well the strongest attacker tells whether one record is in it.

    ``advantage`` is measured: how often the attacker says "in" of records that are, less how often of records that are
    not. ``bound`` is what the privacy loss allows; ``deviation`` is the standard error of the measurement. ``off`` is
    the median relative error of the largest counts in one such release, where counts were given.
    """

    release: str
    epsilon: float
    advantage: float
    bound: float
    error: int
    trials: int
    what: str = "person"
    off: float | None = None

    @property
    def deviation(self) -> float:
        """At most what chance adds to the measured advantage, as a standard deviation."""
        return float((1 / (2 * self.trials)) ** 0.5)

    def __str__(self) -> str:
        largest = (
            "" if self.off is None else f"; the {LARGEST} largest are off by {100 * self.off:.2g} percent in the median"
        )
        measured = f"{max(self.advantage, 0.0):.3f} ± {2 * self.deviation:.3f}"
        return (
            f"Published with epsilon {self.epsilon:g} instead: {self.release}, each count within ±{self.error:,} in 19 "
            f"of 20{largest}. Somebody who knows all the rest told whether one {self.what} is in it with an advantage "
            f"of {measured} over guessing (exact counts give 1); theory allows at most {self.bound:.3f}."
        )


def protect(
    mechanism: Geometric, counts: ArrayLike, record: ArrayLike, *, release: str, what: str = "person"
) -> Protection:
    """Release counts for real and see how good they are; then measure how well a record can be told from its absence.

    >>> found = protect(Geometric(sensitivity=1, epsilon=1), [900, 1_100], [1], release="two counts")
    >>> found.off < 0.1
    True
    """
    exact = np.sort(np.asarray(counts, dtype=np.int64).ravel())[::-1]
    largest = exact[exact > 0][:LARGEST]
    noisy = np.asarray(mechanism.release(largest))
    off = float(np.median(np.abs(noisy - largest) / largest)) if len(largest) else None
    return replace(tell_apart(mechanism, record, release=release, what=what), off=off)


def tell_apart(
    mechanism: Geometric, record: ArrayLike, *, release: str, what: str = "person", trials: int | None = None
) -> Protection:
    """Measure how well a record can be told from its absence in counts with noise.

    ``record`` holds what the record adds to each count that it touches; all others say nothing about it.

    >>> found = tell_apart(Geometric(sensitivity=2, epsilon=1), [1, 1], release="two counts")
    >>> round(found.bound, 4), found.advantage < found.bound + 5 * found.deviation
    (0.3935, True)
    """
    added = np.asarray(record, dtype=np.int64)
    if np.abs(added).sum() > mechanism.sensitivity:
        raise InvalidParameter(
            f"the record changes the counts by more than {mechanism.sensitivity} in all, which is what the noise is "
            "for. Bound what one record adds first."
        )
    times = trials or max(1, DRAWS // added.size)
    inside = _says(mechanism, added, np.tile(added, (times, 1)))
    outside = _says(mechanism, added, np.zeros((times, added.size), dtype=np.int64))
    return Protection(
        release=release,
        epsilon=mechanism.loss.epsilon(),
        advantage=float(inside - outside),
        bound=mechanism.loss.advantage(),
        error=mechanism.error(0.05),
        trials=times,
        what=what,
    )


def _says(mechanism: Geometric, added: np.ndarray, truth: np.ndarray) -> float:
    """Return how often the likelihood ratio says that the record is in; a tie counts half."""
    noisy = np.asarray(mechanism.release(truth))
    evidence = (np.abs(noisy) - np.abs(noisy - added)).sum(axis=1)
    return float(((evidence > 0) + 0.5 * (evidence == 0)).mean())
