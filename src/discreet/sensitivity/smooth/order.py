"""Order statistics: the r-th smallest number, a quantile, the median.

One record moves an order statistic to the next rank at most, so its local sensitivity is a gap between ranks, often far
smaller than the distance between the bounds (Nissim, Raskhodnikova and Smith, STOC 2007).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from discreet.errors import InvalidParameter
from discreet.exact import Real, plain, probability, show
from discreet.sensitivity.size import check_size
from discreet.sensitivity.smooth.sample import Bounds, Floats, check_bounds, sample
from discreet.sensitivity.smooth.scalar import Scalar
from discreet.sensitivity.smooth.windows import Windows
from discreet.units import Relation, check_relation

__all__ = ["Median", "OrderStatistic", "SampleQuantile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderStatistic(Scalar):
    """The number of some rank among numbers clamped to public bounds; rank 1 is the least.

    ``A(x, k)`` is the widest window of ``(k + 1) * rows`` ranks around this one, where ``rows`` is how many rows one
    person may have; at k = 0 the window begins or ends at this one. It is exact under ``replace_one`` if there are
    ``rank`` records or more and any ``rows`` rows can be one person's: k persons take the rows inside the widest
    window away, and one more crosses the gap. Where it is fixed whose rows are whose, it bounds from above. Of more
    than ``size`` records the least are kept, of fewer the missing ones count as the lower bound.

    Under ``add_remove`` it bounds from above: a row more or less moves the rank among the other rows by one at most, so
    a value k persons away lies in a window of ``k * rows`` ranks around the rank. With fewer than ``rank`` records the
    value is the upper bound, which stands behind them all.

    >>> third = OrderStatistic(rank=3, bounds=(0, 6)).at([5, 1, 3, 2, 6])
    >>> third.value, third.local(), third.local(1), round(third.smooth(0.1), 6)
    (3.0, 2.0, 3.0, 4.02192)
    """

    rank: int
    bounds: Bounds | None = None
    rows: int = 1
    relation: Relation = "replace_one"
    size: int | None = None

    def __post_init__(self) -> None:
        _whole(self.rank, "rank", "the least number has rank 1")
        _check(self, "order statistic", "OrderStatistic(rank=3, bounds=(0, 120))")

    @property
    def range(self) -> tuple[Real, Real]:
        """The bounds."""
        return _bounds(self.bounds)

    def at(self, records: Any, /) -> Windows:  # noqa: ANN401 - any numbers
        """Look at a data set."""
        points = sample(records, _bounds(self.bounds), size=self.size)
        rank = min(self.rank, points.size - 1)
        return _around(points, rank, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuantile(Scalar):
    """The least of n bounded numbers that a share ``probability`` of them does not exceed: rank ``ceil(p n)``.

    ``A(x, k)`` is that of the order statistic, exact under ``replace_one``. Under ``add_remove`` the rank itself moves
    with n, by 0 or 1 for each row; it stays within the same windows, so the same formula bounds from above: if y has e
    rows more and d rows less than x, its rank lies between ``r - d`` and ``r + e``, and a gap between two ranks next to
    it holds at most d rows of x, which together with r fit into ``d + e + 1`` ranks of x. The quantile of no records
    is the lower bound. A float is read as the decimal number it prints: 0.1 is a tenth.

    >>> SampleQuantile(probability=0.9, bounds=(0, 100)).at(range(1, 101)).value
    90.0
    """

    probability: Real
    bounds: Bounds | None = None
    rows: int = 1
    relation: Relation = "replace_one"
    size: int | None = None

    def __post_init__(self) -> None:
        probability(self.probability, "probability", one=True)
        object.__setattr__(self, "probability", plain(self.probability))
        _check(self, "quantile", "SampleQuantile(probability=0.9, bounds=(0, 120))")

    @property
    def range(self) -> tuple[Real, Real]:
        """The bounds."""
        return _bounds(self.bounds)

    def at(self, records: Any, /) -> Windows:  # noqa: ANN401 - any numbers
        """Look at a data set."""
        points = sample(records, _bounds(self.bounds), size=self.size)
        rank = rank_of(self.probability, points.size - 2)
        return _around(points, rank, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Median(Scalar):
    """The middle of bounded numbers: of an even number of them the average of the two middle ones.

    The average is a mean trimmed to two numbers, and its ``A(x, k)`` is exact: half the widest window that reaches
    ``k + 1`` ranks beyond both. ``kind`` may also be "lower" or "upper", the order statistic of the lower or the upper
    middle rank. Only these two are known under ``add_remove``, where the average changes from one to the other.

    >>> [str(Median(bounds=(0, 10), kind=kind).at([1, 2, 5, 9]).value) for kind in ("average", "lower", "upper")]
    ['7/2', '2.0', '5.0']
    """

    bounds: Bounds | None = None
    kind: Literal["average", "lower", "upper"] = "average"
    relation: Relation = "replace_one"
    size: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("average", "lower", "upper"):
            raise InvalidParameter(f'kind must be "average", "lower" or "upper", got {self.kind!r}.')
        _check(self, "median", "Median(bounds=(0, 120))")
        if self.kind == "average" and self.relation == "add_remove":
            raise InvalidParameter(
                "under add_remove the number of records may change between odd and even, and with it what an average "
                'median is. Write kind="lower".'
            )

    @property
    def range(self) -> tuple[Real, Real]:
        """The bounds."""
        return _bounds(self.bounds)

    def at(self, records: Any, /) -> Windows:  # noqa: ANN401 - any numbers
        """Look at a data set."""
        points = sample(records, _bounds(self.bounds), size=self.size)
        n = points.size - 2
        left, right = (n + 1) // 2, n // 2 + 1
        if self.kind != "average" or left == right or n == 0:
            rank = right if self.kind == "upper" else left
            return Windows(float(points[rank]), points, rank, rank)
        middle = (Fraction(points[left]) + Fraction(points[right])) / 2
        return Windows(middle, points, left, right, weight=Fraction(1, 2))


def rank_of(share: Real, n: int) -> int:
    """Return ``ceil(share n)``, a float being read as the decimal number it prints.

    >>> rank_of(0.1, 10), rank_of(Fraction(1, 3), 10), rank_of(0.5, 0)
    (1, 4, 0)
    """
    exact = Fraction(repr(float(share))) if isinstance(share, float) else Fraction(share)
    return -(-exact.numerator * n // exact.denominator)


def _around(points: Floats, rank: int, rows: int) -> Windows:
    """Look from a rank; windows that reach beyond all points, even from one end to the other, are no wider."""
    return Windows(float(points[rank]), points, rank, rank, rows=min(rows, points.size - 1))


def _bounds(bounds: object) -> tuple[float, float]:
    return check_bounds(bounds, query="order statistic", example="OrderStatistic(rank=3, bounds=(0, 120))")


def _whole(value: object, name: str, why: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidParameter(f"{name} must be an integer, got {type(value).__name__}.")
    if value < 1:
        raise InvalidParameter(f"{name} must be at least 1, got {show(value)}: {why}.")


def _check(query: OrderStatistic | SampleQuantile | Median, name: str, example: str) -> None:
    check_bounds(query.bounds, query=name, example=example)
    check_relation(query.relation)
    if not isinstance(query, Median):
        _whole(query.rows, "rows", "whoever has no rows needs no protection")
    if query.size is not None:
        object.__setattr__(query, "size", check_size(query.size))
        if query.relation == "add_remove":
            raise InvalidParameter("size must be left out under add_remove, where the number of records is private.")
