"""What the two log-normal noises share: how they are fitted, drawn and measured."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, overload

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, show
from discreet.mechanisms.accuracy import per_query
from discreet.mechanisms.admissible.drawn import fitted, scale_of, whole
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise.fast import Floats
from discreet.noise.grid import Array
from discreet.noise.log_normal import Factor, log_normal_on_grid

__all__ = ["LogNormal", "fit"]

MARGIN = 1e-9
"""What kappa is lowered by: far more than the rounding of float64 in a dozen operations."""

NARROWEST, WIDEST = 0.001, 12
"""The sigmas that are looked at: below, nothing is gained; above, float64 ends."""

FLAT = 1e-5
"""On a cell narrower than this part of the noise the density is taken as constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNormal:
    """Noise ``factor * bound * Y * e^(sigma Z)`` for a normal Z, fitted by the steepest slope of its log-density."""

    rho: Real
    beta: Real
    dimension: int = 1
    sigma: Real = NOT_GIVEN
    factor: Fraction = field(init=False, repr=False, compare=False)
    norm: ClassVar[float] = 1.0
    kind: ClassVar[Factor]

    if TYPE_CHECKING:

        @staticmethod
        def log_slope(sigma: float, /) -> float:
            """Return the log of the steepest slope of the log-density."""

        def survival(self, z: float, /) -> float:
            """Return the probability of a size of at least z."""

        def log_density(self, z: Floats, /) -> Floats:
            """Return the log of the density."""

    def __post_init__(self) -> None:
        given = None if self.sigma is NOT_GIVEN else float(positive(self.sigma, "sigma"))
        sigma, slide = fit(positive(self.rho, "rho"), fitted(self.beta), whole(self.dimension), given, self._log_spread)
        store(self, rho=self.rho, beta=self.beta, sigma=sigma)
        object.__setattr__(self, "factor", 1 / Fraction(slide * math.exp(-self.log_slope(sigma))))

    def _log_spread(self, sigma: float, slide: float) -> float:
        """Return the log of the standard deviation, up to a constant: ``e^(sigma^2)`` over kappa."""
        return sigma**2 + self.log_slope(sigma) - math.log(slide)

    @property
    def loss(self) -> PrivacyLoss:
        """Concentrated: rho for every order."""
        return PrivacyLoss.zcdp(self.rho)

    @overload
    def draw(self, value: Real, bound: Real, *, grid: Real) -> float: ...
    @overload
    def draw(self, value: Array, bound: Real, *, grid: Real) -> Floats: ...
    def draw(self, value: Real | Array, bound: Real, *, grid: Real) -> float | Floats:
        """Return the grid point nearest to the value plus noise: a float for a number, an array for an array."""
        return log_normal_on_grid(self.kind, self.sigma, value, scale_of(bound, self.factor), grid=grid)

    def reach(self, beta: Real = 0.05, /) -> float:
        """Return what all noises of a release stay below, in units of the bound, with probability ``1 - beta``."""
        from scipy.optimize import brentq

        share = per_query(beta, self.dimension)
        found = brentq(lambda u: self.survival(math.exp(u)) - share, -200.0, 200.0, xtol=1e-12)
        return math.exp(found) * float(self.factor) * (1 + 1e-9)

    def log_cell(self, low: Real | None, high: Real | None, /) -> float:
        """Return ``log P[low <= Z < high]`` in float64; None stands for infinity."""
        left, right = -math.inf if low is None else _float(low), math.inf if high is None else _float(high)
        if right <= 0:
            left, right = -right, -left
        if right - left < FLAT * math.exp(float(self.sigma) * -3):
            return float(self.log_density(np.array([(left + right) / 2]))[0]) + math.log(right - left)
        beyond = self._beyond(right)
        mass = (self._beyond(left) - beyond) / 2 if left >= 0 else 1 - (self._beyond(-left) + beyond) / 2
        return math.log(mass) if mass > 0 else -math.inf

    def _beyond(self, z: float) -> float:
        return 0.0 if z == math.inf else self.survival(z) if z > 0 else 1.0


def fit(
    rho: Fraction, beta: Fraction, dimension: int, sigma: float | None, cost: Callable[[float, float], float]
) -> tuple[float, float]:
    """Return sigma and how much pure epsilon the slide may cost; sigma minimises a cost of both unless it is given.

    A stretch by at most ``e^beta`` is a move of ``dimension`` normal variables by ``beta / sigma`` each, so it costs
    ``dimension (beta / sigma)^2 / 2`` of zCDP. A slide of pure e costs ``e tanh(e / 2)``. Costs of two moves in a row
    add up by their square roots (Bun and Steinke, "Concentrated Differential Privacy", TCC 2016).
    """
    from scipy.optimize import minimize_scalar

    total, stretch = math.sqrt(float(rho)), float(beta) * math.sqrt(dimension / 2)
    if stretch / total > WIDEST / 2 or (sigma is not None and not NARROWEST <= sigma <= WIDEST):
        raise InvalidParameter(
            f"sigma must lie between {NARROWEST} and {WIDEST}, and beta below {WIDEST / 2} sqrt(2 rho / dimension)."
            " Beyond, the noise is far larger than any bound: take a smaller beta or a larger rho."
        )

    def slide(s: float) -> float:
        return _pure(max(total * (1 - 1e-12) - stretch / s * (1 + 1e-12), 0.0) ** 2)

    def at(log_sigma: float) -> float:
        pure = slide(math.exp(log_sigma))
        return cost(math.exp(log_sigma), pure) if pure > 0 else math.inf

    if sigma is None:
        least = math.log(stretch / total)  # below it the stretch alone costs too much
        places = np.linspace(max(least, math.log(NARROWEST)), math.log(WIDEST), 80)
        best = int(np.argmin([at(u) for u in places]))
        ends = float(places[max(best - 1, 0)]), float(places[min(best + 1, places.size - 1)])
        found = minimize_scalar(at, bounds=ends, method="bounded")
        spread = math.exp(float(found.x))
    else:
        spread = float(sigma)
        if slide(spread) <= 0:
            raise InvalidParameter(
                f"sigma must be above beta sqrt(dimension / (2 rho)) = {stretch / total:.6g}, got {show(sigma)}."
            )
    return spread, slide(spread) * (1 - MARGIN)


def _float(z: Real) -> float:
    """Return a float for any rational: beyond all floats there is no noise to be missed."""
    return float(max(min(z, 2**1000), -(2**1000)))


def _pure(rho: float) -> float:
    """Return the e with ``e tanh(e / 2) = rho``, by Newton's method from above.

    >>> round(_pure(1 * math.tanh(0.5)), 12)
    1.0
    """
    e = math.sqrt(2 * rho) + rho
    for _ in range(60):
        t = math.tanh(e / 2)
        slope = t + e / 2 * (1 - t * t)
        if slope <= 0:
            return 0.0
        e -= (e * t - rho) / slope
    return e
