"""Noise of polynomial tails: the first admissible noise, with its first constants and with better ones."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, show
from discreet.mechanisms.admissible.drawn import Drawn, below, fitted, whole
from discreet.mechanisms.scale import store
from discreet.noise.densities import Polynomial as Density
from discreet.noise.fast import Floats

__all__ = ["Polynomial"]

MARGIN = Fraction(1, 10**9)
"""What kappa is lowered by: far more than float64 and a search to ten digits can miss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polynomial(Drawn):
    """Noise with density proportional to ``1 / (1 + |z|^gamma)``, scaled by ``bound / kappa``.

    Satisfies ``epsilon``-DP whenever neighbours move the value by at most the smaller of their bounds, in L1 norm for a
    vector, and the bounds are beta-smooth.

    ``constants="tight"``: moving place and log-scale together, with ``t = |z|^gamma / (1 + |z|^gamma)``, the
    log-density changes at a rate of at most ``kappa gamma t^(1 - 1/gamma) (1 - t)^(1/gamma) + beta |1 - gamma t|``.
    This is concave on either side of ``t = 1 / gamma``, and kappa the largest for which it stays below epsilon. Each
    further number of a vector adds at most ``beta max(1, gamma - 1)``.

    ``constants="slide"``: ``kappa = epsilon / (2 (gamma + 1))`` for one number and every beta up to the same amount,
    after Nissim, Raskhodnikova and Smith (STOC 2007), who account for a slide and a stretch one after the other.

    >>> tight = Polynomial(epsilon=1, beta=0.1, gamma=4)
    >>> round(1 / float(tight.factor), 6)
    0.34382
    >>> float(Polynomial(epsilon=1, beta=0.1, gamma=4, constants="slide").factor)
    10.0
    """

    epsilon: Real
    beta: Real
    gamma: Real = 4
    dimension: int = 1
    constants: Literal["tight", "slide"] = "tight"
    factor: Fraction = field(init=False, repr=False, compare=False)
    norm: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        e, b, d = positive(self.epsilon, "epsilon"), fitted(self.beta), whole(self.dimension)
        gamma = Fraction(Density(self.gamma).gamma)
        if self.constants not in ("tight", "slide") or (self.constants == "slide" and d > 1):
            raise InvalidParameter("constants must be 'tight', or 'slide' for one number.")
        if self.constants == "tight":
            stretch = max(Fraction(1), gamma - 1)
            below(b, e / (d * stretch), "epsilon / (dimension * max(1, gamma - 1))")
            kappa = Fraction(_joint(float(e - (d - 1) * b * stretch), float(b), float(gamma))) * (1 - MARGIN)
        else:
            kappa = e / (2 * (gamma + 1))
            if positive(self.beta, "beta") > kappa * (1 + MARGIN) or b * max(Fraction(1), gamma - 1) > e / 2:
                raise InvalidParameter(
                    f"beta must be at most epsilon / (2 (gamma + 1)) = {float(kappa):.6g}, got {show(self.beta)}."
                )
        store(self, epsilon=self.epsilon, beta=self.beta, gamma=self.gamma)
        object.__setattr__(self, "factor", 1 / kappa)

    @property
    def loss(self) -> PrivacyLoss:
        """Pure."""
        return PrivacyLoss.pure(self.epsilon)

    @property
    def density(self) -> Density:
        """The law of Z."""
        return Density(self.gamma)

    def log_density(self, z: Floats, /) -> Floats:
        """Return ``-log(1 + |z|^gamma)`` and the constant, ``sin(pi / gamma) gamma / (2 pi)``."""
        gamma = float(self.gamma)
        constant = math.log(math.sin(math.pi / gamma) * gamma / (2 * math.pi))
        tail: Floats = np.logaddexp(0.0, gamma * np.log(np.maximum(np.abs(z), 1e-300)))
        return constant - tail


def _joint(epsilon: float, beta: float, gamma: float) -> float:
    """Return the largest kappa: a linear function over a concave one is quasi-convex, so each side has one minimum."""

    def room(t: float, rest: float) -> float:
        slope = gamma * t ** (1 - 1 / gamma) * rest ** (1 / gamma)
        return (epsilon - beta * abs(rest - (gamma - 1) * t)) / slope if slope > 0 else math.inf

    kink = 1 / gamma
    inner = _least(lambda t: room(t, 1 - t), 0.0, kink)
    outer = _least(lambda rest: room(1 - rest, rest), 0.0, 1 - kink)  # near 0, where floats are finest
    return min(inner, outer)


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the minimum of a quasi-convex function on an interval, by golden sections and at the ends."""
    golden = (math.sqrt(5) - 1) / 2
    best = min(function(low), function(high))
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(90):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(right)
        best = min(best, at_left, at_right)
    return best
