"""Whether a density is admissible, by integration: for densities of one's own, before anything is proven.

Nissim, Raskhodnikova and Smith (STOC 2007) call a law (alpha, beta)-admissible if a slide by at most alpha and a
stretch by at most ``e^beta`` each cost at most half of epsilon and delta. Noise of scale ``S / alpha`` is then
``(epsilon, (delta / 2) (1 + e^(epsilon / 2)))``-DP for every beta-smooth bound S.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.exact import Real, positive, probability
from discreet.mechanisms.admissible.divergence import LogDensity, hockey_stick, largest_ratio, normalised
from discreet.mechanisms.admissible.interface import Admissible
from discreet.noise.fast import Floats

__all__ = ["Admissibility", "admissible"]

TOLERANCE = 1e-9
STEPS = 8
"""Slides are tried at so many sizes up to the largest, to the right and to the left, and stretches, wider and narrower.
A pair of laws is told apart in either order: the second from the first is the first from the opposite move."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Admissibility:
    """What the worst slide and dilation cost: their largest log-ratios, and their deltas at ``epsilon / 2``."""

    log_density: LogDensity
    alpha: float
    beta: float
    epsilon: float
    delta: float
    slide: float
    dilation: float
    slide_delta: float
    dilation_delta: float

    @property
    def holds(self) -> bool:
        """Whether both stay within half of epsilon and delta, as far as numbers can tell."""
        if self.delta == 0:
            return max(self.slide, self.dilation) <= self.epsilon / 2 + TOLERANCE
        return max(self.slide_delta, self.dilation_delta) <= self.delta / 2 * (1 + TOLERANCE)

    def __repr__(self) -> str:
        return (
            f"{'admissible' if self.holds else 'not admissible'} at epsilon {self.epsilon:g}, delta {self.delta:g}: "
            f"a slide by {self.alpha:g} costs {_cost(self.slide)} (delta {self.slide_delta:.3g}), "
            f"a dilation by e^{self.beta:g} costs {_cost(self.dilation)} (delta {self.dilation_delta:.3g})"
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the density beside its slide and its dilation, and the log-ratios against half of epsilon."""
        from discreet.plots.admissible import slide_and_dilation

        reach = 8.0 + 2 * self.alpha
        z: Floats = np.linspace(-reach, reach, 401)
        plain, slid = self.log_density(z), self.log_density(z - self.alpha)
        stretched = self.log_density(z * math.exp(-self.beta)) - self.beta
        return slide_and_dilation(
            z.tolist(), np.exp(plain).tolist(), np.exp(slid).tolist(), np.exp(stretched).tolist(), self.epsilon / 2
        )


def admissible(
    density: LogDensity | Admissible, alpha: Real, beta: Real, epsilon: Real, delta: Real = 0
) -> Admissibility:
    """Check sliding and dilation of a density, given by its logarithm (up to a constant) or as one of our noises.

    It is a check by numbers and no proof: a net of slides and dilations, on a net of points.

    >>> admissible(lambda z: -np.log(1 + z**2), 0.5, 0.5, 1).holds
    True
    >>> admissible(lambda z: -np.abs(z), 0.5, 0.5, 1).holds               # Laplace noise needs a delta
    False
    >>> admissible(lambda z: np.where(np.abs(z) <= 1, 0.0, -np.inf), 0.5, 0.1, 1, 1e-9).holds   # a support that moves
    False
    """
    told = density.log_density if isinstance(density, Admissible) else density
    a, b = float(positive(alpha, "alpha")), float(positive(beta, "beta"))
    e, d = float(positive(epsilon, "epsilon")), float(probability(delta, "delta", zero=True))
    law = normalised(told)
    slides = [(sign * a * i / STEPS, 0.0) for i in range(1, STEPS + 1) for sign in (-1, 1)]
    dilations = [(0.0, sign * b * i / STEPS) for i in range(1, STEPS + 1) for sign in (-1, 1)]
    return Admissibility(
        log_density=law,
        alpha=a,
        beta=b,
        epsilon=e,
        delta=d,
        slide=max(largest_ratio(law, *pair) for pair in slides),
        dilation=max(largest_ratio(law, *pair) for pair in dilations),
        slide_delta=max(hockey_stick(law, e / 2, *pair) for pair in slides),
        dilation_delta=max(hockey_stick(law, e / 2, *pair) for pair in dilations),
    )


def _cost(log_ratio: float) -> str:
    """Write a log-ratio; one beyond all budgets has grown with the net that was looked at."""
    return f"{log_ratio:.4g}" if log_ratio < 100 else "without bound"
