"""Mechanisms of bounded range: the exponential mechanism and all that selects like it.

The range is the largest difference between two losses on the same neighbours (Durfee and Rogers, NeurIPS 2019). That of
an epsilon-DP mechanism may be ``2 epsilon``; that of the exponential mechanism is the epsilon it is tuned for, and then
it costs about half as much under composition.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from discreet.accounting.numerical.bounded_range import BoundedRangePair
from discreet.accounting.numerical.pairs import Pair
from discreet.exact import ball, up

__all__ = ["BoundedRange"]


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """On neighbours, the largest and the smallest loss differ by at most ``epsilon``.

    Some loss is at least 0 and some at most 0, so all lie in ``[t - epsilon, t]`` with t between 0 and epsilon, and the
    mechanism with these two losses alone is the worst of them: E of a convex function of ``e^L`` is largest at the
    ends. Everything here is the worst over t. The pair dominates; composed it is looser than the Renyi divergences are.
    """

    epsilon: Fraction
    kind: ClassVar[str] = "bounded_range"
    attained: ClassVar[bool] = True

    @property
    def pure(self) -> Fraction:
        """Epsilon itself: the loss may be as large as the range."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """``epsilon^2 / 8`` (Cesar and Rogers, ALT 2021).

        ``K(a) = log E_Q e^(a L)`` is 0 at 0 and 1, and its second derivative, a variance of something within an
        interval of length epsilon, is at most ``epsilon^2 / 4``. So ``K(a) <= a (a - 1) epsilon^2 / 8``.
        """
        return self.epsilon**2 / 8

    def delta(self, epsilon: Fraction, /) -> float:
        """``(e^(epsilon0 / 2) - e^(epsilon / 2))^2 / (e^epsilon0 - 1)`` (Dong, Durfee and Rogers, ICML 2020)."""
        if epsilon >= self.epsilon:
            return 0.0
        e0, e = self.epsilon, epsilon
        return up(lambda: ((ball(e0) / 2).exp() - (ball(e) / 2).exp()) ** 2 / ball(e0).expm1())

    def renyi(self, alpha: Fraction, /) -> float:
        """The worst t: ``e^t = (1 - 1/a) (B - B^(1-a)) / (1 - B^(1-a))`` with ``B = e^epsilon``.

        The moment is ``e^((a-1) t) (B - B^(1-a) - e^t (1 - B^(1-a))) / (B - 1)``: 1 at both ends, with one maximum.
        """
        if not self.epsilon:
            return 0.0

        def formula() -> arb:
            a, e = ball(alpha), ball(self.epsilon)
            small = ((1 - a) * e).exp()
            excess, gap = e.exp() - small, 1 - small
            worst = (a - 1) / a * excess / gap
            return worst.log() + (excess / (a * e.expm1())).log() / (a - 1)

        return up(formula)

    def pair(self) -> Pair | None:
        """The pair whose profile is the worst over all t."""
        return BoundedRangePair(float(self.epsilon)) if self.epsilon else None

    def group(self, size: int, /) -> "BoundedRange":
        """Losses add along the chain, and so do their ranges."""
        return BoundedRange(size * self.epsilon)
