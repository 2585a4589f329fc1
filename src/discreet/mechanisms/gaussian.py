"""The Gaussian mechanism with analytic calibration, rounded to a public grid.

Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy", ICML 2018. The output is the grid point
nearest to the ideal real-valued release, decided exactly (see ``discreet.noise.grid``), so it is post-processing.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, overload

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, finite, positive, probability, show, smallest, up
from discreet.mechanisms.accuracy import Bound, gaussian_error
from discreet.mechanisms.faces import Faces, entrywise
from discreet.mechanisms.interface import Shift
from discreet.mechanisms.scale import NOT_GIVEN, enough, store
from discreet.noise import grid_for, on_grid
from discreet.noise.densities import Gaussian as Density
from discreet.noise.fast import Floats
from discreet.noise.grid import GRID_BITS, Array, Value, power_of_two

__all__ = ["Gaussian"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Gaussian(Faces):
    """Add Gaussian noise to real numbers.

    Satisfies ``mu``-GDP with ``mu = sensitivity / sigma``, and so the exact (epsilon, delta) curve of Balle and Wang,
    whenever neighbours change the value, a number or a vector, by at most ``sensitivity`` in L2 norm. Given by
    ``sigma``, or by ``epsilon`` and ``delta``, for which the smallest sufficient sigma is found.

    >>> noise = Gaussian(sensitivity=1, epsilon=1, delta=1e-5)
    >>> round(noise.sigma, 6)
    3.730632
    >>> noise.loss.epsilon(1e-5) <= 1.0000000001
    True
    """

    sensitivity: Real
    sigma: Real = NOT_GIVEN
    epsilon: Real | None = None
    delta: Real | None = None
    grid: Real = NOT_GIVEN

    def __post_init__(self) -> None:
        sensitivity = positive(self.sensitivity, "sensitivity")
        if self.sigma is NOT_GIVEN:
            if self.epsilon is None or self.delta is None:
                raise InvalidParameter("Gaussian needs sigma=, or epsilon= and delta=: how much noise shall there be?")
            store(self, sigma=analytic_sigma(sensitivity, self.epsilon, self.delta))
        elif self.epsilon is not None or self.delta is not None:
            raise InvalidParameter("Gaussian takes either sigma= or epsilon= and delta=, not both.")
        positive(self.sigma, "sigma")
        grid = grid_for(self.sigma) if self.grid is NOT_GIVEN else power_of_two(self.grid)
        store(self, sensitivity=self.sensitivity, sigma=self.sigma, epsilon=self.epsilon, delta=self.delta, grid=grid)
        finite(self.loss.rho, "sensitivity / sigma")

    def __repr__(self) -> str:
        noise = f"sigma={show(self.sigma)}"
        if self.epsilon is not None and self.delta is not None:
            noise = f"epsilon={show(self.epsilon)}, delta={show(self.delta)}"
        grid = "" if self.grid == grid_for(self.sigma) else f", grid={show(self.grid)}"
        return f"Gaussian(sensitivity={show(self.sensitivity)}, {noise}{grid})"

    @property
    def domain(self) -> Shift:
        """Real numbers, by L2 norm."""
        return Shift(sensitivity=self.sensitivity, norm=2.0)

    @property
    def loss(self) -> PrivacyLoss:
        """Gaussian differential privacy with ``mu = sensitivity / sigma``."""
        return PrivacyLoss.gaussian(mu_squared=(Fraction(self.sensitivity) / Fraction(self.sigma)) ** 2)

    @overload
    def release(self, value: Real, /) -> float: ...
    @overload
    def release(self, value: Array, /) -> Floats: ...
    def release(self, value: Value, /) -> float | Floats:
        """Return the grid point nearest to the value plus noise: a float for a number, an array for an array."""
        return on_grid(Density(), value, self.sigma, grid=self.grid)

    def error(self, beta: Real = 0.05, *, queries: int = 1, bound: Bound = "exact") -> float:
        """Return what all of ``queries`` answers stay within with probability ``1 - beta``, the grid included.

        A float64 holds a release exactly up to ``2^53`` grid steps; larger values are rounded to the nearest float.
        """
        return gaussian_error(self.sigma, beta, queries=queries, bound=bound) + float(self.grid) / 2

    @classmethod
    def for_error(cls, error: Real, beta: Real = 0.05, *, sensitivity: Real, queries: int = 1) -> Self:
        """Return the mechanism of most noise that stays within ``error`` with probability ``1 - beta``.

        >>> Gaussian.for_error(10, 0.05, sensitivity=1).error(0.05) <= 10
        True
        """
        reach = gaussian_error(1, beta, queries=queries) + 2.0 ** -(GRID_BITS + 1)
        return cls(sensitivity=sensitivity, sigma=float(positive(error, "error")) / reach * (1 - 1e-12))

    @classmethod
    def for_budget(cls, epsilon: Real, delta: Real, *, sensitivity: Real) -> Self:
        """Return the mechanism of least noise that is (epsilon, delta)-DP, by the exact curve of Balle and Wang.

        >>> round(Gaussian.for_budget(1, 1e-5, sensitivity=1).sigma, 6)
        3.730632
        """
        e, d, size = positive(epsilon, "epsilon"), probability(delta, "delta"), positive(sensitivity, "sensitivity")
        least = analytic_sigma(size, e, d)
        return cls(
            sensitivity=sensitivity,
            sigma=enough(lambda s: PrivacyLoss.gaussian(mu_squared=(size / Fraction(s)) ** 2), least, e, d),
        )

    @classmethod
    def classical(cls, *, sensitivity: Real, epsilon: Real, delta: Real, constant: Real = 1.25) -> Self:
        """Return the textbook calibration ``sigma = sensitivity sqrt(2 log(constant / delta)) / epsilon``.

        Books print three constants: 1.25 (Dwork and Roth 2014, Theorem A.1, proven for epsilon < 1), 2 and 1. All are
        loose for small epsilon and wrong for large: at delta 1e-5 the first fails above epsilon 8.42, the last above
        7.97. So epsilon above 1 is refused, and the analytic calibration is better everywhere.

        >>> Gaussian.classical(sensitivity=1, epsilon=10, delta=1e-5)
        Traceback (most recent call last):
        discreet.errors.InvalidParameter: the classical formula is proven for epsilon below 1 only, got 10. Use
        Gaussian(sensitivity=..., epsilon=..., delta=...).
        >>> import math
        >>> sigma = math.sqrt(2 * math.log(1.25 / 1e-5)) / 10
        >>> Gaussian(sensitivity=1, sigma=sigma).loss.delta(10)                     # not 1e-5: not private
        2.265374...e-05
        """
        e, d, c = positive(epsilon, "epsilon"), probability(delta, "delta"), positive(constant, "constant")
        if e > 1:
            raise InvalidParameter(
                f"the classical formula is proven for epsilon below 1 only, got {show(e)}. Use "
                "Gaussian(sensitivity=..., epsilon=..., delta=...)."
            )
        if c not in (1, Fraction(5, 4), 2):
            raise InvalidParameter(f"the constants in print are 1.25, 2 and 1, got {show(c)}.")
        scale = positive(sensitivity, "sensitivity") / e
        return cls(sensitivity=sensitivity, sigma=up(lambda: ball(scale) * (2 * ball(c / d).log()).sqrt()))

    draws = entrywise

    def log_probability(self, x: Value, y: Value, /) -> float:
        """Return ``log P[release(x) = y]`` for a point y of the grid."""
        from scipy.special import log_ndtr

        distance = np.abs(np.subtract(np.asarray(y, dtype=float), np.asarray(x, dtype=float)))
        sigma, grid = float(self.sigma), float(self.grid)
        if grid < 1e-6 * sigma:  # the density is flat on such a cell
            return float(np.sum(-((distance / sigma) ** 2) / 2 + math.log(grid / sigma) - math.log(2 * math.pi) / 2))
        near, far = (log_ndtr((side * grid / 2 - distance) / sigma) for side in (1, -1))
        return float(np.sum(near + np.log1p(-np.exp(far - near))))

    def worst_case(self) -> tuple[Real, Real]:
        """Two values at the distance of the sensitivity."""
        return 0, self.sensitivity


def analytic_sigma(sensitivity: Fraction, epsilon: Real, delta: Real) -> float:
    """Return the smallest sigma that is (epsilon, delta)-DP, rounded to the safe side.

    >>> round(analytic_sigma(Fraction(1), 3, 1e-9), 8)
    1.94372426
    """
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta")

    def fits(ratio: float) -> bool:
        return ratio > 0 and PrivacyLoss.gaussian(mu_squared=1 / Fraction(ratio) ** 2).delta(e) <= d

    ratio = smallest(fits)
    if math.isinf(ratio):
        raise InvalidParameter(
            "this budget would take noise beyond 2^60 times the sensitivity; take a larger epsilon or delta."
        )
    return up(lambda: ball(sensitivity) * ball(Fraction(ratio)))
