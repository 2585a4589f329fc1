"""Privacy filters: budgets that hold when the answers so far decide what is asked next and how much it may cost.

An analyst sees the answers so far and chooses the next mechanism *and its parameters*. A filter gives each loss a cost
that adds, and admits it while the sum stays within a limit that was fixed before the first release. The game was
defined by Rogers, Roth, Ullman and Vadhan, "Privacy Odometers and Filters: Pay-as-you-Go Composition", NeurIPS 2016.

A loss here costs an amount in the filter's currency (epsilon, rho, a Renyi divergence or mu squared) and a probability
of failure. An (epsilon, delta)-DP release is a coin that fails with probability delta, and otherwise an epsilon-DP
release (Kairouz, Oh and Viswanath, ICML 2015); the other losses never fail. Two steps prove every filter:

- *Failures add.* Let P, Q be the transcripts on neighbours and P', Q' those with every coin forced not to fail. Costs
  are functions of the transcript, so on paths without failure P and Q have the same density ``w = prod(1 - delta_i)``
  with respect to P' and Q'. Hence ``P(S) - e^epsilon Q(S) <= (1 - P'[w]) + integral w (dP' - e^epsilon dQ')_+``, at
  most ``sum delta_i``, bounded on every path by ``failures``, plus the delta of P' against Q' at epsilon.
- *Amounts add*, for P' against Q', by the theorem that each filter names.

The share of delta that may go to failures is fixed beforehand. Admitting by the two together, while what converts now
plus the failures so far stay within delta, is not valid: an analyst spends on failures after answers that told little
and on rho after answers that told much, and gets more than delta from every path that cost no more.

Filters are not the numerical accountant. ``discreet.accounting.numerical`` and ``PrivacyLoss.epsilon`` compose a
*plan*, whose parameters are declared beforehand, and are tighter. Going on until the composed curve of what has been
spent so far reaches the budget is not valid in general: for arbitrary budgets it is so only for families of losses that
are totally ordered when composed (Regehr, Hu, Leeman, Manurangsi, Tholoniat and Lecuyer, "Privacy Filters are Captured
by Residues", 2026). Spend a whole plan as one loss, or choose as you go and let a filter count.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from flint import arb

from discreet.accounting.terms import Approximate, Gaussian, Pure, Term
from discreet.accounting.terms.concentrated import renyi_delta
from discreet.accounting.terms.gaussian import gaussian_delta
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import ball, down, smallest, up, upward

__all__ = ["Basic", "Filter", "Gdp", "Renyi", "Zcdp", "advice", "without_failure"]

ZERO = Fraction(0)

GRID = 32
"""Orders of the odometer: each fits a quarter of the rho that the one before fits."""


HIGH_ORDER = Fraction(64)
"""Filters of Renyi divergences for usual budgets have orders below."""


class Filter(Protocol):
    """A currency whose amounts add under full adaptivity, and a limit for their sum."""

    currency: ClassVar[str]

    @property
    def limit(self) -> Fraction:
        """The most that amounts may add up to."""
        ...

    @property
    def failures(self) -> Fraction:
        """The most that probabilities of failure may add up to."""
        ...

    def amount(self, term: Term, /) -> Fraction | None:
        """Return what a term without failure costs; None if that is infinite."""
        ...

    def delta(self, epsilon: Fraction, /) -> float:
        """Return a delta for which everything that this filter admits is (epsilon, delta)-DP together."""
        ...

    def bound(self, amount: Fraction, delta: Fraction, /) -> float:
        """Return what the privacy loss stays within after spending ``amount``, as an odometer.

        With probability ``1 - delta`` over the transcript, for all times at once. Failures are not counted here.
        """
        ...


@dataclass(frozen=True, slots=True)
class Basic:
    """Epsilons add: Rogers et al. 2016. With no room for failures this is the filter of pure differential privacy.

    Holds for any pure releases, and for (epsilon, delta)-DP ones within ``failures``: on every path the densities of P'
    and Q' are within a factor ``e^epsilon`` of each other for each release, so for the path.

    >>> Basic(Fraction(1), Fraction(1, 1000)).delta(Fraction(1))
    0.001
    """

    limit: Fraction
    failures: Fraction = ZERO
    currency: ClassVar[str] = "epsilon"

    def amount(self, term: Term, /) -> Fraction | None:
        """The pure epsilon."""
        return term.pure

    def delta(self, epsilon: Fraction, /) -> float:
        """That of a pure mechanism, and the failures."""
        return _plus(self.failures, Pure(self.limit).delta(epsilon))

    def bound(self, amount: Fraction, delta: Fraction, /) -> float:
        """The sum of the epsilons, with certainty."""
        return upward(amount)


@dataclass(frozen=True, slots=True)
class Zcdp:
    """Rhos add: Whitehouse, Ramdas, Rogers and Wu, "Fully-Adaptive Composition in Differential Privacy", ICML 2023.

    Holds for releases that are rho-zCDP given the past, and for (epsilon, delta)-DP ones within ``failures``. Let L be
    the privacy loss of the path so far and R the rho spent on it. For each order a, ``exp((a - 1)(L - a R))`` is a
    supermartingale that starts at 1, and R stays within the limit, so the order-a divergence is at most ``a limit``.

    >>> rule = Zcdp.reaching(Fraction(1), Fraction(1, 10**6))
    >>> float(rule.limit), rule.delta(Fraction(1)) <= 1e-6
    (0.02435..., True)
    """

    limit: Fraction
    failures: Fraction = ZERO
    currency: ClassVar[str] = "rho"

    @classmethod
    def reaching(cls, epsilon: Fraction, delta: Fraction, failures: Fraction = ZERO) -> "Zcdp":
        """Return the filter of most rho that is (epsilon, delta)-DP."""
        rule = Renyi.reaching(epsilon, delta, failures)
        return cls(rule.limit / rule.order, failures)

    def amount(self, term: Term, /) -> Fraction | None:
        """The zCDP parameter."""
        return term.rho

    def delta(self, epsilon: Fraction, /) -> float:
        """The best order's conversion, and the failures."""
        return _plus(self.failures, renyi_delta(lambda order: upward(order * self.limit), epsilon))

    def bound(self, amount: Fraction, delta: Fraction, /) -> float:
        """The best of a geometric grid of orders, each with a share of delta.

        By Ville's inequality for the supermartingale above, ``L <= a R + log(1 / d) / (a - 1)`` at all times at once
        but for a probability d. Order number k is the best one for ``limit / 4^k`` and has the share
        ``1 / ((k + 1)(k + 2))`` of delta; the shares sum to at most 1. Whitehouse et al. stitch their odometers so.
        """
        if not amount:
            return 0.0

        def share(k: int) -> Fraction:
            return delta / ((k + 1) * (k + 2))

        def excess(k: int) -> float:  # the order less 1; it depends on what was fixed beforehand alone
            return math.sqrt(_log_inverse(share(k)) / float(self.limit / 4**k))

        k = min(range(GRID), key=lambda k: excess(k) * float(amount) + _log_inverse(share(k)) / excess(k))
        a, d = Fraction(excess(k)), share(k)
        return up(lambda: (1 + ball(a)) * ball(amount) - ball(d).log() / ball(a))


@dataclass(frozen=True, slots=True)
class Renyi:
    """Renyi divergences of one order add: Feldman and Zrnic, NeurIPS 2021; Lecuyer 2021.

    Holds for releases of finite divergence at that order given the past, and for (epsilon, delta)-DP ones within
    ``failures``; the proof is that of ``Zcdp`` at one order. The order is fixed beforehand: the one at which most rho
    fits, so but for rounding this never charges a larger share of its limit than ``Zcdp``, and less for Laplace noise.
    Going on while *some* order of several is within its limit is not proven: paths would differ in the order they use.

    >>> rule = Renyi.reaching(Fraction(1), Fraction(1, 10**6))
    >>> float(rule.order), float(rule.limit)
    (21.98..., 0.5355...)
    """

    limit: Fraction
    order: Fraction
    failures: Fraction = ZERO
    currency: ClassVar[str] = "Renyi divergence"

    @classmethod
    def reaching(cls, epsilon: Fraction, delta: Fraction, failures: Fraction = ZERO) -> "Renyi":
        """Return the filter that is (epsilon, delta)-DP, of the order at which most rho fits.

        The limit inverts Canonne, Kamath and Steinke, NeurIPS 2020, Proposition 12 (see ``renyi_delta``).
        """
        left = _left(delta, failures)

        def rho(log: float) -> float:
            a = 1 + math.exp(log)
            return (float(epsilon) - math.log1p(-1 / a) + (math.log(a) - _log_inverse(left)) / (a - 1)) / a

        best = 0.0
        for step in (1.0, 0.1, 0.01, 0.001):
            best = max((best + step * i for i in range(-30, 31)), key=rho)
        order = Fraction(1 + math.exp(best))

        def formula() -> arb:
            a = ball(order)
            return ball(epsilon) - (1 - 1 / a).log() + (ball(left) * a).log() / (a - 1)

        limit = Fraction(down(formula))
        if limit <= 0:
            raise InvalidParameter("this budget is too small for any order to fit; take a larger epsilon or delta.")
        return cls(limit, order, failures)

    def amount(self, term: Term, /) -> Fraction | None:
        """The divergence at the order, rounded up."""
        divergence = term.renyi(self.order)
        return None if math.isinf(divergence) else Fraction(divergence)

    def delta(self, epsilon: Fraction, /) -> float:
        """The conversion at the order, and the failures."""

        def formula() -> arb:
            a = ball(self.order)
            return ((a - 1) * (ball(self.limit - epsilon) + (1 - 1 / a).log())).exp() / a

        return _plus(self.failures, up(formula))

    def bound(self, amount: Fraction, delta: Fraction, /) -> float:
        """``amount + log(1 / delta) / (order - 1)``: Ville's inequality, as for ``Zcdp``, at one order."""
        return up(lambda: ball(amount) - ball(delta).log() / (ball(self.order) - 1)) if amount else 0.0


@dataclass(frozen=True, slots=True)
class Gdp:
    """Squares of mu add, exactly: Smith and Thakurta 2022; Koskela, Tobaben and Honkela, ICLR 2023.

    Holds for releases that are mu-GDP given the past: Gaussian noise whose sigma is chosen as one goes. Together they
    are as private as one release with the limit for its square, which no other filter reaches.

    >>> float(Gdp.reaching(Fraction(1), Fraction(1, 10**5)).limit) ** -0.5        # the sigma of Balle and Wang
    3.7306...
    """

    limit: Fraction
    failures: Fraction = ZERO
    currency: ClassVar[str] = "mu squared"

    @classmethod
    def reaching(cls, epsilon: Fraction, delta: Fraction, failures: Fraction = ZERO) -> "Gdp":
        """Return the filter of most mu squared that is (epsilon, delta)-DP."""
        left = _left(delta, failures)
        sigma = smallest(lambda s: s > 0 and gaussian_delta(1 / Fraction(s) ** 2, epsilon) <= left)
        if math.isinf(sigma):
            raise InvalidParameter("this budget is too small for Gaussian noise; take a larger epsilon or delta.")
        return cls(1 / Fraction(sigma) ** 2, failures)

    def amount(self, term: Term, /) -> Fraction | None:
        """The square of mu; other noise is not covered."""
        if isinstance(term, Gaussian):
            return term.mu_squared
        if term.pure == 0:
            return ZERO
        raise NoTheorem(f'the filter "gdp" is proven for Gaussian noise alone, got a {term.kind} loss. {advice(term)}')

    def delta(self, epsilon: Fraction, /) -> float:
        """The exact curve of Balle and Wang, ICML 2018, and the failures."""
        return _plus(self.failures, gaussian_delta(self.limit, epsilon))

    def bound(self, amount: Fraction, delta: Fraction, /) -> float:
        """That of ``Zcdp``: mu-GDP is ``mu^2 / 2``-zCDP."""
        return Zcdp(self.limit / 2).bound(amount / 2, delta)


def without_failure(term: Term) -> tuple[Term, Fraction]:
    """Return what a release is when it does not fail, and the probability that it does.

    >>> without_failure(Approximate(Fraction(1), Fraction(1, 100)))
    (Pure(epsilon=Fraction(1, 1)), Fraction(1, 100))
    """
    return (Pure(term.epsilon), term.failure) if isinstance(term, Approximate) else (term, ZERO)


def advice(term: Term, order: Fraction | None = None) -> str:
    """Return which filter takes a term that another one refuses; ``order`` is that of the Renyi filter, if known.

    >>> from discreet.accounting.terms import Sampled
    >>> advice(Sampled(Gaussian(Fraction(1)), Fraction(1, 100)))
    'Open the budget with a delta and filter="renyi", which takes it.'
    """
    named = ['filter="zcdp"'] if term.rho is not None else []
    if math.isfinite(term.renyi(order or HIGH_ORDER)):
        named.append('filter="renyi"')
    if named:
        return f"Open the budget with a delta and {' or '.join(named)}, which takes it."
    return (
        "No filter takes it as it is. State it as PrivacyLoss.approximate(epsilon, delta), in a budget whose failures= "
        "cover its delta."
    )


def _left(delta: Fraction, failures: Fraction) -> Fraction:
    if not 0 <= failures < delta:
        raise InvalidParameter("failures must leave a part of delta for the losses that do not fail.")
    return delta - failures


def _log_inverse(delta: Fraction) -> float:
    return math.log(delta.denominator) - math.log(delta.numerator)


def _plus(failures: Fraction, delta: float) -> float:
    return min(1.0, upward(failures + Fraction(delta)))
