"""Central limits: what many small releases look like. These are approximations; they may lie on either side.

Dong, Roth and Su, JRSS B 2022, Theorem 3.4; for DP-SGD Bu, Dong, Long and Su, Harvard Data Science Review 2020.
Nothing in discreet charges by them.
"""

from dataclasses import dataclass
from typing import ClassVar

from flint import arb

from discreet.accounting.theorems.advanced import drift
from discreet.accounting.theorems.gaussian import gdp_delta, gdp_epsilon
from discreet.accounting.theorems.guarantee import Numbers, steps, whole
from discreet.exact import Real, ball, positive, probability, up

__all__ = ["Approximation", "pure_limit", "sampled_gaussian_limit"]


@dataclass(frozen=True, slots=True)
class Approximation:
    """About mu-Gaussian differential privacy, with no direction: it proves nothing.

    >>> Approximation(mu=1.0).direction is None
    True
    """

    mu: float
    direction: ClassVar[None] = None

    def epsilon(self, delta: Real) -> float:
        """About the epsilon at delta."""
        return gdp_epsilon(self.mu, delta)

    def delta(self, epsilon: Real) -> float:
        """About the delta at epsilon."""
        return gdp_delta(self.mu, epsilon)


def sampled_gaussian_limit(*, rate: Real, noise_multiplier: Real, steps: int) -> Approximation:
    """Return about ``mu = q sqrt(T (e^(1/z^2) - 1))`` for T steps of DP-SGD with Poisson sampling.

    >>> sampled_gaussian_limit(rate=0.01, noise_multiplier=1.1, steps=1000)
    Approximation(mu=0.358494545815...)
    """
    q, z = probability(rate, "rate", zero=True, one=True), positive(noise_multiplier, "noise_multiplier")
    count = whole(steps, "steps")
    return Approximation(up(lambda: ball(q) * (count * (1 / ball(z * z)).expm1()).sqrt()) if q else 0.0)


def pure_limit(epsilons: Numbers, *, count: int | list[int] = 1) -> Approximation:
    """Return about ``mu = 2 sum E L / sqrt(sum Var L)`` for opaque pure mechanisms, the losses of randomised response.

    >>> pure_limit(0.1, count=50)
    Approximation(mu=0.70740...)
    """
    parts = [(e, k) for e, _, k in steps(epsilons, 0, count) if e and k]

    def formula() -> arb:
        means = sum((drift(ball(e)) * k for e, k in parts), arb(0))
        variances = sum(((ball(e) / (ball(e) / 2).cosh()) ** 2 * k for e, k in parts), arb(0))
        return 2 * means / variances.sqrt()

    return Approximation(up(formula) if parts else 0.0)
