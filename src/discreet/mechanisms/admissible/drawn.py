"""What admissible noises with a density of ``discreet.noise.densities`` share: how they are drawn, how far they go."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, overload

import numpy as np
from flint import arb

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, enclose, positive, show
from discreet.mechanisms.accuracy import per_query
from discreet.noise import on_grid
from discreet.noise.densities import Density
from discreet.noise.fast import Floats
from discreet.noise.grid import Array
from discreet.sensitivity.smooth import ROUNDING

__all__ = ["LARGEST", "SMALLEST", "Drawn", "below", "fitted", "scale_of", "whole"]

SMALLEST, LARGEST = Fraction(1, 2**990), Fraction(2**990)
"""Scales that are drawn, with room for rounding. A scale below is raised: the larger of a smooth bound and a constant
is smooth. A scale above must be ruled out by what is public, before there are data."""


class Drawn:
    """Noise ``factor * bound * Z``, Z drawn exactly from a symmetric density. It decides nothing about privacy."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def dimension(self) -> int:
            """How many numbers."""

        @property
        def factor(self) -> Fraction:
            """The scale of the noise for each unit of the bound."""

        @property
        def density(self) -> Density:
            """The law of Z."""

    @overload
    def draw(self, value: Real, bound: Real, *, grid: Real) -> float: ...
    @overload
    def draw(self, value: Array, bound: Real, *, grid: Real) -> Floats: ...
    def draw(self, value: Real | Array, bound: Real, *, grid: Real) -> float | Floats:
        """Return the grid point nearest to the value plus noise: a float for a number, an array for an array."""
        return on_grid(self.density, value, scale_of(bound, self.factor), grid=grid)

    def reach(self, beta: Real = 0.05, /) -> float:
        """Return what all noises of a release stay below, in units of the bound, with probability ``1 - beta``."""
        share = np.array([per_query(beta, self.dimension)])
        return float(self.density.inverse(share)[0]) * float(self.factor) * (1 + 1e-9)

    def log_cell(self, low: Real | None, high: Real | None, /) -> float:
        """Return ``log P[low <= Z < high]``, from survival functions in balls; None stands for infinity."""
        left = None if low is None else Fraction(low)
        right = None if high is None else Fraction(high)
        if right is not None and right <= 0:  # the mirror image loses no digits
            left, right = -right, None if low is None else -Fraction(low)

        def mass() -> arb:
            if left is not None and left >= 0:
                return (self._beyond(left) - self._beyond(right)) / 2
            return 1 - (self._beyond(None if left is None else -left) + self._beyond(right)) / 2

        chance = enclose(mass, relative_bits=50)
        return float(chance.log()) if chance > 0 else -math.inf

    def _beyond(self, z: Fraction | None) -> arb:
        """Return ``P[|Z| >= z]``."""
        return arb(0) if z is None else self.density.survival(ball(z))


def scale_of(bound: Real, factor: Fraction) -> Fraction:
    """Return the scale of the noise for a smooth bound, exactly, and not below ``SMALLEST``.

    What the bound was stays unsaid.

    >>> scale_of(0.5, Fraction(3)), scale_of(2.0**-500, Fraction(1, 2**600)) == SMALLEST
    (Fraction(3, 2), True)
    """
    if not bound > 0 or not math.isfinite(bound):
        raise InvalidInput("a smooth bound must be a finite number above 0: take it from Vicinity.smooth(beta).")
    return max(Fraction(bound) * factor, SMALLEST)


def fitted(beta: Real) -> Fraction:
    """Return the smoothness that noise must stand: that of the exact bound and the rounding of the computed one.

    >>> fitted(0.5) > 0.5, fitted(0.5) < 0.5000000011
    (True, True)
    """
    return positive(beta, "beta") + Fraction(ROUNDING)


def below(beta: Fraction, limit: Real, limit_name: str) -> None:
    """Refuse a smoothness that no amount of noise can hide."""
    if beta >= limit:
        raise InvalidParameter(
            f"beta must be below {limit_name} = {float(limit):.6g}, got {show(float(beta - Fraction(ROUNDING)))}: no "
            "noise of this kind hides so fast a change of scale. Take a smaller beta or a larger budget."
        )


def whole(dimension: object) -> int:
    """Return a dimension, which must be a whole number of at least 1."""
    if type(dimension) is not int or dimension < 1:
        raise InvalidParameter(f"dimension must be a whole number of at least 1, got {dimension!r}.")
    return dimension
