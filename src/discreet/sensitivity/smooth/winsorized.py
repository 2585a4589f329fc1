"""The winsorized mean: the least and the greatest numbers are moved inwards instead of being dropped."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.exact import upward
from discreet.sensitivity.smooth.combined import Combined
from discreet.sensitivity.smooth.trimmed import Trimming, trimmed_points
from discreet.sensitivity.smooth.windows import Windows

__all__ = ["WinsorizedMean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WinsorizedMean(Trimming):
    """The mean of n bounded numbers of which the ``trim`` least and greatest are moved to the nearest one left.

    With m = ``trim`` it is ``(1 - 2m/n)`` times the trimmed mean plus ``m/n`` times the order statistics of rank m + 1
    and n - m. The sum of their bounds is smooth and bounds from above, and so does the smaller of it and the global
    sensitivity, under ``replace_one``. One record moves the value by
    ``(x_(n-m+1) - x_(m+1) + m (x_(m+2) - x_(m+1)) + m (x_(n-m+1) - x_(n-m))) / n`` at most, or the same below, so the
    global sensitivity is ``(m + 1) / n`` of the distance between the bounds, as the two gaps do not overlap; it is the
    whole distance if only one number is left, which then is the median. Values are exact, as in ``TrimmedMean``.

    >>> pulled = WinsorizedMean(trim=1, bounds=(0, 10)).at([0, 4, 5, 6, 10])
    >>> pulled.value, round(pulled.local(), 6), round(pulled.local(9), 6)
    (Fraction(5, 1), 2.8, 4.0)
    """

    def at(self, records: Any, /) -> Combined:  # noqa: ANN401 - any numbers
        """Look at a data set."""
        points, grid = trimmed_points(records, self.bounds, self.trim, self.size)
        n, m = points.size - 2, self.trim
        left, right = m + 1, n - m
        low, high = Fraction(points[left]), Fraction(points[right])
        middle = grid.total(points[left : right + 1])
        parts = [Windows(middle / (right - left + 1), points, left, right, weight=Fraction(1, n))]
        if m:
            parts += [
                Windows(float(end), points, rank, rank, weight=Fraction(m, n))
                for end, rank in ((low, left), (high, right))
            ]
        distance = Fraction(points[-1]) - Fraction(points[0])
        most = upward(distance * (Fraction(m + 1, n) if right > left else 1))
        return Combined((middle + m * (low + high)) / n, tuple(parts), partial(_capped, most))


def _capped(most: float, bounds: Sequence[float]) -> float:
    return min(sum(bounds), most)
