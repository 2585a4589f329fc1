"""Private groups that are shown by the noise of their own counts: one noise serves for both.

Where nothing but a count is asked, choosing groups and counting them need not be paid for apart. Gaussian noise is
added to the number of units in every group that has some, and a group is shown with its noisy number if that is above
a threshold; see ``discreet.mechanisms.thresholds`` for the proof. In a budget of epsilons a release by itself is
accounted for jointly: noise and threshold then cost less than both (``discreet.mechanisms.sparse_gaussian``). Where a
unit is in so many groups that this cannot be computed while one waits, and where the loss is composed with others, the
noise and the failure of the threshold are two terms; in a budget of rho they are the rho and a failure.

Which way is taken depends on public quantities alone: how many groups a unit is in, epsilon, delta, the level. A unit
in many groups moves many counts by one each. Gaussian noise then grows with the root of their number, and a choice by
its own epsilon with the number itself.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.accounting.filters import Zcdp
from discreet.errors import InvalidParameter
from discreet.exact import ball, up
from discreet.mechanisms import GaussianThreshold, StabilityHistogram
from discreet.mechanisms.partition import touched
from discreet.session.noise import Noise, Reach

if TYPE_CHECKING:
    from discreet.session.plan import Settings

__all__ = ["Sparse", "chosen", "sparse_of"]

JOINTLY = 32
"""Counts that a unit changes up to which noise and threshold are accounted for jointly."""

NEARLY = Fraction(11, 10)
"""How much larger an error may be in two terms for the joint accounting to be worth a try."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """Counts of units in groups that are shown by these very counts.

    Satisfies ``loss`` whenever a unit counts at most once in each of at most ``groups`` groups; see the mechanism.

    >>> half = Fraction(1, 2 * 10**6)
    >>> found = sparse_of(Fraction(1), (half, half), Reach(16, 0, 1, "add_remove"), jointly=True)
    >>> found.threshold, found.noise.error(0.05), found.loss.delta(1) <= 1e-6
    (90, 33, True)
    """

    mechanism: GaussianThreshold | StabilityHistogram
    reach: Reach

    @property
    def threshold(self) -> int:
        """A group is shown if its noisy number of units is above this."""
        return self.mechanism.threshold

    @property
    def loss(self) -> PrivacyLoss:
        """What noise and threshold cost together."""
        return self.mechanism.loss

    @property
    def sigma(self) -> Fraction:
        """The standard deviation of the noise."""
        mechanism = self.mechanism
        return Fraction(mechanism.sigma if isinstance(mechanism, GaussianThreshold) else mechanism.unit.sigma)  # type: ignore[union-attr]

    @property
    def noise(self) -> Noise:
        """The noise of a count, for its error and its words."""
        return Noise("gaussian", self.reach, self.sigma**2)

    def reveal(self, units: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Return which groups are shown, and the noisy numbers of units; 0 in those that are not."""
        if isinstance(self.mechanism, GaussianThreshold):
            kept, noisy = self.mechanism.reveal(units)
            return np.asarray(kept, dtype=np.bool_), noisy
        made = self.mechanism.reveal(np.arange(len(units)), units)
        noisy = np.zeros(len(units), dtype=np.int64)
        places = np.array(made.keys, dtype=np.int64)
        noisy[places] = made.counts
        kept = np.zeros(len(units), dtype=np.bool_)
        kept[places] = True
        return kept, noisy

    def better(self, error: int, threshold: int, beta: float) -> bool:
        """Whether nothing is worse than with a choice and a noise apart, and something is better."""
        ours = (self.noise.error(beta), self.threshold)
        return ours != (error, threshold) and ours[0] <= error and ours[1] <= threshold

    def reason(self, error: int, threshold: int, beta: float) -> str:
        """Say why it was taken, next to a choice of groups and a noise apart."""
        return (
            "One Gaussian noise both counts groups and chooses which are shown, because for a unit in up to "
            f"{self.reach.groups:,} of them that is better: counts within ± {self.noise.error(beta):,} instead of "
            f"± {error:,}, and groups from about {self.threshold:,} on instead of {threshold:,}."
        )


def sparse_of(epsilon: Fraction, deltas: tuple[Fraction, Fraction], reach: Reach, *, jointly: bool) -> Sparse:
    """Return the noise and threshold that cost epsilon, and both deltas together: that of the noise comes first."""
    groups, relation = reach.groups, reach.relation
    if jointly:
        whole = sum(deltas, Fraction(0))
        both = StabilityHistogram(epsilon=epsilon, delta=whole, relation=relation, bins=groups, noise="gaussian")
        return Sparse(both, reach)
    square = reach.squared / (2 * Zcdp.reaching(epsilon, deltas[0]).limit)
    sigma = up(lambda: ball(square).sqrt())
    if not math.isfinite(sigma):
        raise InvalidParameter("the noise for so small an epsilon has no number. Spend more on it.")
    return Sparse(GaussianThreshold(sigma=sigma, delta=deltas[1], groups=groups, relation=relation), reach)


def chosen(epsilon: Fraction, settings: "Settings", noise: Noise, threshold: int) -> Sparse | None:
    """Return one noise for everything where it is better than a noise and a choice of some threshold apart.

    In a budget of rho it must be better even with the noise that a count has apart, which then costs less than both. In
    one of epsilons both ways cost the same; there the first look is at the version in two terms, which takes no time.
    """
    reach, beta, deltas = noise.reach, 1 - settings.level, (settings.delta, settings.key_delta)
    few = touched(reach.groups, reach.relation) <= JOINTLY
    try:
        found = sparse_of(epsilon, deltas, reach, jointly=False)
        if settings.adds_rho:
            same = GaussianThreshold(
                sigma=noise.sigma, delta=settings.key_delta, groups=reach.groups, relation=reach.relation
            )
            if noise.kind != "gaussian" or same.threshold > threshold:
                return None
        elif few and not settings.composed and found.noise.error(beta) <= NEARLY * noise.error(beta):
            found = sparse_of(epsilon, deltas, reach, jointly=True)
    except InvalidParameter:
        return None
    return found if found.better(noise.error(beta), threshold, beta) else None
