"""Report noisy max: add noise to every score, tell which is largest, keep the noisy values secret.

Dwork and Roth 2014, Claim 3.9. Decided exactly (see ``discreet.noise.race``).
"""

import math
from dataclasses import dataclass
from typing import Literal

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, probability, smallest
from discreet.mechanisms.selection import Scores, Selection, choose
from discreet.noise.densities import Exponential, Gumbel, Laplace, Racing

__all__ = ["NoisyMax"]

NOISES: dict[str, Racing] = {"laplace": Laplace(), "exponential": Exponential(), "gumbel": Gumbel()}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NoisyMax(Selection):
    """Return the index of the largest score after adding noise of scale ``2 * sensitivity / epsilon`` to each.

    Satisfies ``epsilon``-DP whenever neighbours change every score by at most ``sensitivity``; half the noise suffices
    for monotone scores. With exponential noise this is permute-and-flip, with Gumbel noise the exponential mechanism.

    >>> NoisyMax(epsilon=50, noise="laplace").release([1, 7, 3])
    1
    """

    noise: Literal["laplace", "exponential", "gumbel"] = "exponential"

    def __post_init__(self) -> None:
        Selection.__post_init__(self)
        if self.noise not in NOISES:
            raise InvalidParameter(f"noise must be one of {sorted(NOISES)}, got {self.noise!r}.")

    def __repr__(self) -> str:
        return f"{Selection.__repr__(self)[:-1]}, noise={self.noise!r})"

    @property
    def loss(self) -> PrivacyLoss:
        """Bounded range with Gumbel noise, which makes it the exponential mechanism; pure with any other."""
        return PrivacyLoss.bounded_range(self.epsilon) if self.noise == "gumbel" else PrivacyLoss.pure(self.epsilon)

    def error(self, beta: Real = 0.05, *, candidates: int) -> float:
        """Return how far below the best score the choice stays, with probability ``1 - beta`` at least.

        The difference of two Laplace variables exceeds t with probability ``(2 + t) exp(-t) / 4``, more than Gumbel or
        exponential noise would; the bound is the union over the candidates.
        """
        general = Selection.error(self, beta, candidates=candidates)
        if self.noise != "laplace":
            return general
        failure = float(probability(beta, "beta"))
        reach = smallest(lambda t: (candidates - 1) * (2 + t) / 4 * math.exp(-t) <= failure)
        return reach / float(self.rate)

    def release(self, scores: Scores, /) -> int:
        """Return the index of the winner."""
        return choose(NOISES[self.noise], scores, self.rate)
