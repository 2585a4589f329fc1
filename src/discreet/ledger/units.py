"""Whole units: a ledger adds integers, and every rounding goes against the spender.

Amounts (epsilon, rho, ...) are counted in units of 1e-12 and probabilities of failure in units of 1e-18. A cost is
rounded up and a limit down, so what the units admit the exact numbers admit too.
"""

from fractions import Fraction

from discreet.accounting.budget import Cost
from discreet.errors import LedgerError

__all__ = ["AMOUNT", "FAILURE", "MOST", "cost_in_units", "cost_of_units", "limit_in_units", "units_up"]

AMOUNT = 10**12
FAILURE = 10**18
MOST = 2**62
"""The largest limit, in units: a database counts to twice as many."""


def units_up(value: Fraction, size: int) -> int:
    """Return how many units cover a value.

    >>> units_up(Fraction(1, 3), 10), units_up(Fraction(3, 10), 10)
    (4, 3)
    """
    return -(-value.numerator * size // value.denominator)


def cost_in_units(cost: Cost) -> tuple[int, int]:
    """Return a cost in units, rounded up; what no ledger could hold is more than any limit.

    >>> cost_in_units(Cost(Fraction(10**30), Fraction(0)))[0] > MOST
    True
    """
    return min(units_up(cost.amount, AMOUNT), MOST + 1), min(units_up(cost.failure, FAILURE), MOST + 1)


def limit_in_units(limit: Cost) -> tuple[int, int]:
    """Return a limit in units, rounded down.

    >>> limit_in_units(Cost(Fraction(1, 3), Fraction(0)))
    (333333333333, 0)
    """
    amount, failure = limit.amount * AMOUNT // 1, limit.failure * FAILURE // 1
    if amount < 1 or amount > MOST or (limit.failure and failure < 1):
        raise LedgerError(
            "a ledger counts epsilon and rho in units of 1e-12, up to 4.6 million, and delta in units of 1e-18. "
            "Choose a budget within that."
        )
    return int(amount), int(failure)


def cost_of_units(amount: int, failure: int) -> Cost:
    """Return what units stand for."""
    return Cost(Fraction(amount, AMOUNT), Fraction(failure, FAILURE))
