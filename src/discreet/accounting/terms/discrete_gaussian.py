"""Discrete Gaussian noise on whole numbers.

Its zCDP parameter is that of the continuous Gaussian (Canonne, Kamath and Steinke, NeurIPS 2020), its delta is not: the
loss lives on a lattice, so delta(epsilon) bends only at lattice points and lies above the smooth curve between them.

For a shift v the loss depends on ``S = <v, Z>`` alone, so delta is one sum over the law of S, a convolution of scaled
discrete Gaussians; all terms are positive and float64 keeps their relative accuracy. The worst case is taken over all
integer vectors v with ``|v|^2 <= squared_sensitivity``, in one dimension or in any number of them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.accounting.numerical.pairs import Atoms, Pair
from discreet.accounting.terms.concentrated import renyi_delta
from discreet.errors import InvalidParameter
from discreet.exact import ball, up

__all__ = ["DiscreteGaussian"]

RAREST = 1e-305
"""Values that are rarer are left out of a pair: all of them together, in all copies, weigh below 1e-300."""

ENUMERATED = 16
"""Squared sensitivities up to this have few enough shifts to try them all."""

SUMMED = 2e4
"""Sigmas (times the shift) up to this have few enough lattice points to sum."""

CONVOLVED = 1 << 13
"""Lattice points up to which convolutions stay fast."""

ROUNDING = 1e-10
"""Relative allowance for the roundings of the sums, thousands of times what n * 2^-53 gives."""


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Discrete Gaussian noise on whole numbers of squared L2 sensitivity ``squared_sensitivity``."""

    squared_sensitivity: int
    sigma_squared: Fraction
    scalar: bool = False
    kind: ClassVar[str] = "discrete_gaussian"

    def __post_init__(self) -> None:
        if not self.sigma_squared > 0:
            raise InvalidParameter("sigma_squared of discrete Gaussian noise must be above 0.")

    @property
    def pure(self) -> Fraction | None:
        """None: the loss is unbounded."""
        return None if self.squared_sensitivity else Fraction(0)

    @property
    def rho(self) -> Fraction:
        """``sensitivity^2 / (2 sigma^2)``."""
        return self.squared_sensitivity / (2 * self.sigma_squared)

    @property
    def attained(self) -> bool:
        """Whether delta is the sum itself and not a bound."""
        return self._shifts() is not None

    def delta(self, epsilon: Fraction, /) -> float:
        """The exact sum for the worst shift where that can be summed, else the zCDP bound."""
        shifts = self._shifts()
        if shifts is None:
            return renyi_delta(self.renyi, epsilon)
        return min(1.0, max((_delta(v, self.sigma_squared, _below(epsilon)) for v in shifts), default=0.0))

    def least_delta(self, epsilon: Fraction) -> float:
        """Return the sum less all that it is rounded by.

        Losses are raised by at most a part in 2^49 and epsilon is lowered by as little, which a little more epsilon
        makes up for; the sum is raised by ``ROUNDING``.
        """
        return max(0.0, self.delta(epsilon * (1 + Fraction(1, 2**44))) * (1 - 3 * ROUNDING) - 1e-299)

    def renyi(self, alpha: Fraction, /) -> float:
        """``alpha rho``, attained for whole alpha."""
        return up(lambda: ball(alpha * self.rho))

    def pair(self) -> Pair | None:
        """The lattice law and its shift, if there is one worst shift and it can be listed."""
        shifts = self._shifts()
        if shifts is None or len(shifts) != 1:
            return None
        law, start = _law(shifts[0], self.sigma_squared)
        norm = sum(v * v for v in shifts[0])
        kept = law > RAREST
        s = (start + np.arange(law.size, dtype=np.float64))[kept]
        losses = (norm - 2 * s) / (2 * float(self.sigma_squared))
        q = law[kept] * np.exp(-losses)
        return Atoms(losses[::-1], law[kept][::-1], q[::-1])

    def group(self, size: int, /) -> "DiscreteGaussian":
        """Shifts add."""
        return DiscreteGaussian(size**2 * self.squared_sensitivity, self.sigma_squared, self.scalar)

    def _shifts(self) -> list[tuple[int, ...]] | None:
        sigma = math.sqrt(self.sigma_squared)
        if self.scalar or self.squared_sensitivity <= 1:
            shift = math.isqrt(self.squared_sensitivity)
            return [(shift,)] * (shift > 0) if shift * sigma <= SUMMED else None
        if self.squared_sensitivity > ENUMERATED or self.squared_sensitivity * 40 * (sigma + 1) > CONVOLVED:
            return None
        return list(_squares(self.squared_sensitivity, math.isqrt(self.squared_sensitivity)))


def _squares(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as a sum of squares; every shorter shift is part of one of them."""
    if total == 0:
        yield ()
    for root in range(min(largest, math.isqrt(total)), 0, -1):
        for rest in _squares(total - root**2, root):
            yield (root, *rest)


@lru_cache(maxsize=8)
def _law(shift: tuple[int, ...], sigma_squared: Fraction) -> tuple[npt.NDArray[np.float64], int]:
    """Return the probabilities of ``S = <v, Z>`` from its smallest value on; what is cut off weighs below 1e-300."""
    reach = math.ceil(38 * math.sqrt(sigma_squared)) + 1
    one = np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2 * float(sigma_squared)))
    one /= one.sum()
    law = np.ones(1)
    for factor in shift:
        spread = np.zeros(factor * (one.size - 1) + 1)
        spread[::factor] = one
        law = np.convolve(law, spread) if law.size > 1 else spread
    return law, -reach * sum(shift)


def _delta(shift: tuple[int, ...], sigma_squared: Fraction, epsilon: float) -> float:
    """Return the sum of ``P(s) (1 - e^(epsilon - L(s)))_+`` with ``L(s) = (|v|^2 - 2 s) / (2 sigma^2)``, rounded up."""
    law, start = _law(shift, sigma_squared)
    norm = sum(v * v for v in shift)
    s = np.arange(start, start + law.size, dtype=np.float64)
    loss = (norm - 2 * s) / (2 * float(sigma_squared))
    excess = loss - epsilon + (np.abs(loss) + epsilon) * 2.0**-50  # outward: the difference may cancel
    gained = law[excess > 0] * -np.expm1(-excess[excess > 0])
    return float(gained.sum()) * (1 + ROUNDING) + 1e-300


def _below(epsilon: Fraction) -> float:
    nearest = float(epsilon)
    return nearest if nearest <= epsilon else math.nextafter(nearest, 0)
