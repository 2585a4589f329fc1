"""Many discrete Gaussian variables of one sigma from a table of their distribution function.

A uniform number U gives the integer z with ``F(z - 1) <= U < F(z)``. The values of F are enclosed in ball arithmetic,
rounded down and up to multiples of 2^-64. Sixteen bits of U name one of 65,536 cells; where no value of F lies in a
cell, the cell alone decides. Elsewhere 48 more bits are drawn and compared with the enclosures, and where even these do
not decide, ball arithmetic does, with as many bits as it takes. No bit is drawn twice, so the law is exact.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from discreet.exact import Precision, ball
from discreet.noise.bits import Words, source
from discreet.noise.lazy import LazyUniform, largest
from discreet.noise.shapes import Integers

__all__ = ["GaussianTable", "pays"]

CELL = 48
"""Bits of a 64-bit uniform below those that name its cell."""

OPEN = -(1 << 15)
"""What stands in a cell that does not decide."""

NARROWEST, WIDEST = Fraction(1, 8), 512
"""Between which sigma is: of smaller ones F is 0 or 1 to 64 bits, of larger ones most cells hold a value of F."""

FEWEST, FOR_EACH_SIGMA = 1 << 15, 1024
"""A table is made for so many draws at least."""

PRECISION = 192
"""Bits of the arithmetic in which F is summed; thousands of roundings leave far more than 64 of them."""


def pays(sigma: Fraction, count: int) -> bool:
    """Tell from public parameters alone whether a table is worth making.

    >>> pays(Fraction(10), 10**6), pays(Fraction(10), 100), pays(Fraction(10**6), 10**6)
    (True, False, False)
    """
    return NARROWEST <= sigma <= WIDEST and count >= FEWEST and count >= FOR_EACH_SIGMA * sigma


@dataclass(frozen=True, slots=True, eq=False)
class GaussianTable:
    """Enclosures ``below <= 2^64 F(first + i) <= above``, and what each cell decides."""

    sigma: Fraction
    first: int
    below: Words
    above: Words
    cells: Integers

    @staticmethod
    def of(sigma: Fraction) -> "GaussianTable":
        """Make the table; those that were used last are kept."""
        return _made(sigma)

    def draw(self, count: int) -> Integers:
        """Return independent variables."""
        uniform = source().words(-(-count // 4)).view(np.uint16)[:count]
        out = self.cells[uniform]
        waiting = np.flatnonzero(out == OPEN)
        if waiting.size:
            out[waiting] = self.decided(
                uniform[waiting].astype(np.uint64) << np.uint64(CELL)
                | source().words(waiting.size) >> np.uint64(64 - CELL)
            )
        return out

    def decided(self, uniform: Words) -> Integers:
        """Return the variables of uniforms of which 64 bits are known."""
        place = np.searchsorted(self.above, uniform, side="right")
        out = self.first + place
        last = self.below.size
        sure = (place > 0) & (place < last)
        sure &= self.below[np.minimum(place, last - 1)] > uniform
        for i in np.flatnonzero(~sure):
            out[i] = _exactly(self.sigma, LazyUniform(int(uniform[i]), 64), int(out[i]))
        return out


@lru_cache(maxsize=8)
def _made(sigma: Fraction) -> GaussianTable:
    with Precision():
        ctx.prec = PRECISION
        terms, rest = _terms(sigma)
        total = 1 + 2 * (sum(terms[1:], arb(0)) + rest)
        unit, sums, held = arb(2) ** 64 / total, rest, []
        for term in reversed(terms[1:]):  # F(-k) from the outermost k on
            sums = sums + term
            held.append(sums)
        values = [unit * one for one in held]
        values += [arb(2) ** 64 - one for one in reversed(values)]  # F(k) = 1 - F(-k - 1)
        below = [_whole(one.lower().floor()) for one in values]
        above = [_whole(one.upper().ceil()) for one in values]
    return _table(sigma, 1 - len(terms), below, above)


def _whole(exact: arb) -> int:
    found = exact.unique_fmpz()
    assert found is not None  # noqa: S101 - the floor or ceiling of one number
    return int(found)


def _table(sigma: Fraction, first: int, below: list[int], above: list[int]) -> GaussianTable:
    """Return a table of enclosures; those that reach 2^64 at the upper end are left out, and 0 at the lower."""
    start = sum(one == 0 for one in below)
    stop = sum(one < 1 << 64 for one in above)
    low, high = np.array(below[start:stop], dtype=np.uint64), np.array(above[start:stop], dtype=np.uint64)
    surely = np.cumsum(np.bincount(((high - np.uint64(1)) >> np.uint64(CELL)).astype(np.int64) + 1, minlength=65_537))
    maybe = np.cumsum(np.bincount((low >> np.uint64(CELL)).astype(np.int64), minlength=65_536))
    cells = (first + start + surely[:65_536]).astype(np.int64)
    inside = (surely[:65_536] > 0) & (maybe < low.size) & (surely[:65_536] == maybe)
    cells[~inside] = OPEN
    return GaussianTable(sigma, first + start, low, high, cells)


def _terms(sigma: Fraction) -> tuple[list[arb], arb]:
    """Return ``exp(-k^2 / (2 sigma^2))`` for k = 0, 1, ... as far as the precision reaches, and a ball of the rest."""
    step = ball(-1 / sigma**2).exp()
    ratio = ball(-1 / (2 * sigma**2)).exp()
    terms, least = [arb(1)], arb(2) ** -ctx.prec
    while len(terms) < 2 or terms[-1] > least:
        terms.append(terms[-1] * ratio)
        ratio = ratio * step
    outer = terms[-1] * ratio / (1 - ratio)  # the next term, and each after it a smaller part of the one before
    return terms, arb(0).union(outer)


def _distribution(sigma: Fraction, z: int) -> arb:
    """Return ``F(z)`` at the working precision."""
    if z >= 0:
        return 1 - _distribution(sigma, -z - 1)
    terms, rest = _terms(sigma)
    total = 1 + 2 * (sum(terms[1:], arb(0)) + rest)
    two, k, tail = 2 * sigma**2, -z, arb(0)
    term = ball(-(k * k) / two).exp()
    least = term * arb(2) ** -ctx.prec
    while not term < least:
        tail, k = tail + term, k + 1
        term = ball(-(k * k) / two).exp()
    ratio = ball(-(2 * k + 1) / two).exp()  # what follows: each a smaller part of the one before
    return (tail + arb(0).union(term / (1 - ratio))) / total


def _exactly(sigma: Fraction, uniform: LazyUniform, guess: int) -> int:
    """Return the z with ``F(z - 1) <= U < F(z)``, near a guess."""
    return largest(guess - 1, lambda z: not uniform.below(lambda: _distribution(sigma, z))) + 1
