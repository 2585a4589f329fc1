"""The exponential mechanism over finitely many candidates.

McSherry and Talwar, "Mechanism Design via Differential Privacy", FOCS 2007. Drawn as a race with Gumbel noise, decided
exactly for integer, rational and float scores of any size (see ``discreet.noise.race``).
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, positive, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Shift
from discreet.mechanisms.scale import store
from discreet.mechanisms.selection import Scores, Selection, choose, head_starts, read_scores
from discreet.noise.densities import Gumbel

__all__ = ["BoundedCount", "Exponential"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Exponential(Selection):
    """Choose a candidate with probability proportional to ``exp(epsilon * score / (2 * sensitivity))``.

    Satisfies ``epsilon``-DP, with a bounded range of ``epsilon``, whenever neighbours change every score by at most
    ``sensitivity``; with ``monotone=True`` the 2 is dropped, which needs scores that all move the same way (counts
    under add_remove).

    >>> Exponential(epsilon=20).release([1, 7, 3])
    1
    >>> round(Exponential(epsilon=1).error(0.05, candidates=100), 4)
    15.2018
    """

    @property
    def loss(self) -> PrivacyLoss:
        """Bounded range: the log-ratio of two weights moves within an interval of length epsilon."""
        return PrivacyLoss.bounded_range(self.epsilon)

    def release(self, scores: Scores, /) -> int:
        """Return the index of the chosen candidate."""
        return choose(Gumbel(), scores, self.rate)

    def log_probability(self, scores: Scores, index: int, /) -> float:
        """Return the log of the probability that a candidate is chosen."""
        weights = head_starts(read_scores(scores), self.rate)
        return float(weights[index] - np.log(np.sum(np.exp(weights))))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoundedCount(Faces):
    """Release a count as a whole number in {0, ..., size} by the exponential mechanism with score ``-|a - count|``.

    Satisfies ``epsilon``-DP for counts of sensitivity 1: a geometric law with parameter ``epsilon / 2``, truncated. It
    needs twice the noise of ``Geometric(sensitivity=1, epsilon=epsilon).clamped(0, size)``, which is to be preferred;
    it is here because textbooks build synthetic data from it.

    >>> 0 <= BoundedCount(size=5, epsilon=1).release(2) <= 5
    True
    """

    size: int
    epsilon: Real

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        store(self, epsilon=self.epsilon)
        if type(self.size) is not int or self.size < 0:
            raise InvalidParameter(f"size must be a whole number of at least 0, got {self.size!r}.")

    def __repr__(self) -> str:
        return f"BoundedCount(size={self.size}, epsilon={show(self.epsilon)})"

    @property
    def domain(self) -> Shift:
        """Whole numbers that change by at most 1."""
        return Shift(sensitivity=1, norm=1.0, whole=True, several=False)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the exponential mechanism."""
        return PrivacyLoss.bounded_range(self.epsilon)

    def release(self, count: int, /) -> int:
        """Return a whole number between 0 and the size."""
        return Exponential(epsilon=self.epsilon).release(self._scores(count))

    def log_probability(self, count: int, output: int, /) -> float:
        """Return the log of the probability of an output."""
        if not 0 <= output <= self.size:
            return -math.inf
        return Exponential(epsilon=self.epsilon).log_probability(self._scores(count), output)

    def worst_case(self) -> tuple[int, int]:
        """Counts at one end of the range."""
        return 0, min(1, self.size)

    def _scores(self, count: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise InvalidInput(f"a count is a whole number, got {type(count).__name__}.")
        nearest = min(max(int(count), 0), self.size)
        return -np.abs(np.arange(self.size + 1, dtype=np.float64) - nearest)
