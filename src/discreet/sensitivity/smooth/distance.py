"""How far away the local sensitivity exceeds a bound, where only single levels are known."""

from collections.abc import Callable

from discreet.exact import Real, finite

__all__ = ["first_above"]

FARTHEST = 1 << 62
"""No data set has so many records: at this distance every level is the last."""


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
