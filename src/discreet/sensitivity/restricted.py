"""Restricted sensitivity: how far an answer moves among the data sets one believes in.

Blocki, Blum, Datta and Sheffet, "Differentially Private Data Analysis of Social Networks via Restricted Sensitivity",
ITCS 2013. For graphs whose degrees are believed to be small, ``discreet.sensitivity.graphs`` has statistics that need
no list of graphs.
"""

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, cast

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.exact import Real
from discreet.quietly import Silence
from discreet.sensitivity.norms import norm
from discreet.sensitivity.reals import real
from discreet.sensitivity.smooth.column import once
from discreet.sensitivity.total import safely
from discreet.units import Relation, Row, check_relation, frozen, records

__all__ = ["Restricted"]

ODD = ("a record that cannot be compared", object())
"""It equals itself alone."""


@dataclass(frozen=True, slots=True)
class Restricted:
    """A function as it is on a public list of data sets, carried on to all others without moving any faster.

    Let R be the largest ``|f(x) - f(y)| / d(x, y)`` over the list. Then ``min over y of f(y) + R d(x, y)`` is f on the
    list (McShane, "Extension of Range of Functions", Bull. AMS 1934) and changes by at most R between any neighbours,
    on the list or not, because ``d(x, y)`` changes by at most 1: has sensitivity R under ``relation`` whenever d is a
    metric in which neighbours are at distance 1 or less. So noise is private whatever the data is, and the answer is
    right if the data is on the list. The function is asked on the list alone. By default d is how many records must be
    added and removed, or replaced; records that cannot be compared all count as one and the same, which is on no list.
    Data at infinite distance from the whole list has the least value on it.

    >>> few = Restricted(max, hypothesis=([1, 2, 3], [1, 2, 4], [1, 3, 4]), relation="replace_one")
    >>> str(few.sensitivity(relation="replace_one")), str(few([1, 2, 4])), str(few([900, 2, 4]))
    ('1', '4', '5')
    """

    function: Callable[[Any], object]
    _: KW_ONLY
    hypothesis: tuple[Any, ...]
    relation: Relation
    distance: Callable[[Any, Any], Real] | None = None
    values: tuple[Fraction, ...] = field(init=False, repr=False)
    rate: Fraction = field(init=False, repr=False)
    answers: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        check_relation(self.relation)
        hypothesis = tuple(map(once, self.hypothesis))
        if not hypothesis:
            raise InvalidParameter("hypothesis must list one data set or more.")
        object.__setattr__(self, "values", tuple(_rational(self.function(data)) for data in hypothesis))
        kept = hypothesis if self.distance is not None else tuple(tuple(records(data)) for data in hypothesis)
        object.__setattr__(self, "hypothesis", kept)
        object.__setattr__(self, "rate", self._rate())

    def _rate(self) -> Fraction:
        rate = Fraction(0)
        for (x, at_x), (y, at_y) in combinations(zip(self.hypothesis, self.values, strict=True), 2):
            apart = self._apart(x, y)
            if apart == 0 and at_x != at_y:
                raise InvalidParameter(
                    "the function must be equal on data sets at distance 0, and on two of the hypothesis it is not. "
                    "Write a function that ignores the order of records, or another distance."
                )
            if apart and apart != math.inf:
                rate = max(rate, abs(at_x - at_y) / Fraction(apart))
        return rate

    def _apart(self, x: Any, y: Any) -> Real:  # noqa: ANN401 - any data sets
        measure = Row(relation=self.relation).distance if self.distance is None else self.distance
        apart = measure(x, y)
        if not apart >= 0:
            raise InvalidParameter("distance must give a number from 0 on, or infinity.")
        return apart

    def __call__(self, data: Iterable[object], /) -> Fraction:
        """Return the value, an exact fraction."""
        known = once(data) if self.distance is not None else _comparables(data)
        distances = [self._apart(known, one) for one in self.hypothesis]
        reached = [
            value + self.rate * Fraction(apart)
            for value, apart in zip(self.values, distances, strict=True)
            if apart != math.inf
        ]
        return min(reached, default=min(self.values))

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return R; a single number changes by the same amount in every norm."""
        if check_relation(relation) != self.relation:
            raise RelationMismatch(
                f"the distance is that of {self.relation}, and the sensitivity was asked for {relation}. "
                f'Write relation="{relation}" in both places.'
            )
        return norm([self.rate], p)


def _comparables(data: Iterable[object]) -> list[Hashable]:
    """Return what stands for each record in a multiset, whatever the record is."""
    with Silence():
        return [cast("Hashable", safely(_frozen, record, otherwise=ODD)) for record in records(data)]


def _frozen(record: object) -> Hashable:
    stand_in = frozen(record)
    hash(stand_in)
    return stand_in


def _rational(answer: object) -> Fraction:
    number = real(answer)
    if isinstance(number, float):
        raise InvalidParameter("the function must be finite on the hypothesis, and is not.")
    return number
