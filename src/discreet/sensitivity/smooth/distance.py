"""How far away the local sensitivity exceeds a bound, where only single levels are known."""

from collections.abc import Callable
from numbers import Integral

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, show

__all__ = ["check_distance", "first_above"]

FARTHEST = 1 << 128
"""No data set has so many records or units: at this distance every level is the last."""


def check_distance(distance: object) -> int:
    """Return a distance, a whole number from 0 on, and no more than what is the last.

    >>> check_distance(3), check_distance(2**200) == FARTHEST
    (3, True)
    """
    if isinstance(distance, bool) or not isinstance(distance, Integral):
        raise InvalidParameter(f"distance must be an integer, got {type(distance).__name__}.")
    if distance < 0:
        raise InvalidParameter(f"distance must be at least 0, got {show(int(distance))}.")
    return min(int(distance), FARTHEST)


def first_above(local: Callable[[int], float], bound: Real) -> int | None:
    """Return the least distance at which a rising function exceeds a bound, by bisection; None if it never does.

    >>> first_above(lambda k: min(k, 10) / 2, 3), first_above(lambda k: min(k, 10) / 2, 5)
    (7, None)
    """
    limit = finite(bound, "bound")
    if not local(FARTHEST) > limit:
        return None
    low, high = -1, 1
    while not local(high) > limit:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if local(middle) > limit else (middle, high)
    return high
