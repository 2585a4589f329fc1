"""The regularised objective of a linear model, and how exactly its gradient is known.

    J(w) = sum_i loss(x_i . w, t_i) + strength / 2 |w|^2 + tilt . w

J is ``strength``-strongly convex, so a point whose gradient has norm g lies within ``g / strength`` of the minimum.
Privacy rests on that distance, so the norm of the true gradient is bounded: what is computed in float64 plus a bound on
all roundings.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.learn.convex.losses import SLOPE_ERROR, Loss
from discreet.learn.convex.rows import Examples
from discreet.noise.fast import Floats

__all__ = ["Objective"]

PART = 4096
ROUNDING: float = 2.0**-53


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Objective:
    """An objective on given examples: as secret as they are."""

    examples: Examples
    loss: Loss
    strength: float
    tilt: Floats
    reach: float
    """The largest norm of a row."""

    @property
    def steepest(self) -> float:
        """The largest eigenvalue that a second derivative can have."""
        return len(self.examples) * float(self.loss.smoothness) * self.reach**2 + self.strength

    def value(self, w: Floats) -> float:
        """Return the objective, in float64."""
        losses = self.loss.value(self.examples.rows @ w, self.examples.targets)
        return float(np.sum(losses) + self.strength / 2 * (w @ w) + self.tilt @ w)

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient, in float64; rows are added up in parts, which keeps the rounding small."""
        rows, targets = self.examples.rows, self.examples.targets
        total = self.strength * w + self.tilt
        for start in range(0, len(rows), PART):
            part = rows[start : start + PART]
            total += part.T @ self.loss.slope(part @ w, targets[start : start + PART])
        return total

    def rounding(self, w: Floats) -> float:
        """Return a bound on the norm of what rounding adds to the gradient at w.

        For a row: the prediction errs by ``(d + 2) u |x| |w|``, which moves the slope by at most its smoothness times
        that, and the slope itself by ``SLOPE_ERROR``. Sums of m terms in any order err by ``m u`` times the sum of
        their sizes. A factor of 2 covers the products of these errors and what this bound itself is rounded by.
        """
        n, d = self.examples.rows.shape
        size, slope = float(np.linalg.norm(w)), float(self.loss.lipschitz)
        n, d = int(n), int(d)
        adding = (PART + n / PART + 8) * ROUNDING
        moved = float(self.loss.smoothness) * (d + 2) * ROUNDING * self.reach * size
        of_rows = n * self.reach * (slope * SLOPE_ERROR + moved + adding * slope)
        of_rest = (n / PART + 16) * ROUNDING * (self.strength * size + float(np.linalg.norm(self.tilt)))
        return 2 * (of_rows + of_rest)

    def bound(self, w: Floats, gradient: Floats) -> float:
        """Return a bound on the norm of the true gradient at w, from the computed one."""
        norm: float = math.hypot(*gradient.tolist()) * (1 + len(gradient) * ROUNDING)
        return norm + self.rounding(w)

    def hessian(self, w: Floats) -> Floats:
        """Return the matrix of second derivatives, in float64."""
        rows, targets = self.examples.rows, self.examples.targets
        total = self.strength * np.eye(rows.shape[1])
        for start in range(0, len(rows), PART):
            part = rows[start : start + PART]
            curved = self.loss.curvature(part @ w, targets[start : start + PART])
            total += (part * curved[:, None]).T @ part
        return total
