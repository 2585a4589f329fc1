"""A noisy test whether a data set lies deep enough inside a region.

The margin of a data set is a whole number that moves by at most 1 between neighbours and is 0 wherever something must
not be released. Integer Laplace noise of scale ``1 / epsilon`` is added to it, and the test is passed if the sum
exceeds the least whole threshold T with ``P[Z > T] <= delta``: so a data set without margin passes with probability
``failure`` at most ``delta``, exactly, where the textbook's ``log(1 / (2 delta)) / epsilon`` is for continuous noise.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Generic, TypeVar

from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, enclose, positive, probability, up
from discreet.mechanisms.laplace_threshold import laplace_survival
from discreet.noise import discrete_laplace
from discreet.noise.lazy import largest

__all__ = ["Margin", "Outcome", "check_delta", "least_tail"]

HIGHEST = 1 << 62
HALF = Fraction(1, 2)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What came of a test: a value if it was passed, None if it was not.

    >>> Outcome(value=None, passed=False)
    Outcome(value=None, passed=False)
    """

    value: T | None
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """The test, with integer Laplace noise of scale ``1 / epsilon``.

    >>> test = Margin(epsilon=1, delta=1e-6)
    >>> test.threshold, float(test.failure) <= 1e-6, test.passes(1000), test.passes(None)
    (13, True, True, True)
    """

    epsilon: Real
    delta: Real

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        check_delta(self.delta)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return 1 / Fraction(self.epsilon)

    @property
    def threshold(self) -> int:
        """The test is passed if the noisy margin is above this."""
        return least_tail(self.scale, Fraction(self.delta))

    @property
    def failure(self) -> Fraction:
        """The probability that a data set without margin passes, rounded up; at most ``delta``."""
        return Fraction(up(lambda: laplace_survival(self.scale, self.threshold + 1)))

    @property
    def loss(self) -> PrivacyLoss:
        """What passing or not tells of the margin: at most as much as the noisy margin itself."""
        return PrivacyLoss.discrete_laplace(sensitivity=1, scale=self.scale)

    def passes(self, margin: int | None, /) -> bool:
        """Run the test; a margin of None is infinite."""
        noise = int(discrete_laplace(self.scale))  # drawn in any case
        return margin is None or margin + noise > self.threshold

    def log_probability(self, margin: int | None, passed: bool, /) -> float:
        """Return the log of the probability that the test is passed, or not."""
        if margin is None:
            return 0.0 if passed else -math.inf
        t = self.threshold - margin + 1 if passed else margin - self.threshold  # P[Z >= t], as noise is symmetric
        return float(enclose(lambda: _survival(self.scale, t).log()).mid())


def check_delta(delta: object) -> Fraction:
    """Return a delta strictly between 0 and 1/2: with more, noise would lift over the threshold by its mere sign.

    >>> check_delta(0.5)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: delta must be below 1/2 here, and should be far below one over the number of
    people, got 0.5.
    """
    exact = probability(delta, "delta")
    if exact >= HALF:
        raise InvalidParameter(
            "delta must be below 1/2 here, and should be far below one over the number of people, "
            f"got {float(exact):.3g}."
        )
    return exact


@lru_cache(maxsize=256)
def least_tail(scale: Fraction, delta: Fraction) -> int:
    """Return the least T of at least 0 with ``P[Z > T] <= delta`` for integer Laplace noise.

    >>> least_tail(Fraction(1), Fraction(1, 4)), least_tail(Fraction(10), Fraction(1, 10**6))
    (1, 131)
    """

    def too_low(t: int) -> bool:
        return t < 0 or up(lambda: laplace_survival(scale, t + 1)) > delta

    found = 1 + largest(0, lambda t: t < HIGHEST and too_low(t))
    if found >= HIGHEST:
        raise InvalidParameter("with this much noise no test would ever be passed: take a larger epsilon or delta.")
    return found


def _survival(scale: Fraction, t: int) -> arb:
    """Return ``P[Z >= t]`` for any t."""
    return laplace_survival(scale, t) if t >= 1 else ball(1) - laplace_survival(scale, 1 - t)
