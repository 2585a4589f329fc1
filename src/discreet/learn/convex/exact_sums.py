"""Sums of products without rounding: whole numbers that float64 holds, added up in parts that stay below 2^53.

A product of two numbers on the grid of ``2^-20`` is a whole number of ``2^-40``. Whatever the order in which a library
adds such numbers, the sum is exact as long as it stays below ``2^53``; so rows are taken in parts of public length and
the parts are added as Python integers. Nothing of the order of the rows, nor of how many there are, is in the result.

Slopes have a unit of their own, the power of two above their bound, so that no width of a loss and no size of a target
makes a product too large. Where slopes may exceed 2, they are split into two limbs of 20 bits.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import show
from discreet.learn.convex.rows import GRID_BITS
from discreet.noise.fast import Floats

__all__ = ["UNIT", "SlopeGrid", "exact_products", "truncated", "whole"]

UNIT = Fraction(1, 1 << (2 * GRID_BITS))
"""The unit in which sums of products are told."""

LARGEST_SUM = 1 << 53
"""Whole numbers up to this are floats exactly, and so are their sums."""

ONE_LIMB = 2
"""Slopes up to this keep 20 bits, which is fine beside the noise; larger ones keep 40, or a small slope would be 0."""

Whole = npt.NDArray[np.object_]


def truncated(values: Floats) -> Floats:
    """Return values rounded towards zero to the grid."""
    return np.asarray(np.trunc(values * 2.0**GRID_BITS) * 2.0**-GRID_BITS)


def exact_products(left: Floats, right: Floats, *, most: Fraction) -> Whole:
    """Return ``left.T @ right`` in units of ``2^-40``, exactly.

    Both hold numbers on the grid; ``most`` is a public bound on the size of a product of two entries, below ``2^13``.

    >>> exact_products(np.array([[0.5], [0.25]]), np.array([[0.5], [1.0]]), most=Fraction(1))[0, 0] * UNIT
    Fraction(1, 2)
    """
    part = LARGEST_SUM // math.ceil(most / UNIT)
    if not part:
        raise InvalidParameter(f"products must stay below 2^13 to be added up exactly, got up to {show(most)}.")
    total = np.zeros((left.shape[1], right.shape[1]), dtype=object)
    for start in range(0, len(left), part):
        block = (left[start : start + part].T * 2.0**GRID_BITS) @ (right[start : start + part] * 2.0**GRID_BITS)
        total = total + block.astype(np.int64).astype(object)
    return total


@dataclass(frozen=True, slots=True)
class SlopeGrid:
    """How slopes of at most ``most``, a public bound, are rounded, and summed with rows without further rounding.

    >>> grid = SlopeGrid(Fraction(10**9))
    >>> total = grid.sums(np.array([[0.5], [1.0]]), np.array([[9e8], [-0.25]]), tallest=Fraction(1))
    >>> float(total[0, 0] * grid.unit)
    449999999.75
    """

    most: Fraction

    @property
    def top(self) -> Fraction:
        """The smallest power of two that no slope exceeds."""
        power = Fraction(2) ** (self.most.numerator.bit_length() - self.most.denominator.bit_length() + 1)
        while power / 2 >= self.most:
            power /= 2
        return power

    @property
    def limbs(self) -> int:
        """How many numbers of 20 bits a slope is kept in."""
        return 1 if self.top <= ONE_LIMB else 2

    @property
    def unit(self) -> Fraction:
        """The unit in which sums are told."""
        return self.top / (1 << GRID_BITS * (self.limbs + 1))

    def sums(self, rows: Floats, slopes: Floats, *, tallest: Fraction) -> Whole:
        """Return ``rows.T @ slopes`` in units, exactly, for slopes clipped to the bound and rounded towards zero.

        ``tallest`` is a public bound on an entry of a row. A slope that is no number counts as 0.
        """
        most = float(self.most)
        most = most if Fraction(most) <= self.most else math.nextafter(most, 0.0)
        rest = np.clip(np.nan_to_num(slopes), -most, most) / float(self.top)
        total = np.zeros((rows.shape[1], slopes.shape[1]), dtype=object)
        for _ in range(self.limbs):
            limb = truncated(rest)
            total = total * (1 << GRID_BITS) + exact_products(rows, limb, most=tallest)
            rest = (rest - limb) * 2.0**GRID_BITS
        return total


def whole(values: Whole) -> npt.NDArray[np.generic]:
    """Return whole numbers as float64 if it holds all of them, for speed, and else as they are."""
    flat = values.reshape(-1)
    if not flat.size:
        raise InvalidInput("there is nothing to add up.")
    small = all(-(1 << 53) <= int(value) <= 1 << 53 for value in flat)
    return values.astype(np.float64) if small else values
