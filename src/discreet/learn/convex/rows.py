"""Rows of a table as vectors of bounded norm on a public grid.

Each row is read by itself: divided by the declared norm, shortened to length 1 if it is longer, and rounded towards
zero to multiples of ``2^-20``. So its norm is at most 1 exactly, and sums of products of such numbers are exact. A row
that holds anything but finite numbers does not count: there is no error that could tell of it.
"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, finite, positive, show, up
from discreet.learn.convex.rowwise import squared_lengths
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.quietly import quietly
from discreet.units import check_numeric

__all__ = ["GRID", "GRID_BITS", "LARGEST", "Examples", "Rows", "as_numbers", "one_column", "single", "within_range"]

GRID_BITS = 20
GRID: float = 2.0**-GRID_BITS
SHORTER: float = 1 - 2.0**-40
"""More than what float64 errs by in a norm of up to 2^12 columns: 2^-53 for each operation."""

LARGEST: int = 1 << 100
"""What is declared lies between its inverse and this: float64 then holds all that is computed from it."""

MOST_FEATURES = 1 << 12
MOST_INTERCEPT = 16


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Examples:
    """Rows and targets that were read: as secret as the data, so that no text shows them."""

    rows: Floats
    targets: Floats

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Rows:
    """How rows of ``features`` columns are read: to norm ``norm`` at most, and with a constant column ``intercept``.

    The norm is L2, or the largest entry with ``shape="box"``. Inside, a row has norm 1 at most before its intercept is
    put beside it, whatever was declared, so that no constant of a loss depends on the unit of the data.

    >>> Rows(features=2, norm=10).read([[3, 4], [30, 40], [float("nan"), 0]]).round(4).tolist()
    [[0.3, 0.4], [0.6, 0.8]]
    """

    features: int
    norm: Real
    intercept: Real = 0
    shape: str = "ball"

    def __post_init__(self) -> None:
        if type(self.features) is not int or not 1 <= self.features <= MOST_FEATURES:
            raise InvalidParameter(f"features must be a whole number from 1 to {MOST_FEATURES}, got {self.features!r}.")
        within_range(positive(self.norm, "norm"), "norm")
        if self.shape not in ("ball", "box"):
            raise InvalidParameter(f'shape must be "ball" or "box", got {self.shape!r}.')
        constant = Fraction(self.intercept)
        if not 0 <= constant <= MOST_INTERCEPT:
            raise InvalidParameter(f"intercept must lie between 0 (none) and {MOST_INTERCEPT}, got {show(constant)}.")
        store(self, norm=self.norm, intercept=Fraction(math.floor(constant / Fraction(GRID))) * Fraction(GRID))

    def __repr__(self) -> str:
        more = f", intercept={show(self.intercept)}" if self.intercept else ""
        more += "" if self.shape == "ball" else f", shape={self.shape!r}"
        return f"Rows(features={self.features}, norm={show(self.norm)}{more})"

    @property
    def width(self) -> int:
        """How many columns a row has inside: one more with an intercept."""
        return self.features + bool(self.intercept)

    @property
    def reach(self) -> Fraction:
        """The largest L2 norm of a row inside.

        >>> round(float(Rows(features=3, norm=5, intercept=1).reach), 6)
        1.414214
        """
        square = (1 if self.shape == "ball" else self.features) + Fraction(self.intercept) ** 2
        return Fraction(up(lambda: ball(square).sqrt()))

    @property
    def tallest(self) -> Fraction:
        """The largest entry of a row inside."""
        return max(Fraction(1), Fraction(self.intercept))

    def read(self, table: Any, /) -> Floats:  # noqa: ANN401 - whatever numpy takes
        """Return the rows that count."""
        return self.examples(table, None).rows

    def examples(self, table: Any, targets: Floats | None, kept: Any = None) -> Examples:  # noqa: ANN401
        """Return the rows that count, with their targets; ``kept`` says which records have one."""
        numbers = as_numbers(table, self.features)
        counts = np.isfinite(numbers).all(axis=1)
        if targets is not None and len(targets) != len(numbers):
            raise InvalidInput("there must be one target for each row.")
        if kept is not None:
            counts &= kept
        inside = self._inside(numbers[counts])
        found = np.zeros(len(inside)) if targets is None else targets[counts]
        return Examples(inside, found)

    def weights(self, inside: Floats) -> tuple[Floats, Floats | float]:
        """Return weights for rows as they were given, and the intercept, from weights for rows inside."""
        if not self.intercept:
            return inside / float(self.norm), 0.0 if inside.ndim == 1 else np.zeros(inside.shape[1:])
        return inside[:-1] / float(self.norm), inside[-1] * float(self.intercept)

    def _inside(self, numbers: Floats) -> Floats:
        """Shorten and round rows; dividing by the largest entry first keeps every number in range."""
        largest = np.max(np.abs(numbers), axis=1, initial=0.0, keepdims=True)
        unit = numbers / np.where(largest > 0, largest, 1.0)
        length = np.sqrt(squared_lengths(unit)) if self.shape == "ball" else np.ones_like(largest)
        with np.errstate(over="ignore"):
            scale = np.minimum(largest / float(self.norm), 1 / np.maximum(length, 1.0)) * SHORTER
        rows: Floats = np.trunc(unit * scale * 2.0**GRID_BITS) * GRID
        if not self.intercept:
            return rows
        return np.hstack([rows, np.full((len(rows), 1), float(self.intercept))])


def within_range(value: Real, name: str) -> Fraction:
    """Return a declared number exactly if it is 0 or its size lies between 2^-100 and 2^100, or refuse it.

    >>> within_range(0.5, "width")
    Fraction(1, 2)
    """
    exact = finite(value, name)
    if exact and not Fraction(1, LARGEST) <= abs(exact) <= LARGEST:
        raise InvalidParameter(f"{name} must lie between 2^-100 and 2^100 in size, or be 0. Use another unit of it.")
    return exact


def as_numbers(table: Any, features: int | None = None) -> Floats:  # noqa: ANN401 - whatever numpy takes
    """Return a table of floats; what is no number becomes NaN, without a word. Only shape and types can be refused.

    A row of a list that is no row, or has another length than ``features``, or than most where that is not given, is
    NaN throughout.

    >>> as_numbers([[1, "a"], [2, 3], [4]])
    array([[ 1., nan],
           [ 2.,  3.],
           [nan, nan]])
    """
    if not hasattr(table, "__array__"):
        return _listed(list(table), features)
    check_numeric(table)
    array = np.asarray(table)
    _check_no_times(array)
    if array.ndim != 2 or (features is not None and array.shape[1] != features):
        raise _shape(features, array.ndim)
    return _floats(array)


def one_column(values: Any) -> Floats:  # noqa: ANN401 - whatever numpy takes
    """Return one number for each record; what is no number becomes NaN, without a word.

    >>> one_column([1, "a", [3], [4, 5]])
    array([ 1., nan,  3., nan])
    """
    if not hasattr(values, "__array__"):
        return np.array([_number(single(value)) for value in values], dtype=np.float64)
    check_numeric(values, "a column")
    array = np.asarray(values)
    _check_no_times(array)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != 1:
        raise InvalidInput("one target for each row is needed, in one column.")
    return _floats(array)[:, 0]


def single(value: Any) -> Any:  # noqa: ANN401 - any record
    """Return the entry of a row of one, and anything else as it is."""
    row = _row(value)
    return row[0] if row is not None and len(row) == 1 else value


def _check_no_times(array: npt.NDArray[Any]) -> None:
    """Refuse dates and durations of what declares no types itself: as whole numbers they would depend on their unit."""
    if array.dtype.kind in "Mm":
        check_numeric(array)


def _floats(array: npt.NDArray[Any]) -> Floats:
    if array.dtype.kind in "biuf":
        with np.errstate(all="ignore"):  # a long double may be too large
            return np.asarray(array, dtype=np.float64)
    return np.array([[_number(x) for x in row] for row in array.tolist()], dtype=np.float64).reshape(array.shape)


def _listed(table: list[Any], features: int | None) -> Floats:
    """Return a list of rows as floats, each row read by itself."""
    rows = [_row(record) for record in table]
    width = features
    if width is None:
        width = _usual([-1 if row is None else len(row) for row in rows])
        if width < 0:
            raise _shape(features, 1)
        if width and _usual([int(row is not None and bool(row) and _row(row[0]) is not None) for row in rows]):
            raise _shape(features, 3)
    missing = [math.nan] * width
    found = [missing if row is None or len(row) != width else [_number(x) for x in row] for row in rows]
    return np.array(found, dtype=np.float64).reshape(len(found), width)


def _usual(numbers: list[int]) -> int:
    """Return the number that occurs most often, or -1 of none: one record among several alike does not change it."""
    return Counter(numbers).most_common(1)[0][0] if numbers else -1


def _row(record: Any) -> list[Any] | None:  # noqa: ANN401 - any record
    """Return the entries of a record that is a row, read as its kind is and not as a class of its own may say."""
    kind = type(record)
    if issubclass(kind, list):
        return list(list.__iter__(record))
    if issubclass(kind, tuple):
        return list(tuple.__iter__(record))
    if kind is np.ndarray and record.ndim:
        return list(record)
    if issubclass(kind, int | float | str):
        return None
    return quietly(lambda: list(np.asarray(record)) if hasattr(kind, "__array__") else None, otherwise=None)


def _shape(features: int | None, dimensions: int) -> InvalidInput:
    wanted = "a table of rows" if features is None else f"a table of {features} columns"
    return InvalidInput(f"{wanted} is needed, got an array of {dimensions} dimensions. Reshape your data.")


def _number(value: object) -> float:
    return quietly(lambda: float(value), otherwise=math.nan)  # type: ignore[arg-type]
