"""The trimmed mean: what is left after the least and the greatest numbers are dropped, averaged exactly."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidParameter
from discreet.exact import Real, show
from discreet.sensitivity.size import check_size
from discreet.sensitivity.smooth.sample import Bounds, Fixed, Floats, check_bounds, sample
from discreet.sensitivity.smooth.scalar import Scalar
from discreet.sensitivity.smooth.windows import Windows
from discreet.units import Relation

__all__ = ["TrimmedMean", "Trimming", "check_trim", "trimmed_points"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming(Scalar):
    """What means that treat ``trim`` numbers on each side in a way of their own have in common."""

    trim: int
    bounds: Bounds | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        check_bounds(self.bounds, query="mean", example=f"{type(self).__name__}(trim=10, bounds=(0, 120))")
        check_trim(self.trim, self.size)

    @property
    def relation(self) -> Relation:
        """The number of records is public: the mean divides by it."""
        return "replace_one"

    @property
    def range(self) -> tuple[Real, Real]:
        """The bounds, rounded as the numbers are."""
        points, _ = trimmed_points([], self.bounds, 0, None)
        return float(points[0]), float(points[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmedMean(Trimming):
    """The mean of bounded numbers without the ``trim`` least and the ``trim`` greatest, under ``replace_one``.

    Replacing a record drops one of the numbers that are averaged and takes in another, so with m = ``trim``
    ``A(x, k) = max over l of (x_(n-m+1+k-l) - x_(m+1-l)) / (n - 2m), 0 <= l <= k + 1``, exactly: the widest window that
    reaches ``k + 1`` ranks beyond those averaged (Nissim, Raskhodnikova and Smith, STOC 2007). ``trim=0`` is the mean.

    Numbers are first rounded to multiples of 2^-51 of a power of two that covers both bounds. So their sum is exact in
    every order, and so is the value. Records that are missing to ``2 trim + 1`` count as the lower bound.

    >>> middle = TrimmedMean(trim=1, bounds=(0, 3)).at([1, 1, 1, 2, 3])
    >>> middle.value, [round(middle.local(k), 4) for k in range(3)], round(middle.smooth(0.2), 6)
    (Fraction(4, 3), [0.6667, 0.6667, 1.0], 0.67032)
    """

    def at(self, records: Any, /) -> Windows:  # noqa: ANN401 - any numbers
        """Look at a data set."""
        points, grid = trimmed_points(records, self.bounds, self.trim, self.size)
        left, right = self.trim + 1, points.size - 2 - self.trim
        weight = Fraction(1, right - left + 1)
        return Windows(grid.total(points[left : right + 1]) * weight, points, left, right, weight=weight)


def trimmed_points(records: Any, bounds: object, trim: int, size: int | None) -> tuple[Floats, Fixed]:  # noqa: ANN401
    """Return the sorted sample on its grid, with enough records to trim."""
    ends = check_bounds(bounds, query="trimmed mean", example="TrimmedMean(trim=10, bounds=(0, 120))")
    grid = Fixed(ends)
    return sample(records, ends, size=size, least=2 * trim + 1, grid=grid), grid


def check_trim(trim: object, size: object) -> None:
    """Check a public number of records to trim on each side, and the public number of records."""
    if isinstance(trim, bool) or not isinstance(trim, int):
        raise InvalidParameter(f"trim must be an integer, got {type(trim).__name__}.")
    if trim < 0:
        raise InvalidParameter(f"trim must be at least 0 records on each side, got {show(trim)}.")
    if size is not None and check_size(size) <= 2 * trim:
        raise InvalidParameter(f"trim must leave a record: twice trim must be below size, got {trim} and {size}.")
