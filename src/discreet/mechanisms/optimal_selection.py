"""The selection of groups that shows as much as (epsilon, delta) allows.

Desfontaines, Voss, Gipson and Mandayam, "Differentially Private Partition Selection", PETS 2022. A count n is kept with
probability ``pi(0) = 0`` and

    pi(n) = min(e^epsilon pi(n-1) + delta, 1 - e^-epsilon (1 - pi(n-1) - delta), 1),

the largest that (epsilon, delta)-DP allows at every n at once. The first rule counts while ``pi(n-1)`` is at most
``(1 - delta) / (e^epsilon + 1)``, so up to a public count called ``turn``; ``pi(n)`` is 1 as soon as
``pi(n-1) >= 1 - delta``. In between both rules are geometric series, so that no count is reached step by step:

    pi(n) = delta (e^(n epsilon) - 1) / (e^epsilon - 1)                                       up to the turn, and
    1 - pi(turn + m) = e^(-m epsilon) (1 - pi(turn)) - delta (1 - e^(-m epsilon)) / (e^epsilon - 1)    from there on.

Both comparisons that find the turn and the end are between numbers that differ: ``e^epsilon`` is transcendental, and
equality would be a polynomial equation for it. The one exception, delta one half, is answered by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, probability, show
from discreet.mechanisms.partition import Bools, Counts, Partition, check_groups, padded, settings
from discreet.mechanisms.scale import store
from discreet.noise import source
from discreet.noise.fast import SLACK, Floats
from discreet.noise.lazy import LazyUniform, largest
from discreet.noise.shapes import INT64
from discreet.units import Relation

__all__ = ["OptimalSelection"]

DOUBT = 64 * SLACK
"""Bound on the float64 error of pi: exponents are below 2000 and have a relative error of 2^-52, values are below 1."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OptimalSelection(Partition):
    """Keep a group with the largest probability that its number of units allows.

    Satisfies (``epsilon``, ``delta``)-DP whenever a unit counts at most once in each of at most ``groups`` groups. No
    selection of the same guarantee for one group keeps any count more often.

    >>> cities = OptimalSelection(epsilon=1, delta=1e-5)
    >>> cities.threshold, cities.certain, cities.probability(1)
    (12, 23, 1e-05)
    >>> cities.keep(np.array([0, 1000, 1000000]))
    array([False,  True,  True])
    """

    epsilon: Real
    delta: Real
    groups: int = 1
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        probability(self.delta, "delta")
        store(self, epsilon=self.epsilon, delta=self.delta, groups=check_groups(self.groups, self.relation))
        turning_point(*self.share)

    def __repr__(self) -> str:
        more = settings(self.groups, self.relation)
        return f"OptimalSelection(epsilon={show(self.epsilon)}, delta={show(self.delta)}{more})"

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """The epsilon and the delta of each group."""
        return Fraction(self.epsilon) / self.touched, Fraction(self.delta) / self.touched

    @property
    def loss(self) -> PrivacyLoss:
        """One (epsilon, delta) share for each count that may change: groups are decided independently."""
        return (self.touched * PrivacyLoss.approximate(*self.share)).under(self.relation)

    @property
    def certain(self) -> int:
        """The least count that is always kept."""
        return turning_point(*self.share)[1]

    @property
    def threshold(self) -> int:
        """The least count that is kept at least every other time."""
        if self.share[1] >= Fraction(1, 2):
            return 1
        _, end = turning_point(*self.share)
        return least(lambda n: n >= end or certainly(lambda: self.kept(n) - self.dropped(n)), end // 2)

    def keep(self, counts: Counts, /) -> Bools:
        """Return for each group whether it may be shown."""
        numbers = padded(counts)
        (epsilon, delta), (turn, end) = self.share, turning_point(*self.share)
        words = source().words(numbers.size)
        gap = words * 2.0**-64
        gap -= _fast(np.minimum(numbers, min(end, INT64[-1])), float(epsilon), float(delta), turn)
        kept: Bools = gap < 0
        doubtful = ~(np.abs(gap) > DOUBT)
        shown, hidden = numbers >= min(end, INT64[-1] + 1), numbers == 0
        for i in np.flatnonzero(doubtful & ~shown & ~hidden).tolist():
            kept[i] = LazyUniform(int(words[i]), 64).below(partial(self.kept, int(numbers[i])))
        kept[shown], kept[hidden] = True, False
        return kept[: len(counts)]

    def kept(self, count: int, /) -> arb:
        """Return pi at a count of at least 1."""
        return 1 - self.dropped(count) if count > turning_point(*self.share)[0] else _rising(*self.share, count)

    def dropped(self, count: int, /) -> arb:
        """Return 1 - pi at a count of at least 1."""
        (epsilon, delta), (turn, end) = self.share, turning_point(*self.share)
        if count >= end:
            return arb(0)
        if count <= turn:
            return 1 - _rising(epsilon, delta, count)
        return _falling(epsilon, delta, turn, count - turn)

    def worst_case(self) -> tuple[list[int], list[int]]:
        """Counts at the turn, where both rules of the recursion are close to equal, and one less."""
        turn, _ = turning_point(*self.share)
        most, fewer = [turn] * self.groups, [turn - 1] * self.groups
        return (most, fewer) if self.relation == "add_remove" else (most + fewer, fewer + most)


@lru_cache(maxsize=256)
def turning_point(epsilon: Fraction, delta: Fraction) -> tuple[int, int]:
    """Return the last count of the first rule, and the least count that is always kept.

    >>> turning_point(Fraction(1), Fraction(1, 100000))
    (11, 23)
    """
    if delta >= Fraction(1, 2):
        return 1, 2
    turn = 1 + largest(
        0,
        lambda n: (
            n <= 0 or certainly(lambda: (1 - ball(delta)) / (ball(epsilon).exp() + 1) - _rising(epsilon, delta, n))
        ),
    )
    end = least(lambda m: m >= 0 and certainly(lambda: ball(delta) - _falling(epsilon, delta, turn, m)), 0)
    return turn, 1 + turn + end


def least(holds: Callable[[int], bool], guess: int) -> int:
    """Return the least number for which a monotone condition (false up to some number, true beyond) holds."""
    return 1 + largest(guess, lambda n: not holds(n))


def certainly(difference: Callable[[], arb]) -> bool:
    """Tell whether a number that is not 0 is above 0, at whatever precision that takes."""
    before, precision = ctx.prec, 128
    try:
        while precision <= 1 << 20:
            ctx.prec = precision
            value = difference()
            if value > 0 or value < 0:
                return bool(value > 0)
            precision *= 2
    finally:
        ctx.prec = before
    raise InvalidParameter("these parameters are too extreme to evaluate; move them closer to 1.")


def _rising(epsilon: Fraction, delta: Fraction, n: int) -> arb:
    return ball(delta) * (n * ball(epsilon)).expm1() / ball(epsilon).expm1()


def _falling(epsilon: Fraction, delta: Fraction, turn: int, m: int) -> arb:
    """Return 1 - pi at ``turn + m``."""
    rest = 1 - _rising(epsilon, delta, turn)
    return (-m * ball(epsilon)).exp() * rest + ball(delta) * (-m * ball(epsilon)).expm1() / ball(epsilon).expm1()


def _fast(numbers: npt.NDArray[np.int64], epsilon: float, delta: float, turn: int) -> Floats:
    """Return pi in float64, not a number where it overflows; which nobody believes."""
    with np.errstate(over="ignore", invalid="ignore"):
        one = np.expm1(epsilon)
        start = np.minimum(numbers, min(turn, INT64[-1]))
        rising = delta * (np.expm1(start * epsilon) / one)
        beyond = -(numbers - start) * epsilon
        rest = np.exp(beyond) * (1 - rising) + delta * (np.expm1(beyond) / one)
        values: Floats = np.where(numbers > start, 1 - rest, rising)
    return values
