"""Batches of limited size: what it costs that a sample above the limit is cut.

Chua, Ghazi, Harrison, Leeman, Kamath, Kumar, Manurangsi, Sinha and Zhang, "Scalable DP-SGD: Shuffling vs. Poisson
Subsampling", NeurIPS 2024. Couple a training run on Poisson batches with one whose batches are cut at B: they are the
same unless some batch overflows. With ``eta`` the probability of that on either of two neighbouring data sets,

    P'(S) <= P(S) + eta <= e^epsilon Q(S) + delta + eta <= e^epsilon Q'(S) + delta + (1 + e^epsilon) eta.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import ball, up

__all__ = ["Overflow", "binomial_tail"]


@dataclass(frozen=True, slots=True)
class Overflow:
    """A release within ``probability`` in total variation, on every data set, of the one that the other terms describe.

    Beside other terms it costs ``(1 + e^epsilon) probability``; by itself it describes a release of nothing.
    """

    probability: Fraction
    kind: ClassVar[str] = "overflow"
    attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise InvalidParameter("the overflow of a batch must be a probability.")

    @property
    def pure(self) -> Fraction | None:
        """None, unless no batch is ever cut."""
        return None if self.probability else Fraction(0)

    @property
    def rho(self) -> Fraction | None:
        """None, unless no batch is ever cut."""
        return self.pure

    def delta(self, epsilon: Fraction, /) -> float:
        """``(1 + e^epsilon) probability``."""
        return min(1.0, up(lambda: (1 + ball(epsilon).exp()) * ball(self.probability)))

    def renyi(self, alpha: Fraction, /) -> float:
        """Infinite, unless no batch is ever cut."""
        return math.inf if self.probability else 0.0

    def pair(self) -> None:
        """None: it is set aside before anything is composed."""
        return

    def group(self, size: int, /) -> "Overflow":
        """None is claimed for groups: the probability was computed for one more record."""
        if size == 1 or not self.probability:
            return self
        raise NoTheorem("the chance that a batch is cut grows with the group; state it for more records instead.")


def binomial_tail(trials: int, rate: Fraction, most: int) -> Fraction:
    """Return the probability that a binomial variable exceeds ``most``, rounded up.

    Terms are summed from ``most + 1`` on. Each is the one before times ``(n - k) q / ((k + 1) (1 - q))``, which falls,
    so what is left after a term is at most a geometric series. Below the mean, 1 is returned: nothing is gained there.

    >>> float(binomial_tail(2, Fraction(1, 2), 1))
    0.25000000000000...
    """
    if most >= trials:
        return Fraction(0)
    if rate == 1 or most + 1 <= trials * rate:
        return Fraction(1)

    def formula() -> arb:
        odds = ball(rate) / (1 - ball(rate))
        n, k = trials, most + 1
        ways = ball(n + 1).lgamma() - ball(k + 1).lgamma() - ball(n - k + 1).lgamma()
        term = (ways + k * ball(rate).log() + (n - k) * (1 - ball(rate)).log()).exp()
        total = term
        while k < n:
            ratio = Fraction(n - k, k + 1) * rate / (1 - rate)
            term = term * (n - k) / (k + 1) * odds
            k += 1
            total += term
            if ratio < 1 and term < total / (1 << 100):
                return total + arb(0).union(term * ball(ratio / (1 - ratio)))
        return total

    return Fraction(min(1.0, up(formula)))
