"""Which whole numbers become which float: beyond ``2^53`` several steps of a grid are released as one.

A release is a whole number of steps, decided exactly and then rounded once to float64. That is post-processing and
costs nothing, but the law of what is released is that of the rounded number.
"""

import math
from fractions import Fraction

from discreet.exact import Real

__all__ = ["least_at_least", "most_at_most"]

EXACT = 2**53
"""Whole numbers up to this are floats."""


def least_at_least(bar: Real, /) -> int:
    """Return the least whole number whose nearest float is at least the bar.

    Of two floats that are equally near it is the one with the even mantissa.

    >>> least_at_least(Fraction(5, 2)), least_at_least(2**53 + 1) - 2**53, least_at_least(2**53 + 4) - 2**53
    (3, 2, 3)
    """
    whole = math.ceil(Fraction(bar))
    if -EXACT < whole <= EXACT:
        return whole
    point = float(whole)
    if int(point) < whole:
        point = math.nextafter(point, math.inf)
    halfway = -(-(int(math.nextafter(point, -math.inf)) + int(point)) // 2)
    return halfway if float(halfway) >= point else halfway + 1


def most_at_most(bar: Real, /) -> int:
    """Return the largest whole number whose nearest float is at most the bar.

    >>> most_at_most(Fraction(5, 2)), most_at_most(2**53 + 4) - 2**53
    (2, 5)
    """
    return -least_at_least(-Fraction(bar))
