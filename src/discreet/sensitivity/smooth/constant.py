"""The global sensitivity as a smooth bound: a constant is smooth for every beta."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, upward
from discreet.sensitivity.smooth.levels import LEAST, Levels
from discreet.sensitivity.smooth.scalar import Scalar
from discreet.units import Relation, check_relation

__all__ = ["Constant"]


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
    its nearer end, which moves no two of them apart.

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
        if not finite(self.range[0], "range") <= finite(self.range[1], "range"):
            raise InvalidParameter("range must be (least, greatest).")

    def at(self, records: Any, /) -> Levels:  # noqa: ANN401
        """Look at a data set."""
        low, high = (Fraction(end) for end in self.range)
        most = upward(Fraction(self.query.sensitivity(relation=self.relation)))
        answer = min(max(Fraction(self.query(records)), low), high)
        return Levels(value=answer, levels=np.array([max(most, LEAST)]))
