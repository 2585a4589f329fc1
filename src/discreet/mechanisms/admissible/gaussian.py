"""Gaussian noise under a smooth bound, for vectors too, with a certified delta."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, down, positive, probability, show, smallest
from discreet.mechanisms.admissible.drawn import Drawn, below, fitted, whole
from discreet.mechanisms.admissible.gaussian_pairs import narrow_delta, wide_delta
from discreet.mechanisms.scale import store
from discreet.noise.densities import Gaussian as Density
from discreet.noise.fast import Floats

__all__ = ["Gaussian", "gaussian_smooth_delta"]

MARGIN = 1e-9
"""What kappa is lowered by, for the rounding of float64 in the divergences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaussian(Drawn):
    """Independent Gaussian noises, each scaled by ``bound / kappa``.

    Satisfies ``(epsilon, delta)``-DP whenever neighbours move the value by at most the smaller of their bounds, in L2
    norm for a vector of ``dimension`` numbers, and the bounds are beta-smooth. Why the calibrated constant holds is
    told in ``gaussian_smooth_delta``, which bounds delta from above.

    ``constants="lemma"`` takes those of Nissim, Raskhodnikova and Smith (STOC 2007) for the target delta:
    ``kappa = epsilon / (5 sqrt(2 ln(2 / d)))``, ``beta <= epsilon / (4 (dimension + ln(2 / d)))``, where
    ``delta = (d / 2) (1 + e^(epsilon / 2))``.

    >>> noise = Gaussian(epsilon=1, delta=1e-6, beta=0.01)
    >>> lemma = Gaussian(epsilon=1, delta=1e-6, beta=0.01, constants="lemma")
    >>> round(1 / float(noise.factor), 4), round(1 / float(lemma.factor), 4)
    (0.1952, 0.0368)
    """

    epsilon: Real
    delta: Real
    beta: Real
    dimension: int = 1
    constants: Literal["exact", "lemma"] = "exact"
    factor: Fraction = field(init=False, repr=False, compare=False)
    norm: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        e, d = positive(self.epsilon, "epsilon"), probability(self.delta, "delta")
        b, n = fitted(self.beta), whole(self.dimension)
        if self.constants not in ("exact", "lemma"):
            raise InvalidParameter("constants must be 'exact' or 'lemma'.")
        if self.constants == "exact":
            kappa = _calibrated(float(e), float(d), float(b), n)
        else:
            kappa = down(lambda: ball(e) / (5 * (2 * _log_term(e, d)).sqrt()))
            limit = down(lambda: ball(e) / (4 * (n + _log_term(e, d))))
            below(b, limit, "epsilon / (4 (dimension + ln(2 / d)))")
            if kappa**2 > 2 * e or gaussian_smooth_delta(e, b, kappa, dimension=n) > d:
                raise InvalidParameter("the constants of the lemma do not hold here: take constants='exact'.")
        store(self, epsilon=self.epsilon, delta=self.delta, beta=self.beta)
        object.__setattr__(self, "factor", 1 / Fraction(kappa))

    @property
    def loss(self) -> PrivacyLoss:
        """Epsilon with delta."""
        return PrivacyLoss.approximate(self.epsilon, self.delta)

    @property
    def density(self) -> Density:
        """The law of Z."""
        return Density()

    def log_density(self, z: Floats, /) -> Floats:
        """Return ``-z^2 / 2 - log(2 pi) / 2``."""
        return -np.square(z) / 2 - math.log(2 * math.pi) / 2


def gaussian_smooth_delta(epsilon: Real, beta: Real, kappa: Real, *, dimension: int = 1) -> float:
    """Bound the delta of Gaussian noise of scale ``bound / kappa`` under bounds that are beta-smooth.

    *The farthest places are the worst.* A divergence is 1 less the overlap ``integral of min(p, e^epsilon q)``, which
    adds up the volumes that level sets of p and q share. Those of Gaussian laws are balls, symmetric and convex, and
    what a symmetric convex set shares with a translate of another falls along rays (Anderson, 1955).

    *The wider law against the narrower* (scale s against 1, the places kappa apart): the wider exceeds ``e^epsilon``
    times the narrower outside a ball, which holds the place of the wider if ``kappa^2 <= 2 epsilon``. The wider a law
    about a point of a ball, the more of it lies outside. So the divergence rises with s, and is taken at ``e^beta``.

    *The narrower against the wider*: for ``s' >= s`` the law of scale s' is at least ``(s / s')^dimension`` times that
    of scale s at every point. So the divergence at epsilon for all log-scales from a to b is at most that at
    ``epsilon - dimension (b - a)`` for a; the interval up to beta is cut into pieces.

    >>> gaussian_smooth_delta(1, 0.01, 0.195) < 1e-6 < gaussian_smooth_delta(1, 0.01, 0.196)
    True
    """
    e, b, k = (float(positive(*pair)) for pair in ((epsilon, "epsilon"), (beta, "beta"), (kappa, "kappa")))
    if k * k > 2 * e:
        raise InvalidParameter("kappa must be at most sqrt(2 epsilon).")
    return max(wide_delta(e, b, k, whole(dimension)), narrow_delta(e, b, k, dimension))


def _log_term(e: Fraction, d: Fraction) -> arb:
    """Return ``ln(2 / d')`` for the d' of the lemma that gives the target delta."""
    return (1 + (ball(e) / 2).exp()).log() - ball(d).log()


def _calibrated(e: float, d: float, b: float, dimension: int) -> float:
    """Return the largest kappa whose delta is small enough, lowered by the margin."""

    def hides(beta: float) -> bool:
        return max(wide_delta(e, beta, 0.0, dimension), narrow_delta(e, beta, 0.0, dimension)) < d

    if not hides(b):
        most = 1 / smallest(lambda rate: rate > 0 and hides(1 / rate), 2.0**40)
        raise InvalidParameter(
            f"beta must be at most {most:.6g} for this epsilon, delta and dimension, got {show(b)}: no Gaussian noise "
            "hides so fast a change of scale. Take a smaller beta, or noise of heavier tails such as PowerLaw."
        )
    cap = math.sqrt(2 * e)
    kappa = 1 / smallest(lambda x: x * cap >= 1 and wide_delta(e, b, 1 / x, dimension) <= d, 2.0**60)
    if narrow_delta(e, b, kappa, dimension) > d:
        least = 1 / kappa
        kappa = 1 / smallest(lambda x: x >= least and narrow_delta(e, b, 1 / x, dimension) <= d, 2.0**60)
    return kappa * (1 - MARGIN)
