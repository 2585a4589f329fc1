"""What theorems take and return: (epsilon, delta) guarantees, and how they are read.

Guarantees may be given one by one or as equal copies: ``basic_composition([0.1, 0.2])`` and
``basic_composition(0.1, count=50)``.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, probability, show

__all__ = ["Curve", "Guarantee", "Numbers", "Step", "not_negative", "steps", "whole"]

Numbers = Real | Iterable[Real]

Curve = Callable[[Fraction], Real]
"""A bound on the Renyi divergence of each order, infinite where there is none."""

Step = tuple[Fraction, Fraction, int]
"""Epsilon, delta and how many times."""


class Guarantee(NamedTuple):
    """(epsilon, delta)-differential privacy.

    >>> Guarantee(1, 1e-6).delta
    1e-06
    """

    epsilon: Real
    delta: Real = 0


def steps(epsilons: Numbers, deltas: Numbers = 0, count: int | Iterable[int] = 1) -> tuple[Step, ...]:
    """Return the guarantees that are composed; a single number stands for as many as there are of the others.

    >>> steps([1, 2], 0, 5)
    ((Fraction(1, 1), Fraction(0, 1), 5), (Fraction(2, 1), Fraction(0, 1), 5))
    """
    columns = [_column(values) for values in (epsilons, deltas, count)]
    length = max((len(column) for column, several in columns if several), default=1)
    if any(several and len(column) != length for column, several in columns):
        raise InvalidParameter("epsilons, deltas and counts must be equally many, or one number for all of them.")
    rows = zip(*(column if several else list(column) * length for column, several in columns), strict=True)
    return tuple(
        (not_negative(e, "epsilon"), probability(d, "delta", zero=True, one=True), whole(k, "count", least=0))
        for e, d, k in rows
    )


def not_negative(value: object, name: str) -> Fraction:
    """Return the exact rational a user wrote, which must be 0 or more."""
    exact = finite(value, name)
    if exact < 0:
        raise InvalidParameter(f"{name} must not be negative, got {show(exact)}.")
    return exact


def whole(value: object, name: str, *, least: int = 1) -> int:
    """Return a whole number of at least ``least``.

    >>> whole(2.5, "count")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: count must be a whole number of at least 1, got 2.5.
    """
    exact = finite(value, name)
    if exact.denominator != 1 or exact < least:
        raise InvalidParameter(f"{name} must be a whole number of at least {least}, got {show(exact)}.")
    return exact.numerator


def _column(values: object) -> tuple[Sequence[object], bool]:
    several = isinstance(values, Iterable) and not isinstance(values, str | bytes)
    return (tuple(values), True) if several and isinstance(values, Iterable) else ((values,), False)
