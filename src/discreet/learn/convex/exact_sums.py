"""Sums of products without rounding: whole numbers that float64 holds, added up in parts that stay below 2^53.

A product of two numbers on the grid of ``2^-20`` is a whole number of ``2^-40``. Whatever the order in which a library
adds such numbers, the sum is exact as long as it stays below ``2^53``; so rows are taken in parts of public length and
the parts are added as Python integers. Nothing of the order of the rows, nor of how many there are, is in the result.
"""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.learn.convex.rows import GRID_BITS
from discreet.noise.fast import Floats

__all__ = ["UNIT", "exact_products", "truncated", "whole"]

UNIT = Fraction(1, 1 << (2 * GRID_BITS))
"""The unit in which sums of products are told."""

Whole = npt.NDArray[np.object_]


def truncated(values: Floats) -> Floats:
    """Return values rounded towards zero to the grid."""
    return np.asarray(np.trunc(values * 2.0**GRID_BITS) * 2.0**-GRID_BITS)


def exact_products(left: Floats, right: Floats, *, most: Fraction) -> Whole:
    """Return ``left.T @ right`` in units of ``2^-40``, exactly.

    Both hold numbers on the grid; ``most`` is a public bound on the size of a product of two entries.

    >>> exact_products(np.array([[0.5], [0.25]]), np.array([[0.5], [1.0]]), most=Fraction(1))[0, 0] * UNIT
    Fraction(1, 2)
    """
    part = max(1, (1 << 53) // math.ceil(most / UNIT))
    total = np.zeros((left.shape[1], right.shape[1]), dtype=object)
    for start in range(0, len(left), part):
        block = (left[start : start + part].T * 2.0**GRID_BITS) @ (right[start : start + part] * 2.0**GRID_BITS)
        total = total + block.astype(np.int64).astype(object)
    return total


def whole(values: Whole) -> npt.NDArray[np.generic]:
    """Return whole numbers as float64 if it holds all of them, for speed, and else as they are."""
    flat = values.reshape(-1)
    if not flat.size:
        raise InvalidInput("there is nothing to add up.")
    small = all(-(1 << 53) <= int(value) <= 1 << 53 for value in flat)
    return values.astype(np.float64) if small else values
