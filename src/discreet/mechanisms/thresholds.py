"""Groups whose noisy count exceeds a threshold.

Korolova, Kenthapadi, Mishra and Ntoulas, "Releasing Search Queries and Clicks Privately", WWW 2009. A group with
units in it gets its number of them plus noise, and is shown if that exceeds T; the noisy count may be shown with it.

The proof. Two neighbours differ in ``touched`` counts, each by one. Where the smaller one is not 0, the group is
shown by the same rule on both sides, which is a function of the noisy count: that costs what the noise costs. Where it
is 0 the group is never shown on one side and with probability ``p = P[1 + Z > T]`` on the other; two laws at that
distance in total variation differ by no more than a release that gives everything away with probability p and nothing
else. Groups are independent, so all together cost the noise and ``PrivacyLoss.approximate(0, 1 - (1 - p)^touched)``.
``PrivacyLoss.overflow`` would say the same of any event of that probability, and charge ``1 + e^epsilon`` times it,
since it does not know that nothing happens on the other side.

If all counts are 1 against 0, that delta is attained at every epsilon: no smaller one may be claimed.
"""

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import up
from discreet.mechanisms.partition import Bools, Counts, Partition, padded
from discreet.mechanisms.whole import add_noise
from discreet.noise.lazy import largest
from discreet.noise.shapes import Integers, Size

__all__ = ["Threshold", "least_threshold"]

HIGHEST = 1 << 62


class Threshold(Partition):
    """A selection by noisy counts, of which a subclass says the noise."""

    __slots__ = ()

    @property
    @abstractmethod
    def threshold(self) -> int:
        """A group is shown if its noisy count is above this."""

    @abstractmethod
    def survival(self, t: int, /) -> arb:
        """Return ``P[Z >= t]`` for t of at least 1, at the working precision."""

    @abstractmethod
    def draw(self, size: Size) -> int | Integers:
        """Return noise."""

    @property
    @abstractmethod
    def noise(self) -> PrivacyLoss:
        """What the noise alone costs."""

    @property
    def failure(self) -> Fraction:
        """The probability that a unit shows a group by being in it, over all counts that it can change; rounded up."""
        return failure(self.survival, self.touched, self.threshold)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise, and that of showing a group which would not be there."""
        return (self.noise + PrivacyLoss.approximate(0, self.failure)).under(self.relation)

    @property
    def certain(self) -> None:
        """None: noise may hide any count."""
        return

    def keep(self, counts: Counts, /) -> Bools:
        """Return for each group whether it may be shown."""
        return self.reveal(counts)[0]

    def reveal(self, counts: Counts, /) -> tuple[Bools, npt.NDArray[np.int64]]:
        """Return for each group whether it may be shown, and its noisy count, or 0 if not; both for one ``loss``."""
        numbers = padded(counts)
        noisy = add_noise(numbers, self.draw, type(self).__name__)
        kept = ((numbers > 0) & (noisy > self.threshold))[: len(counts)]
        return kept, np.where(kept, noisy[: len(counts)], 0)

    def kept(self, count: int, /) -> arb:
        """Return ``P[count + Z > T]``."""
        t = self.threshold - count + 1
        return self.survival(t) if t >= 1 else 1 - self.survival(1 - t)

    def dropped(self, count: int, /) -> arb:
        """Return ``P[count + Z <= T]``."""
        t = self.threshold - count + 1
        return 1 - self.survival(t) if t >= 1 else self.survival(1 - t)

    def worst_case(self) -> tuple[list[int], list[int]]:
        """Groups with one unit each, which then are not there."""
        alone, nobody = [1] * self.groups, [0] * self.groups
        return (alone, nobody) if self.relation == "add_remove" else (alone + nobody, nobody + alone)


def failure(survival: Callable[[int], arb], touched: int, threshold: int) -> Fraction:
    """Return ``1 - (1 - P[1 + Z > T])^touched``, rounded up."""
    return Fraction(min(1.0, up(lambda: -((-shown_alone(survival, threshold)).log1p() * touched).expm1())))


def shown_alone(survival: Callable[[int], arb], threshold: int) -> arb:
    """Return ``P[1 + Z > T]`` for a threshold of at least 0; noise is symmetric."""
    return survival(threshold) if threshold >= 1 else 1 - survival(1)


def least_threshold(survival: Callable[[int], arb], touched: int, delta: Fraction) -> int:
    """Return the least T of at least 0 with ``1 - (1 - P[1 + Z > T])^touched <= delta``."""

    def too_low(t: int) -> bool:
        return t < 0 or failure(survival, touched, t) > delta

    found = 1 + largest(0, lambda t: t < HIGHEST and too_low(t))
    if found >= HIGHEST:
        raise InvalidParameter("with this much noise no count would ever be shown: take a larger epsilon or delta.")
    return found
