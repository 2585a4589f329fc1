"""The global sensitivity as a smooth bound: a constant is smooth for every beta."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, plain, upward
from discreet.quietly import Silence
from discreet.sensitivity.smooth.column import once
from discreet.sensitivity.smooth.levels import LEAST, Levels
from discreet.sensitivity.smooth.scalar import Scalar
from discreet.sensitivity.total import safely
from discreet.units import Relation, check_relation
from discreet.units import records as rows_of

__all__ = ["Constant", "check_range"]


class Query(Protocol):
    """A query of one number that knows its sensitivity, such as those of ``discreet.sensitivity``."""

    def __call__(self, data: Any, /) -> Real:  # noqa: ANN401
        """Answer."""
        ...

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return how far one record can move the answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant(Scalar):
    """A query whose sensitivity is the same everywhere, as far as is known: ``A(x, k)`` is the global sensitivity.

    So a mean or a count may stand beside functions that know more of themselves. Answers outside ``range`` are moved to
    its nearer end, which moves no two of them apart. Where the query fails, each record on which it fails alone counts
    as missing (None), so that neighbours stay neighbours; where it still fails, the answer is the least of the range.

    >>> from discreet.sensitivity.mean import Mean
    >>> age = Constant(query=Mean(bounds=(0, 120), size=3), relation="replace_one", range=(0, 120)).at([20, 30, 70])
    >>> age.value, age.local(), age.local(7), age.distance(39), age.distance(40)
    (Fraction(40, 1), 40.0, 40.0, 0, None)
    """

    query: Query
    relation: Relation
    range: tuple[Real, Real]
    size: int | None = None

    def __post_init__(self) -> None:
        check_relation(self.relation)
        object.__setattr__(self, "range", check_range(self.range))
        finite(self.query.sensitivity(relation=self.relation), "the sensitivity of the query")

    def at(self, records: Any, /) -> Levels:  # noqa: ANN401
        """Look at a data set."""
        low, high = (Fraction(end) for end in self.range)
        most = upward(Fraction(self.query.sensitivity(relation=self.relation)))
        data = once(records)
        with Silence():
            answer = safely(self._answer, data, otherwise=None)
            if answer is None:
                answer = safely(self._answer, safely(self._readable, data, otherwise=None), otherwise=low)
        return Levels(value=min(max(answer, low), high), levels=np.array([max(most, LEAST)]))

    def _answer(self, records: Any) -> Fraction:  # noqa: ANN401
        return Fraction(self.query(records))

    def _readable(self, records: Any) -> list[object]:  # noqa: ANN401
        """Return the records, None for each that the query cannot answer for by itself."""
        return [None if safely(self._answer, [row], otherwise=None) is None else row for row in rows_of(records)]


def check_range(ends: object) -> tuple[Real, Real]:
    """Return the least and the greatest value that a user wrote, as plain numbers.

    >>> check_range((0, np.int8(100)))
    (0, 100)
    """
    if not isinstance(ends, tuple | list) or len(ends) != 2 or finite(ends[0], "range") > finite(ends[1], "range"):
        raise InvalidParameter("range must be (least, greatest).")
    return plain(ends[0]), plain(ends[1])
