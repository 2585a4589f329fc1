"""Search for the least value of a smooth function of public numbers.

Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", Mathematical Programming 1989, with
steps halved until they descend (Armijo). The vectors here are short, and on a busy machine the threads of a linear
algebra library would cost more than they do.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

from discreet.noise.fast import Floats

__all__ = ["descend"]

MEMORY = 12
HALVINGS = 40
SLOPE = 1e-4
LONGEST = 10.0
"""The most that one coordinate moves in a step, so that nothing overflows."""
FLAT = 1e-10
"""Relative progress below which a search ends."""


def descend(function: Callable[[Floats], tuple[float, Floats]], start: Floats, *, steps: int) -> tuple[float, Floats]:
    """Return the least value found and where; the function returns its value and gradient.

    >>> value, place = descend(lambda x: (float(x @ x), 2 * x), np.array([3.0, -1.0]), steps=50)
    >>> bool(value < 1e-12)
    True
    """
    x = start.astype(np.float64)
    value, gradient = function(x)
    memory: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        direction = -_scaled(gradient, memory)
        slope = float(np.sum(direction * gradient))
        if not slope < 0:
            direction, slope = -gradient, -float(np.sum(gradient * gradient))
            memory.clear()
        size = min(1.0, (LONGEST if memory else 1.0) / max(float(np.abs(direction).max()), 1e-300))
        for _ in range(HALVINGS):
            ahead = x + size * direction
            found, following = function(ahead)
            if found <= value + SLOPE * size * slope:
                break
            size /= 2
        else:
            break
        moved, turned = ahead - x, following - gradient
        curve = float(np.sum(moved * turned))
        if curve > 1e-14 * float(np.sum(turned * turned)):
            memory.append((moved, turned, 1 / curve))
        done = value - found <= FLAT * abs(value)
        x, value, gradient = ahead, found, following
        if done:
            break
    return value, x


def _scaled(gradient: Floats, memory: "deque[tuple[Floats, Floats, float]]") -> Floats:
    """Return the gradient times the inverse Hessian that the last steps suggest, by the two-loop recursion."""
    result, shares = gradient.copy(), []
    for moved, turned, inverse in reversed(memory):
        share = inverse * float(np.sum(moved * result))
        shares.append(share)
        result -= share * turned
    if memory:
        moved, turned, inverse = memory[-1]
        result /= inverse * float(np.sum(turned * turned))
    for (moved, turned, inverse), share in zip(memory, reversed(shares), strict=True):
        result += (share - inverse * float(np.sum(turned * result))) * moved
    return result
