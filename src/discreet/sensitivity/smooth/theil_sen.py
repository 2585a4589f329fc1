"""The slope of a line through points, as the median of the slopes between pairs of them.

Theil ("A Rank-Invariant Method of Linear and Polynomial Regression Analysis", Proc. KNAW 1950) and Sen (JASA 1968) take
all pairs, so that one point is in as many slopes as there are other points. Taking some random matchings instead keeps
one point out of most slopes: Alabi, McMillan, Sarathy, Smith and Vadhan, "Differentially Private Simple Linear
Regression", PETS 2022, after Dwork and Lei, "Differential Privacy and Robust Statistics", STOC 2009.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import Real, show
from discreet.quietly import Silence
from discreet.sensitivity.size import check_size
from discreet.sensitivity.smooth.column import number, pairs
from discreet.sensitivity.smooth.function import Vicinity
from discreet.sensitivity.smooth.levels import Levels
from discreet.sensitivity.smooth.order import SampleQuantile
from discreet.sensitivity.smooth.sample import Bounds, check_bounds
from discreet.sensitivity.total import safely
from discreet.units import Relation

__all__ = ["TheilSen"]

Floats = npt.NDArray[np.float64]

EXAMPLE = "TheilSen(bounds=(-10, 10))"


@dataclass(frozen=True, slots=True, kw_only=True)
class TheilSen:
    """The (lower) median slope ``(y' - y) / (x' - x)`` over the pairs of some matchings of the records ``(x, y)``.

    Each matching pairs every position with one other (if there are odd many, one stays alone). It is drawn from the
    number of records and the public ``salt`` alone, so the order of the records must not depend on their values. One
    record is in at most ``matchings`` slopes, so ``A(x, k)`` is at most the widest window of ``(k + 1) * matchings``
    ranks around that of the median. Slopes are clamped to ``bounds``; where two records have the same x, or
    one cannot be read, theirs is the middle of the bounds. More matchings use the data better and widen the windows.

    >>> line = [(x, 2 * x + (-1) ** x) for x in range(100)]
    >>> slope = TheilSen(bounds=(-10, 10)).at(line)
    >>> 1.9 < slope.value < 2.1, slope.local() < 0.2
    (True, True)
    """

    bounds: Bounds | None = None
    matchings: int = 1
    salt: str = ""
    size: int | None = None

    def __post_init__(self) -> None:
        check_bounds(self.bounds, query="slope", example=EXAMPLE)
        if isinstance(self.matchings, bool) or not isinstance(self.matchings, int):
            raise InvalidParameter(f"matchings must be an integer, got {type(self.matchings).__name__}.")
        if self.matchings < 1:
            raise InvalidParameter(f"matchings must be at least 1, got {show(self.matchings)}.")
        if not isinstance(self.salt, str):
            raise InvalidParameter(f"salt must be a text that everyone may know, got {type(self.salt).__name__}.")
        if self.size is not None:
            object.__setattr__(self, "size", check_size(self.size))

    @property
    def relation(self) -> Relation:
        """One record is replaced by another, at its position."""
        return "replace_one"

    @property
    def range(self) -> tuple[Real, Real]:
        """The bounds."""
        return check_bounds(self.bounds, query="slope", example=EXAMPLE)

    @property
    def dimension(self) -> int:
        """One number."""
        return 1

    @property
    def norm(self) -> float:
        """One number changes by the same amount in every norm."""
        return 1.0

    def at(self, records: Iterable[object], /) -> Vicinity:
        """Look at a list of pairs; where ``size`` is said, it is cut or filled up with records that cannot be read."""
        low, high = check_bounds(self.bounds, query="slope", example=EXAMPLE)
        points = _points(records, self.size)
        middle = low / 2 + high / 2
        if len(points) < 2:
            return Levels(middle, np.zeros(1))
        slopes = np.concatenate([_slopes(points, self._matching(len(points), i)) for i in range(self.matchings)])
        slopes[np.isnan(slopes)] = middle
        return SampleQuantile(probability=Fraction(1, 2), bounds=(low, high), rows=self.matchings).at(slopes)

    def _matching(self, size: int, i: int) -> npt.NDArray[np.intp]:
        """Return pairs of positions, the same ones on every machine."""
        text = f"discreet/theil-sen/{size}/{i}/{self.salt}".encode()
        stream = np.random.Philox(key=int.from_bytes(hashlib.sha256(text).digest()[:16], "big"))
        order = np.argsort(stream.random_raw(size), kind="stable")
        return order[: size // 2 * 2].reshape(-1, 2)


def _slopes(points: Floats, pairs: npt.NDArray[np.intp]) -> Floats:
    """Return the slopes, NaN where there is none."""
    with np.errstate(all="ignore"):
        steps: Floats = points[pairs[:, 1]] - points[pairs[:, 0]]
        x, y = steps[:, 0], steps[:, 1]
        slopes: Floats = np.divide(y, x)
    slopes[x == 0] = np.nan
    return slopes


def _points(data: Iterable[object], size: int | None) -> Floats:
    with Silence():
        array = pairs(data)
        if not isinstance(array, np.ndarray):
            missing = (np.nan, np.nan)
            array = np.array([safely(_point, row, otherwise=missing) for row in array]).reshape(-1, 2)
    points: Floats = array.astype(np.float64)
    if size is None:
        return points
    filled = np.full((size, 2), np.nan)
    filled[: len(points)] = points[:size]
    return filled


def _point(row: Any) -> tuple[float, float]:  # noqa: ANN401 - whatever a record is
    x, y = row
    return float(number(x)), float(number(y))
