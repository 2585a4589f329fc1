"""Functions made of functions: sums, multiples, the larger of several, Lipschitz maps, vectors.

Each rule takes smooth bounds of the parts to a smooth bound of the whole; ``Combined`` says why.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.exact import Real, finite, plain, positive
from discreet.quietly import quietly
from discreet.sensitivity.smooth.column import once
from discreet.sensitivity.smooth.combined import Combined
from discreet.sensitivity.smooth.constant import check_range
from discreet.sensitivity.smooth.function import Function, Vicinity
from discreet.sensitivity.smooth.scalar import Scalar
from discreet.units import Relation

__all__ = ["Lipschitz", "Maximum", "Minimum", "Scaled", "Stack", "Sum"]


@dataclass(frozen=True, slots=True)
class _Parts(Scalar):
    """Functions of the same records."""

    functions: tuple[Function, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", tuple(self.functions))
        if not self.functions:
            raise InvalidParameter("at least one function is needed, got none.")
        if len({function.relation for function in self.functions}) > 1:
            raise RelationMismatch("all functions must have the same relation, and these have two.")
        if len({function.size for function in self.functions} - {None}) > 1:
            raise InvalidParameter("all functions must have the same size, and these have several.")
        if any(function.dimension != 1 for function in self.functions):
            raise InvalidParameter("every function must give one number. Make vectors with Stack.")

    @property
    def relation(self) -> Relation:
        """That of all parts."""
        return self.functions[0].relation

    @property
    def size(self) -> int | None:
        """That of all parts which say one."""
        return next((function.size for function in self.functions if function.size is not None), None)

    def _ends(self, choose: Callable[[list[Fraction]], Fraction]) -> tuple[Real, Real]:
        low, high = ([Fraction(function.range[i]) for function in self.functions] for i in (0, 1))
        return choose(low), choose(high)

    def _look(self, records: Any) -> tuple[tuple[Vicinity, ...], list[Fraction]]:  # noqa: ANN401
        data = once(records)
        parts = tuple(function.at(data) for function in self.functions)
        return parts, [_number(part) for part in parts]


@dataclass(frozen=True, slots=True)
class Sum(_Parts):
    """The sum of functions. ``|sum f(x) - sum f(y)| <= sum |f(x) - f(y)|``, so bounds are added.

    >>> from discreet.sensitivity.smooth.order import OrderStatistic
    >>> ends = Sum((OrderStatistic(rank=1, bounds=(0, 9)), OrderStatistic(rank=3, bounds=(0, 9)))).at([2, 4, 8])
    >>> ends.value, ends.local()
    (Fraction(10, 1), 6.0)
    """

    @property
    def range(self) -> tuple[Real, Real]:
        """The sums of the ends."""
        return self._ends(sum)  # type: ignore[arg-type]

    def at(self, records: Any, /) -> Combined:  # noqa: ANN401
        """Look at a data set."""
        parts, values = self._look(records)
        return Combined(sum(values, Fraction(0)), parts, sum)


@dataclass(frozen=True, slots=True)
class Maximum(_Parts):
    """The largest of functions. ``|max f(x) - max f(y)| <= max |f(x) - f(y)|``, so the largest bound holds.

    >>> from discreet.sensitivity.smooth.order import OrderStatistic
    >>> Maximum((OrderStatistic(rank=1, bounds=(0, 9)), OrderStatistic(rank=3, bounds=(0, 9)))).at([2, 4, 8]).local()
    4.0
    """

    @property
    def range(self) -> tuple[Real, Real]:
        """The largest ends."""
        return self._ends(max)

    def at(self, records: Any, /) -> Combined:  # noqa: ANN401
        """Look at a data set."""
        parts, values = self._look(records)
        return Combined(max(values), parts, max)


@dataclass(frozen=True, slots=True)
class Minimum(_Parts):
    """The smallest of functions: minus the largest of their negatives, so the largest bound holds."""

    @property
    def range(self) -> tuple[Real, Real]:
        """The smallest ends."""
        return self._ends(min)

    def at(self, records: Any, /) -> Combined:  # noqa: ANN401
        """Look at a data set."""
        parts, values = self._look(records)
        return Combined(min(values), parts, max)


@dataclass(frozen=True, slots=True)
class Stack(_Parts):
    """Several numbers as one vector, whose moves are measured in the 1-norm: a sum of moves, so bounds are added.

    Values that are no floats are rounded to the nearest one, and what two such roundings can add to a move is added to
    the bound.
    """

    @property
    def dimension(self) -> int:
        """How many functions there are."""
        return len(self.functions)

    @property
    def range(self) -> tuple[Real, Real]:
        """The least and the greatest end of all."""
        return self._ends(min)[0], self._ends(max)[1]

    def at(self, records: Any, /) -> Combined:  # noqa: ANN401
        """Look at a data set."""
        parts, values = self._look(records)
        largest = max(abs(Fraction(end)) for end in self.range)
        rounding = 0.0 if all(isinstance(part.value, float) for part in parts) else float(largest) * 2.0**-52
        return Combined(np.array([float(x) for x in values]), parts, partial(_line, 1.0, len(parts) * rounding))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lipschitz(Scalar):
    """A map of the value of a function that moves by at most ``constant`` times what the value moves.

    ``|g(f(x)) - g(f(y))| <= constant |f(x) - f(y)|``, so bounds are multiplied. The map takes a ``Fraction``; that it
    keeps its promise between the ends of the function's range, and maps into ``range``, is the caller's word. What its
    results may be off by, rounded as floats are, is ``error``, which is added twice to the bounds. Where the map fails,
    or gives no number, nothing tells so, and the value is the least of the ``range``: its promise is about that too.

    >>> from discreet.sensitivity.smooth.order import Median
    >>> distance = Lipschitz(function=Median(bounds=(0, 9)), map=lambda m: abs(m - 5), constant=1, range=(0, 5))
    >>> distance.at([2, 4, 8]).value, distance.at([2, 4, 8]).local()
    (Fraction(1, 1), 4.0)
    """

    function: Function
    map: Callable[[Fraction], Real]
    constant: Real
    range: tuple[Real, Real]
    error: Real = 0

    def __post_init__(self) -> None:
        _single(self.function)
        positive(self.constant, "constant")
        if finite(self.error, "error") < 0:
            raise InvalidParameter("error must be at least 0.")
        object.__setattr__(self, "range", check_range(self.range))
        for name in ("constant", "error"):
            object.__setattr__(self, name, plain(getattr(self, name)))

    @property
    def relation(self) -> Relation:
        """That of the function."""
        return self.function.relation

    @property
    def size(self) -> int | None:
        """That of the function."""
        return self.function.size

    def at(self, records: Any, /) -> Combined:  # noqa: ANN401
        """Look at a data set."""
        part = self.function.at(records)
        low, high = (Fraction(end) for end in self.range)
        found = quietly(lambda: Fraction(self.map(_number(part))), otherwise=low)
        value = min(max(found, low), high)
        return Combined(value, (part,), partial(_line, float(self.constant), 2 * float(self.error)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled(Scalar):
    """A function times a constant other than 0. ``|c f(x) - c f(y)| = |c| |f(x) - f(y)|``, so bounds are multiplied.

    >>> from discreet.sensitivity.smooth.order import Median
    >>> dollars = Scaled(function=Median(bounds=(0, 9)), factor=-100).at([2, 4, 8])
    >>> dollars.value, dollars.local()
    (Fraction(-400, 1), 400.0)
    """

    function: Function
    factor: Real

    def __post_init__(self) -> None:
        _single(self.function)
        if finite(self.factor, "factor") == 0:
            raise InvalidParameter("factor must not be 0: the product would always be 0.")
        object.__setattr__(self, "factor", plain(self.factor))

    @property
    def relation(self) -> Relation:
        """That of the function."""
        return self.function.relation

    @property
    def size(self) -> int | None:
        """That of the function."""
        return self.function.size

    @property
    def range(self) -> tuple[Real, Real]:
        """The multiples of the ends, in rising order."""
        low, high = sorted(Fraction(end) * Fraction(self.factor) for end in self.function.range)
        return low, high

    def at(self, records: Any, /) -> Combined:  # noqa: ANN401
        """Look at a data set."""
        part = self.function.at(records)
        return Combined(Fraction(self.factor) * _number(part), (part,), partial(_line, abs(float(self.factor)), 0.0))


def _single(function: Function) -> None:
    if function.dimension != 1:
        raise InvalidParameter("the function must give one number, and this one gives a vector.")


def _number(part: Vicinity) -> Fraction:
    value = part.value
    assert not isinstance(value, np.ndarray)  # noqa: S101 - of dimension 1, as was checked
    return Fraction(value)


def _line(factor: float, constant: float, bounds: Sequence[float]) -> float:
    return factor * sum(bounds) + constant
