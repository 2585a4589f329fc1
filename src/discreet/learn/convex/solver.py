"""Minimise an objective until the norm of its gradient is certainly below a public bound.

Each step tries Newton's direction at lengths 1, 1/2, 1/4, ... and takes the first that lowers the objective or shortens
the gradient enough; it always may fall back on a plain step of length ``1 / steepest``, which shortens the gradient of
a strongly convex function by the factor ``1 - strength / steepest`` at least. So the bound is reached on every data
set. Where float64 does not show it, because there are far more rows than were expected, ball arithmetic goes on from
where it stopped: what is returned has a proven gradient always, and nothing that anybody sees depends on how long that
took.
"""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from discreet.exact import ball
from discreet.learn.convex.objective import Objective
from discreet.noise.fast import Floats

__all__ = ["minimise"]

STEPS = 300
"""After so many steps in float64 it is rounding that keeps the gradient long."""

ENOUGH = 0.9
LOWERED = 0.1
NOTICED: float = 2.0**-40
"""What rounding could make of a difference of two values of the objective."""
HALVINGS = 60
"""Down to what float64 can tell: the minimum may lie that close to where the slope of a record begins to turn."""

Point = npt.NDArray[np.generic]


def minimise(objective: Objective, within: float) -> Point:
    """Return a point at which the true gradient has a norm of at most ``within``: floats, or exact rationals."""
    w = np.zeros(objective.tilt.shape)
    gradient = objective.gradient(w)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            if objective.bound(w, gradient) <= within:
                return w
            found = _step(objective, w, gradient)
            if found is None:
                break
            w, gradient = found
        if objective.bound(w, gradient) <= within:
            return w
        return refined(objective, w, within)


def _step(objective: Objective, w: Floats, gradient: Floats) -> tuple[Floats, Floats] | None:
    """Return the next point and its gradient; None if none is shorter."""
    size, value = float(np.linalg.norm(gradient)), objective.value(w)
    newton = _direction(objective, w, gradient)
    descent = float(newton @ gradient)
    best: tuple[float, Floats, Floats] | None = None
    lengths = [(newton, 2.0**-k) for k in range(HALVINGS)]
    for direction, length in [*lengths, (gradient, 1 / objective.steepest)]:
        other = w - length * direction
        slope, gain = objective.gradient(other), value - objective.value(other)
        norm = float(np.linalg.norm(slope))
        if gain < -NOTICED * abs(value):  # a point that is higher up would only be left again
            continue
        if norm < size and (best is None or norm < best[0]):
            best = (norm, other, slope)
        if norm <= max(ENOUGH, 1 - length / 2) * size:
            break
        if direction is newton and gain >= LOWERED * length * descent + NOTICED * abs(value):
            return other, slope
    return None if best is None else (best[1], best[2])


def _direction(objective: Objective, w: Floats, gradient: Floats) -> Floats:
    try:
        found = np.linalg.solve(objective.hessian(w), gradient)
    except np.linalg.LinAlgError:
        return gradient / objective.steepest
    return np.asarray(found) if np.isfinite(found).all() else gradient / objective.steepest


def refined(objective: Objective, start: Floats, within: float) -> Point:
    """Go on in ball arithmetic, where every gradient is known to as many digits as are asked for.

    Directions are computed in float64, as they prove nothing; points are exact, and a point is left for one whose
    gradient is certainly shorter: Newton's, or that of the plain step, of which that is a theorem.
    """
    before, precision = ctx.prec, 128
    try:
        ctx.prec = precision
        w = [Fraction(x) for x in start.tolist()]
        gradient, norm = _in_balls(objective, w)
        while not norm <= within:
            for direction in _directions(objective, w, gradient):
                other = [x - Fraction(step) for x, step in zip(w, direction.tolist(), strict=True)]
                slope, size = _in_balls(objective, other)
                if size < norm:
                    w, gradient, norm = other, slope, size
                    break
            else:
                ctx.prec = precision = 2 * precision
                gradient, norm = _in_balls(objective, w)
        return np.array([*w, None], dtype=object)[:-1]
    finally:
        ctx.prec = before


def _directions(objective: Objective, w: list[Fraction], gradient: Floats) -> tuple[Floats, ...]:
    newton = _direction(objective, np.array([float(x) for x in w]), gradient)
    return (*(newton * 2.0**-k for k in range(HALVINGS)), gradient / objective.steepest)


def _in_balls(objective: Objective, w: list[Fraction]) -> tuple[Floats, arb]:
    """Return the gradient in float64, and its norm as a ball."""
    weights = [ball(x) for x in w]
    strength = ball(Fraction(objective.strength))
    total = [strength * x + ball(Fraction(t)) for x, t in zip(weights, objective.tilt.tolist(), strict=True)]
    for row, target in zip(objective.examples.rows.tolist(), objective.examples.targets.tolist(), strict=True):
        entries = [ball(Fraction(x)) for x in row]
        prediction = sum((x * y for x, y in zip(entries, weights, strict=True)), arb(0))
        slope = objective.loss.slope_ball(prediction, target)
        total = [sum_so_far + slope * x for sum_so_far, x in zip(total, entries, strict=True)]
    square = sum((x * x for x in total), arb(0)).upper()
    norm = square.sqrt().upper()
    return np.array([float(x.mid()) for x in total]), norm if norm.is_finite() else arb(math.inf)
