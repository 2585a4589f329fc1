"""Norms: how the size of a change in many numbers is measured.

The sensitivity of a query in the norm p is the largest p-norm of ``f(a) - f(b)`` over neighbours a and b
(Dwork, McSherry, Nissim and Smith, TCC 2006). Laplace noise is calibrated to p = 1, Gaussian noise to p = 2,
and the largest single coordinate is p = infinity.
"""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, finite, show, up
from discreet.sensitivity.reals import real

__all__ = ["norm"]


def norm(vector: Iterable[object], p: Real) -> Fraction | float:
    """Return the p-norm of a vector, for any p from 1 to infinity.

    It is an exact fraction for p = 1, for p = infinity, and where at most one entry is not zero; otherwise it
    is a float that is never below the true value.

    >>> norm([3, -4], 1), norm([3, -4], 2), norm([3, -4], math.inf)
    (Fraction(7, 1), 5.0, Fraction(4, 1))
    >>> norm([0, 0.5], 2)
    Fraction(1, 2)
    """
    exponent = _exponent(p)
    sizes = [abs(entry) for entry in map(_rational, vector) if entry]
    largest = max(sizes, default=Fraction(0))
    if exponent == 1:
        return sum(sizes, Fraction(0))
    if exponent == math.inf or len(sizes) <= 1:
        return largest
    shares = Counter(size / largest for size in sizes)

    def formula() -> arb:
        power = ball(exponent)
        total = sum((times * ball(share) ** power for share, times in shares.items()), arb(0))
        return ball(largest) * total ** (1 / power)

    return up(formula)


def _exponent(p: Real) -> Fraction | float:
    if p == math.inf:
        return math.inf
    exponent = finite(p, "the norm p")
    if exponent < 1:
        raise InvalidParameter(f"the norm p must be at least 1, or math.inf, got {show(exponent)}.")
    return exponent


def _rational(entry: object) -> Fraction:
    number = real(entry)
    if isinstance(number, float):
        raise InvalidInput("every entry of a vector must be a finite number, and one is infinite or missing.")
    return number
