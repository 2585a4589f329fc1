"""Which of several equations contradict each other, in exact rational arithmetic.

Gaussian elimination over fractions: a combination of equations whose left sides cancel and whose right sides do not is
a proof that they cannot hold together (the alternative of Rouche and Capelli), and each equation in it is needed. A
large total and one that differs by a single person contradict each other however large both are.

Whole numbers are taken as they are. A right side that is not whole has been rounded when it was written down, so it
counts as known up to a few units in its last place: 1/3 taken three times does not contradict 1.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

__all__ = ["unequal"]

Row = Mapping[int, Fraction]

MOST_WORK = 300_000
"""Entries that are combined before elimination gives up, having found nothing: a second or so."""

LAST_PLACES = 4


def unequal(rows: Sequence[Row], ends: Sequence[float]) -> dict[int, Fraction] | None:
    """Return multipliers of equations that together read ``0 = something else``, or None if none were found.

    >>> one = Fraction(1)
    >>> unequal([{0: one, 1: one}, {0: one}, {1: one}], [10**9, 10**9, 1])
    {2: Fraction(1, 1), 1: Fraction(1, 1), 0: Fraction(-1, 1)}
    >>> unequal([{0: one, 1: one}, {0: one}, {1: one}], [0.3, 0.1, 0.2]) is None
    True
    """
    solved: list[tuple[int, Row, Row]] = []
    work = 0
    for place, row in enumerate(rows):
        left, used = dict(row), {place: Fraction(1)}
        for pivot, others, made in solved:
            factor = left.get(pivot)
            if factor is not None:
                _subtract(left, factor, others)
                _subtract(used, factor, made)
                work += len(others) + len(made)
        if work > MOST_WORK:
            return None
        if left:
            pivot, size = next(iter(left.items()))
            solved.append((pivot, {k: v / size for k, v in left.items()}, {k: v / size for k, v in used.items()}))
        elif _differ(used, ends):
            return used
    return None


def _subtract(left: dict[int, Fraction], factor: Fraction, other: Row) -> None:
    """Take a multiple of another row away, in place, and forget what cancels."""
    for key, value in other.items():
        rest = left.get(key, Fraction(0)) - factor * value
        if rest:
            left[key] = rest
        else:
            left.pop(key, None)


def _differ(used: Row, ends: Sequence[float]) -> bool:
    """Tell whether the right sides, combined, are certainly not 0."""
    gap, unknown = Fraction(0), Fraction(0)
    for place, factor in used.items():
        gap += factor * Fraction(ends[place])
        unknown += abs(factor) * _unknown(ends[place])
    return abs(gap) > unknown


def _unknown(end: float) -> Fraction:
    """Return how far a right side may lie from what was meant."""
    return Fraction(0) if float(end).is_integer() else LAST_PLACES * Fraction(math.ulp(end))
