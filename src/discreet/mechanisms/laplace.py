"""The Laplace mechanism, rounded to a public grid.

Dwork, McSherry, Nissim and Smith, "Calibrating Noise to Sensitivity", TCC 2006. The output is the grid point nearest to
the ideal real-valued release, decided exactly (see ``discreet.noise.grid``), so it is post-processing of the ideal.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, overload

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.exact import Real, ball, positive, probability, show, up
from discreet.mechanisms.accuracy import Bound, laplace_error
from discreet.mechanisms.faces import Faces, entrywise
from discreet.mechanisms.interface import Shift
from discreet.mechanisms.scale import NOT_GIVEN, amount, complete, enough, store
from discreet.noise import grid_for, on_grid
from discreet.noise.densities import Laplace as Density
from discreet.noise.fast import Floats
from discreet.noise.grid import GRID_BITS, Array, Value, power_of_two

__all__ = ["Laplace"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Laplace(Faces):
    """Add Laplace noise to real numbers.

    Satisfies ``epsilon``-DP whenever neighbours change the value, a number or a vector, by at most ``sensitivity`` in
    L1 norm. Given by ``epsilon`` or by ``scale = sensitivity / epsilon``. The grid is a power of two, by default about
    a millionth of the scale; it must come from public information.

    >>> mean = Laplace(sensitivity=0.5, epsilon=1)
    >>> round(mean.error(0.05), 4)
    1.4979
    >>> isinstance(mean.release(72.3), float)
    True
    """

    sensitivity: Real
    epsilon: Real = NOT_GIVEN
    scale: Real = NOT_GIVEN
    grid: Real = NOT_GIVEN

    def __post_init__(self) -> None:
        epsilon, scale = complete(positive(self.sensitivity, "sensitivity"), self.epsilon, self.scale, "Laplace")
        grid = grid_for(scale) if self.grid is NOT_GIVEN else power_of_two(self.grid)
        store(self, sensitivity=self.sensitivity, epsilon=epsilon, scale=scale, grid=grid)

    def __repr__(self) -> str:
        grid = "" if self.grid == grid_for(self.scale) else f", grid={show(self.grid)}"
        return f"Laplace(sensitivity={show(self.sensitivity)}, {amount(self.epsilon, self.scale)}{grid})"

    @property
    def domain(self) -> Shift:
        """Real numbers, by L1 norm."""
        return Shift(sensitivity=self.sensitivity, norm=1.0)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the Laplace law shifted by the sensitivity."""
        return PrivacyLoss.laplace(Fraction(self.sensitivity) / Fraction(self.scale))

    @overload
    def release(self, value: Real, /) -> float: ...
    @overload
    def release(self, value: Array, /) -> Floats: ...
    def release(self, value: Value, /) -> float | Floats:
        """Return the grid point nearest to the value plus noise: a float for a number, an array for an array."""
        return on_grid(Density(), value, self.scale, grid=self.grid)

    def error(self, beta: Real = 0.05, *, queries: int = 1, bound: Bound = "exact") -> float:
        """Return what all of ``queries`` answers stay within with probability ``1 - beta``, the grid included.

        A float64 holds a release exactly up to ``2^53`` grid steps; larger values are rounded to the nearest float.
        """
        return laplace_error(self.scale, beta, queries=queries, bound=bound) + float(self.grid) / 2

    @classmethod
    def for_error(cls, error: Real, beta: Real = 0.05, *, sensitivity: Real, queries: int = 1) -> Self:
        """Return the mechanism of least epsilon that stays within ``error`` with probability ``1 - beta``.

        >>> Laplace.for_error(10, 0.05, sensitivity=1).error(0.05) <= 10
        True
        """
        reach = laplace_error(1, beta, queries=queries) + 2.0 ** -(GRID_BITS + 1)
        return cls(sensitivity=sensitivity, scale=float(positive(error, "error")) / reach * (1 - 1e-12))

    @classmethod
    def for_budget(cls, epsilon: Real, delta: Real = 0, *, sensitivity: Real) -> Self:
        """Return the mechanism of least noise that is (epsilon, delta)-DP: delta adds ``-2 log(1 - delta)`` to epsilon.

        >>> Laplace.for_budget(0.5, sensitivity=1)
        Laplace(sensitivity=1, epsilon=0.5)
        >>> round(float(Laplace.for_budget(0.5, 0.1, sensitivity=1).epsilon), 6)
        0.710721
        """
        e, d = positive(epsilon, "epsilon"), probability(delta, "delta", zero=True)
        size = positive(sensitivity, "sensitivity")
        if not d:
            return cls(sensitivity=sensitivity, epsilon=epsilon)
        least = up(lambda: ball(size) / (ball(e) - 2 * ball(1 - d).log()))
        return cls(
            sensitivity=sensitivity, scale=enough(lambda s: PrivacyLoss.laplace(size / Fraction(s)), least, e, d)
        )

    draws = entrywise

    def log_probability(self, x: Value, y: Value, /) -> float:
        """Return ``log P[release(x) = y]`` for a point y of the grid."""
        b, half = float(self.scale), float(self.grid) / (2 * float(self.scale))
        distance = np.abs(np.subtract(np.asarray(y, dtype=float), np.asarray(x, dtype=float))) / b
        near = np.minimum(distance, half)
        inside = np.log(-(np.expm1(near - half) + np.expm1(-near - half)) / 2)
        outside = half - distance + math.log(-math.expm1(-2 * half) / 2)
        return float(np.sum(np.where(distance < half, inside, outside)))

    def worst_case(self) -> tuple[Real, Real]:
        """Two values at the distance of the sensitivity."""
        return 0, self.sensitivity
