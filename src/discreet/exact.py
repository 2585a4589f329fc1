"""Exact numbers: rationals for what users write, balls for what theorems compute.

A float that a user writes is taken as the rational number it is. Transcendental quantities are computed in ball
arithmetic (python-flint's ``arb``): every result is an interval that certainly holds the true value, whatever the
working precision is, so precision only decides how soon a question is answered and never whether the answer is right.
"""

import math
import numbers
import os
import sys
import threading
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import SupportsFloat, SupportsIndex

from flint import arb, ctx, fmpq, fmpz

from discreet.errors import InvalidParameter

__all__ = [
    "Precision",
    "Real",
    "ball",
    "both",
    "down",
    "enclose",
    "finite",
    "log2_floor",
    "plain",
    "positive",
    "probability",
    "show",
    "smallest",
    "up",
    "upward",
]

Real = int | float | Fraction

FLOAT_LIMIT = 1000
"""Exponents beyond 2^+-1000 are refused: nothing that small or large can be meant, and floats must stay normal."""

MAX_PRECISION = 1 << 16


def finite(value: object, name: str) -> Fraction:
    """Return the exact rational a user wrote, or say what is wrong with it.

    >>> finite(0.1, "epsilon")
    Fraction(3602879701896397, 36028797018963968)
    >>> finite(float("nan"), "epsilon")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: epsilon must be a finite number, got nan.
    """
    if type(value) is Fraction:
        exact = value
    elif type(value) is int:
        exact = Fraction(value)
    elif isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise InvalidParameter(f"{name} must be a number, got {type(value).__name__}.")
    elif isinstance(value, numbers.Rational):
        exact = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, Decimal):
        if not value.is_finite() or (value and abs(value.adjusted()) > FLOAT_LIMIT):
            raise InvalidParameter(f"{name} must be a finite number of ordinary size.")
        exact = Fraction(value)
    elif not math.isfinite(value):
        raise InvalidParameter(f"{name} must be a finite number, got {float(value)}.")
    else:
        exact = Fraction(float(value))
    if exact and abs(exact.numerator.bit_length() - exact.denominator.bit_length()) > FLOAT_LIMIT:
        raise InvalidParameter(f"{name} must lie between 2^-{FLOAT_LIMIT} and 2^{FLOAT_LIMIT} in size.")
    return exact


def plain(value: Real) -> Real:
    """Return the same number as a Python int, float or Fraction: numpy's own integers wrap around in rationals.

    >>> import numpy as np
    >>> plain(np.uint8(200)), plain(np.float32(0.5)), plain(Fraction(1, 3))
    (200, 0.5, Fraction(1, 3))
    """
    if isinstance(value, float):
        return float(value)
    exact = finite(value, "value")
    as_float = float(exact)
    if exact.denominator == 1:
        return exact.numerator
    return as_float if not isinstance(value, Fraction) and Fraction(as_float) == exact else exact


def positive(value: object, name: str) -> Fraction:
    """Return the exact rational a user wrote, which must be above zero.

    >>> positive(-1, "scale")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: scale must be above 0, got -1.
    """
    exact = finite(value, name)
    if exact.numerator <= 0:
        raise InvalidParameter(f"{name} must be above 0, got {show(exact)}.")
    return exact


def probability(value: object, name: str, *, zero: bool = False, one: bool = False) -> Fraction:
    """Return an exact probability strictly between 0 and 1, or at an end that is allowed.

    >>> probability(1, "beta")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: beta must lie strictly between 0 and 1, got 1.
    """
    exact = finite(value, name)
    if not (0 < exact < 1 or (zero and exact == 0) or (one and exact == 1)):
        ends = "between 0 and 1" if zero and one else "strictly between 0 and 1"
        extra = "" if zero == one else " or be 0" if zero else " or be 1"
        raise InvalidParameter(f"{name} must lie {ends}{extra}, got {show(exact)}.")
    return exact


def log2_floor(value: Fraction) -> int:
    """Return the largest k with 2^k <= value, exactly.

    >>> log2_floor(Fraction(1, 3)), log2_floor(Fraction(8))
    (-2, 3)
    """
    k = value.numerator.bit_length() - value.denominator.bit_length()
    return k if value >= Fraction(2) ** k else k - 1


def show(value: Real) -> str:
    """Return the shortest Python expression that gives back exactly this number.

    >>> show(Fraction(1, 2)), show(Fraction(1, 3)), show(Fraction(3)), show(0.1)
    ('0.5', 'Fraction(1, 3)', '3', '0.1')
    """
    exact = Fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator)
    as_float = _nearest(exact)
    return repr(as_float) if math.isfinite(as_float) and Fraction(as_float) == exact else repr(exact)


def ball(value: Real) -> arb:
    """Return the ball around a rational, at the current working precision.

    >>> bool(3 * ball(Fraction(1, 3)) == 1), bool((3 * ball(Fraction(1, 3))).overlaps(arb(1)))
    (False, True)
    """
    exact = Fraction(value)
    if exact.denominator == 1:
        return arb(fmpz(exact.numerator))
    return arb(fmpq(fmpz(exact.numerator), fmpz(exact.denominator)))


class Precision:
    """Hold the working precision of balls, which there is once in a process: one thread at a time may change it.

    Every enclosure is right at any precision, but one that another thread makes coarser is never tight. What it was
    before is put back at the end.

    >>> with Precision():
    ...     ctx.prec = 200
    >>> ctx.prec < 200
    True
    """

    __slots__ = ("_before", "_held")
    lock = threading.RLock()

    def __enter__(self) -> None:
        self._held = Precision.lock
        self._held.acquire()
        self._before = ctx.prec

    def __exit__(self, *_: object) -> None:
        ctx.prec = self._before
        self._held.release()


def _after_fork() -> None:
    Precision.lock = threading.RLock()  # another thread may have held it, which does not exist in the child


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def enclose(formula: Callable[[], arb], *, relative_bits: int = 60, absolute_bits: int = 1100) -> arb:
    """Evaluate a formula in balls, doubling the precision until the enclosure is tight.

    Tight means a relative radius below ``2^-relative_bits`` or an absolute one below ``2^-absolute_bits``.
    """
    precision = 128
    with Precision():
        while precision <= MAX_PRECISION:
            ctx.prec = precision
            value = formula()
            if value.is_finite() and (
                value.rel_accuracy_bits() >= relative_bits or value.rad() < arb(fmpz(1)) / (fmpz(1) << absolute_bits)
            ):
                return value
            precision *= 2
    raise InvalidParameter("these parameters are too extreme to evaluate; move them closer to 1.")


def up(formula: Callable[[], arb]) -> float:
    """Return the smallest convenient float that is certainly not below the formula's value.

    >>> up(lambda: ball(1).exp()) >= math.e
    True
    """
    return _outward(enclose(formula), 1)


def down(formula: Callable[[], arb]) -> float:
    """Return the largest convenient float that is certainly not above the formula's value."""
    return _outward(enclose(formula), -1)


def both(formula: Callable[[], arb]) -> tuple[float, float]:
    """Return what ``down`` and ``up`` would, from one evaluation.

    >>> low, high = both(lambda: ball(1).exp())
    >>> low <= math.e <= high
    True
    """
    value = enclose(formula)
    return _outward(value, -1), _outward(value, 1)


def upward(value: Fraction) -> float:
    """Return the least float that is not below a rational; infinity if that is beyond all floats.

    >>> upward(Fraction(1, 2)), Fraction(upward(Fraction(1, 3))) > Fraction(1, 3)
    (0.5, True)
    >>> upward(Fraction(10**400)), upward(-Fraction(10**400))
    (inf, -1.7976931348623157e+308)
    """
    nearest = _nearest(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def smallest(enough: Callable[[float], bool], cap: float = math.inf) -> float:
    """Return the least float x >= 0 for which a monotone condition holds, up to a part in 10^13 and on the safe side.

    >>> smallest(lambda x: x >= 2.5)
    2.5
    """
    if enough(0.0):
        return 0.0
    high = min(1.0, cap)
    while not enough(high):
        if high >= cap or high > 2.0**60:
            return cap
        high = min(2 * high, cap)
    low = 0.0
    while high - low > 1e-13 * high and high > 1e-300:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _outward(value: arb, side: int) -> float:
    end: SupportsFloat | SupportsIndex = value.upper() if side > 0 else value.lower()
    guess = float(end)
    if math.isinf(guess) and guess * side < 0:
        guess = math.copysign(sys.float_info.max, guess)
    while math.isfinite(guess) and not (arb(guess) >= value if side > 0 else arb(guess) <= value):
        guess = math.nextafter(guess, side * math.inf)
    return guess
