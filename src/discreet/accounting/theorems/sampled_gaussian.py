"""Renyi divergences of Gaussian noise on a Poisson sample: one step of DP-SGD.

Mironov, Talwar and Zhang, 2019 (arXiv 1908.10530). A record is seen with probability q, the noise has z times the
deviation of the sensitivity. The worst pair is ``(1 - q) N(0, z^2) + q N(1, z^2)`` against ``N(0, z^2)``, in this
direction, for add_remove.

- Whole orders: ``sum_k C(a,k) (1-q)^(a-k) q^k e^(k(k-1) / 2z^2)``. The weights sum to 1, so this is 1 plus the same sum
  over ``e^(...) - 1``, whose terms are all positive: it is summed in logarithms for all orders at once.
- Other orders: the integral itself, enclosed rigorously by ball arithmetic, its two tails bounded by normal tails.
- Very large orders, which no search for an epsilon ends in: what holds without sampling, which sampling cannot worsen.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import overload

import numpy as np
import numpy.typing as npt
from flint import acb, arb, ctx

from discreet.accounting.theorems.sampling import require
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, finite, positive, probability, show, up, upward

__all__ = ["sampled_gaussian_renyi"]

Floats = npt.NDArray[np.float64]

MOST_TERMS = 10_000
"""Whole orders up to this are summed."""

MOST_INTEGRATED = 200
"""Other orders up to this are integrated; between it and ``MOST_TERMS`` the next whole order stands in."""

UNIT = 2.0**-50
"""A relative error that no elementary function here exceeds."""

LARGEST = 700.0
"""Exponents beyond this are not exponentiated in float64."""

CELLS = 1 << 20
"""Entries of a table of orders and terms that are worked on at once."""


@overload
def sampled_gaussian_renyi(orders: Real, *, rate: Real, noise_multiplier: Real, relation: str) -> float: ...
@overload
def sampled_gaussian_renyi(orders: Iterable[Real], *, rate: Real, noise_multiplier: Real, relation: str) -> Floats: ...
def sampled_gaussian_renyi(
    orders: Real | Iterable[Real], *, rate: Real, noise_multiplier: Real, relation: str
) -> float | Floats:
    """Return the Renyi divergence of each order above 1, whole or not, rounded up.

    Holds for Poisson sampling and add_remove neighbours alone: a batch of fixed size is not covered.

    >>> sampled_gaussian_renyi(8, rate=0.01, noise_multiplier=1.1, relation="add_remove")
    0.000584070335520...
    >>> sampled_gaussian_renyi([2, 2.5, 3], rate=0.01, noise_multiplier=1.1, relation="add_remove").round(6)
    array([0.000129, 0.000162, 0.000196])
    """
    require(relation, "add_remove", "replacing a record is a group of two under add_remove; it has no formula here.")
    q, z = probability(rate, "rate", zero=True, one=True), positive(noise_multiplier, "noise_multiplier")
    exact = [_order(order) for order in (orders if isinstance(orders, Iterable) else [orders])]
    result = np.array([upward(order / (2 * z * z)) for order in exact]) * bool(q)
    if 0 < q < 1:
        summed = [i for i, a in enumerate(exact) if a <= MOST_TERMS and (a.denominator == 1 or a > MOST_INTEGRATED)]
        result[summed] = np.minimum(result[summed], _sums([math.ceil(exact[i]) for i in summed], q, z))
        for i, order in enumerate(exact):
            if order.denominator > 1 and order <= MOST_INTEGRATED:
                result[i] = min(float(result[i]), _integral(order, q, z))
    return result if isinstance(orders, Iterable) else float(result[0])


def _sums(orders: Sequence[int], q: Fraction, z: Fraction) -> Floats:
    rows = max(1, CELLS // max(orders, default=1))
    blocks = [np.array(orders[i : i + rows], dtype=np.float64) for i in range(0, len(orders), rows)]
    return np.concatenate([np.zeros(0), *(_block(block, q, z) for block in blocks)])


def _block(orders: Floats, q: Fraction, z: Fraction) -> Floats:
    """Return the divergences, each term of each sum raised by the most that its roundings can have lowered it."""
    from scipy.special import gammaln, logsumexp

    log_q, log_p = _log(q), _log(1 - q)
    a, k = orders[:, None], np.arange(2, orders.max() + 1)[None, :]
    rest = np.maximum(a - k, 0)
    exponent = k * (k - 1) * upward(1 / (2 * z * z))
    excess = np.log(-np.expm1(-exponent))
    logs = gammaln(a + 1) - gammaln(k + 1) - gammaln(rest + 1) + k * log_q + rest * log_p + exponent + excess
    sizes = gammaln(a + 1) + gammaln(k + 1) + gammaln(rest + 1) - k * log_q - rest * log_p + exponent - excess
    total = logsumexp(np.where(k <= a, logs + UNIT * (sizes + 8), -np.inf), axis=1) + UNIT * orders
    moment = np.log1p(np.exp(-np.abs(total))) + np.maximum(total, 0)
    return np.asarray(moment / (orders - 1) * (1 + 8 * UNIT) + 1e-300, dtype=np.float64)


def _integral(order: Fraction, q: Fraction, z: Fraction) -> float:
    """Integrate ``phi(t) (1 - q + q e^(t/z - 1/2z^2))^order``."""

    def formula() -> arb:
        a, mu, p, r = ball(order), 1 / ball(z), ball(1 - q), ball(q)
        reach = ball(math.ceil(math.sqrt(2 * ctx.prec)))

        def below(t: acb, analytic: bool) -> acb:
            ratio = p + r * (t * mu - mu * mu / 2).exp()
            return (a * ratio.log(analytic=analytic) - t * t / 2).exp()

        def above(s: acb, analytic: bool) -> acb:  # at t = a mu + s the same without a factor r^a e^top
            loss = (s + a * mu) * mu - mu * mu / 2
            return (a * (1 + p / r * (-loss).exp()).log(analytic=analytic) - s * s / 2).exp()

        def over(low: arb, high: arb) -> acb:
            if high <= turn:
                return acb.integral(below, low, high)
            start = turn if low < turn else low
            right = r**a * top.exp() * acb.integral(above, start - a * mu, high - a * mu)
            return right + acb.integral(below, low, turn) if low < turn else right

        top = a * (a - 1) * mu * mu / 2
        turn = arb(float((mu / 2 + (p / r).log() / mu).mid()))  # where both parts of the ratio are equal
        end = a * mu + reach
        middle = over(-reach, end).real / (2 * arb.pi()).sqrt()
        # To the left the ratio is below 1. To the right, with e^x its exponential and e^y that at the end, it is below
        # e^x (q + (1 - q) / e^y). Normal tails are left over on both sides.
        beyond = (r + p * (mu * mu / 2 - end * mu).exp()) ** a * top.exp()
        tails = (reach / arb(2).sqrt()).erfc() / 2 * (1 + beyond)
        return (middle + arb(0).union(tails)).log() / (a - 1)

    return up(formula)


def roughly(order: float, rate: float, mu: float) -> float:
    """Return the divergence to some digits: a sum over points about both places where the integrand may be large."""
    if order > MOST_TERMS:
        return order * mu * mu / 2
    near = np.linspace(-12, 12, 241)
    end = order * mu
    t = np.linspace(-12, end + 12, math.ceil(10 * (end + 24)) + 1) if end < 24 else np.concatenate([near, near + end])
    exponents = t * mu - mu * mu / 2
    ratio = np.logaddexp(math.log1p(-rate), math.log(rate) + exponents)
    logs = order * ratio - t * t / 2
    top = float(logs.max())
    if top < 1 and float(exponents[-1]) < LARGEST:  # what exceeds 1 is summed: nothing cancels for small rates
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.expm1(order * np.log1p(rate * np.expm1(exponents)))
            excess = float(np.sum(np.exp(-t * t / 2) * moved)) * float(t[1] - t[0]) / math.sqrt(2 * math.pi)
        if math.isfinite(excess):
            return math.log1p(max(excess, 0.0)) / (order - 1)
    total = top + math.log(float(np.exp(logs - top).sum()) * float(t[1] - t[0])) - math.log(2 * math.pi) / 2
    return max(total, 0.0) / (order - 1)


def _log(value: Fraction) -> float:
    return up(lambda: ball(value).log() * 1)


def _order(value: Real) -> Fraction:
    order = finite(value, "order")
    if order <= 1:
        raise InvalidParameter(f"a Renyi order must be above 1, got {show(order)}.")
    return order
