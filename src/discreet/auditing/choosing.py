"""Choosing events: on one half of the draws everything is tried, on the other the best few are counted.

The first half is itself split. Learned scores are fitted to one part, and every threshold of every score is tried on
the other. An event is good if it seems to break the claim by many standard errors, or if it would certify a large
epsilon. What is chosen here proves nothing yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.auditing.draws import Draws
from discreet.auditing.evidence import Claim, Floats, chance_above, chance_below, epsilon_above
from discreet.auditing.looks import Score, scores

__all__ = ["Event", "best_events"]

THRESHOLDS = 200


@dataclass(frozen=True, slots=True)
class Event:
    """``score >= threshold``, or ``<=``, and which of the two data sets is said to make it likelier."""

    score: Score
    threshold: float
    above: bool
    likelier: int

    def happens(self, draws: Draws) -> int:
        """Count it."""
        return int(np.count_nonzero(self.where(draws)))

    def where(self, draws: Draws) -> npt.NDArray[np.bool_]:
        """Tell for each draw whether it happens."""
        found = self.score.of(draws)
        if found.shape != (draws.size,):
            raise AssertionError(f"{self.score.name} does not score every output.")
        return np.asarray(found >= self.threshold if self.above else found <= self.threshold)

    @property
    def name(self) -> str:
        """What it is, in words."""
        return f"{self.score.name}, {'at least' if self.above else 'at most'} {self.threshold:.6g}"

    @property
    def direction(self) -> str:
        """Which data set makes it likelier."""
        return "first against second" if self.likelier == 0 else "second against first"


def best_events(first: Draws, second: Draws, claim: Claim, delta: float, alpha: float) -> list[Event]:
    """Return the most promising events: against the claim, and for a large epsilon, in both directions."""
    middle = (first.size // 2, second.size // 2)
    fit = first.part(0, middle[0]), second.part(0, middle[1])
    rest = first.part(middle[0], first.size), second.part(middle[1], second.size)
    best: dict[tuple[str, int], tuple[float, Event]] = {}
    for score in scores(*fit):
        with np.errstate(all="ignore"):
            values = [np.sort(score.of(one)) for one in rest]
        for event, aims in _thresholds(score, values, claim, delta, alpha):
            for aim, value in aims.items():
                key = (aim, event.likelier)
                if key not in best or value > best[key][0]:
                    best[key] = value, event
    return list(dict.fromkeys(event for _, event in best.values()))


def _thresholds(
    score: Score, values: list[Floats], claim: Claim, delta: float, alpha: float
) -> Iterator[tuple[Event, dict[str, float]]]:
    """Return the best threshold of a score for each aim, side and direction."""
    together = np.concatenate(values)
    together = together[np.isfinite(together)]
    if not together.size:
        together = np.zeros(1)
    points = _grid(together)
    for above in (True, False):
        hits = [
            (one.size - np.searchsorted(one, points, side="left"))
            if above
            else np.searchsorted(one, points, side="right")
            for one in values
        ]
        for likelier in (0, 1):
            a, b = (hits[likelier].astype(np.float64), hits[1 - likelier].astype(np.float64))
            m, n = float(values[likelier].size), float(values[1 - likelier].size)
            p, q = (a + 0.5) / (m + 1), (b + 0.5) / (n + 1)
            slope = np.minimum((claim.most(q + 1e-6) - claim.most(q)) / 1e-6, 1e6)
            error = np.sqrt(p * (1 - p) / m + slope**2 * q * (1 - q) / n)
            against = (p - claim.most(q)) / error
            certified = epsilon_above(chance_below(a, m, alpha), chance_above(b, n, alpha), delta)
            for aim, worth in (("claim", against), ("epsilon", certified)):
                place = int(np.argmax(worth))
                yield Event(score, float(points[place]), above, likelier), {aim: float(worth[place])}


def _grid(values: Floats) -> Floats:
    """Return thresholds at even ranks, and close together at both ends, where rare events are."""
    ordered = np.sort(values)
    n = ordered.size
    ends = np.unique(np.geomspace(1, max(n / 8, 2), 60).astype(np.int64))
    ranks = np.concatenate([np.linspace(0, n - 1, THRESHOLDS).astype(np.int64), ends - 1, n - ends])
    return np.unique(ordered[np.clip(ranks, 0, n - 1)])
