"""How many rounds, how many draws and how large a step: by the theorem of the paper, and by what was found to work.

Gaboardi, Gallego Arias, Hsu, Roth and Wu (ICML 2014), Theorem 4.5: with ``T = 16 ln|Q| / alpha^2`` rounds, steps of
``eta = alpha / 4`` and ``s = 48 ln(2 |X| T / beta) / alpha^2`` draws in each, all answers are within alpha with
probability 1 - beta. What these cost then falls with the cube of alpha times n: a third root where private
multiplicative weights, which needs time in the size of the domain, has a square root.

These constants are far from what is needed. ``practical`` takes draws in proportion to ln|X|, a step of 5/4, and
as many rounds as the budget pays for, which again is a third root: ``s eta^2 T^3 = 6 rho n^2``. Its two constants were
chosen on two public data sets, and nothing about privacy depends on them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability

__all__ = ["Choice", "affordable_rho", "practical", "records_needed", "theoretical"]

DRAWS = 5.0
"""Draws in a round for each unit of ln|X|."""

FEWEST_DRAWS, MOST_DRAWS = 60, 1 << 20
STEP = Fraction(5, 4)
FEWEST_ROUNDS, MOST_ROUNDS = 2, 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Rounds, draws in each, and the step of the weights."""

    rounds: int
    samples: int
    eta: Fraction


def theoretical(alpha: Real, *, queries: int, log_domain: float, beta: Real = 0.05) -> Choice:
    """Return what the theorem asks for so that all answers are within ``alpha`` with probability ``1 - beta``.

    ``queries`` counts complements too, and ``log_domain`` is the natural log of the number of possible records.

    >>> theoretical(0.1, queries=1000, log_domain=20 * math.log(2))
    Choice(rounds=11053, samples=128939, eta=Fraction(1, 40))
    """
    wanted = probability(alpha, "alpha")
    failure = float(probability(beta, "beta"))
    square = float(wanted) ** 2
    rounds = 16 * math.log(queries) / square
    samples = 48 * (math.log(2) + log_domain + math.log(rounds / failure)) / square
    step = Fraction(float(wanted)).limit_denominator(10**9) / 4
    return Choice(rounds=math.ceil(rounds), samples=math.ceil(samples), eta=step)


def records_needed(
    alpha: Real, epsilon: Real, delta: Real, *, queries: int, log_domain: float, beta: Real = 0.05
) -> int:
    """Return how many records the theorem needs for answers within ``alpha`` at (epsilon, delta).

    >>> many = records_needed(0.1, 1, 1e-3, queries=1000, log_domain=20 * math.log(2))
    >>> more = records_needed(0.05, 1, 1e-3, queries=1000, log_domain=20 * math.log(2))
    >>> 8 < more / many < 10
    True
    """
    asked = theoretical(alpha, queries=queries, log_domain=log_domain, beta=beta)
    cubic = asked.rounds * (asked.rounds - 1) * (2 * asked.rounds - 1) / 12
    spent = asked.samples * float(asked.eta) ** 2 * cubic
    return math.ceil(math.sqrt(spent / affordable_rho(epsilon, delta)))


def practical(rho: float, *, size: int, log_domain: float, records: int = 1) -> Choice:
    """Return a choice that costs at most ``rho`` of zCDP, with as many rounds as that pays for.

    >>> practical(0.06, size=30162, log_domain=35.0)
    Choice(rounds=106, samples=178, eta=Fraction(5, 4))
    """
    paid = rho * (size / records) ** 2 * (1 - 1e-9)  # more than what floats round
    samples = min(max(math.ceil(DRAWS * log_domain), FEWEST_DRAWS), MOST_DRAWS)
    root = (6 * paid / (samples * float(STEP) ** 2)) ** (1 / 3)
    rounds = min(max(int(root), FEWEST_ROUNDS), MOST_ROUNDS)
    each = 12 * paid / (rounds * (rounds - 1) * (2 * rounds - 1))
    samples = min(max(samples, int(each / float(STEP) ** 2)), MOST_DRAWS)
    eta = min(STEP, Fraction(math.floor(math.sqrt(each / samples) * 2**30), 2**30))
    if eta <= 0:
        raise InvalidParameter("so few records leave no step for the weights at this budget; a larger epsilon would.")
    return Choice(rounds=rounds, samples=samples, eta=eta)


@lru_cache(maxsize=256)
def affordable_rho(epsilon: Real, delta: Real) -> float:
    """Return the largest zCDP parameter that is within (epsilon, delta).

    >>> 0.05 < affordable_rho(1, 1e-3) < 0.06
    True
    """
    most, failure = float(positive(epsilon, "epsilon")), probability(delta, "delta")
    root = math.sqrt(-math.log(failure))
    low = (math.sqrt(most - math.log(failure)) - root) ** 2 * (1 - 1e-9)  # by Bun and Steinke's simpler formula
    return _largest(lambda rho: PrivacyLoss.zcdp(Fraction(rho)).epsilon(failure) <= most, low)


def _largest(fits: Callable[[float], bool], low: float) -> float:
    """Return a number that fits and lies within a thousandth of the largest one, from one that does."""
    high = 1.5 * low
    while fits(high):
        low, high = high, 1.5 * high
    while high - low > low / 1000:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
