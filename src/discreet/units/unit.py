"""Privacy units: whose presence is hidden, with a distance between data sets that can be run.

Differential privacy bounds what changes between data sets at distance 1 and, by group privacy, at distance k
(Dwork, McSherry, Nissim and Smith, TCC 2006). Protecting rows is weaker than protecting the people who wrote
them: a person with ten rows is at row distance 10, which is why the unit is part of every guarantee.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from discreet.errors import InvalidInput, InvalidParameter
from discreet.units.records import frozen, multiset, records
from discreet.units.relation import Relation, check_relation

__all__ = ["Person", "Row"]

MOST = 2**40
"""Larger bounds bound nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Each row is protected by itself. Under ``replace_one`` the number of rows is public: say it as ``size``.

    >>> Row(relation="add_remove").distance([1, 2, 2], [2, 2, 2])
    2
    >>> Row(relation="replace_one").distance([1, 2, 2], [2, 2, 2])
    1
    """

    relation: Relation = "add_remove"
    size: int | None = None

    def __post_init__(self) -> None:
        check_relation(self.relation)
        if self.size is not None:
            _at_least(self.size, "size", 0)
            if self.relation != "replace_one":
                raise InvalidParameter("the number of rows is private under add_remove: leave size out.")

    def __repr__(self) -> str:
        size = "" if self.size is None else f", size={self.size}"
        return f"Row(relation={self.relation!r}{size})"

    def distance(self, a: Iterable[object], b: Iterable[object], /) -> float:
        """Return how many rows were added or removed, or substituted (infinite if that cannot be)."""
        return _steps(multiset(a), multiset(b), self.relation)

    def neighbours(self, a: Iterable[object], b: Iterable[object], /) -> bool:
        """Return whether a and b differ by exactly one row."""
        return self.distance(a, b) == 1


@dataclass(frozen=True, slots=True)
class Person:
    """All rows of a person are protected together; ``key`` is the column or position naming the person.

    What counts of a person is bounded before it is released: at most ``groups`` groups of a query, and in each of them
    at most ``rows`` rows. Both are needed to release from a table; smaller bounds need less noise and lose more data.

    A person whose rows changed is removed and added again under ``add_remove``, which costs 2, and is
    substituted under ``replace_one``, which costs 1 and keeps the number of persons, not of rows, public.

    >>> before = [{"user": "Ada", "spent": 5}, {"user": "Ada", "spent": 7}, {"user": "Bob", "spent": 1}]
    >>> after = [{"user": "Bob", "spent": 1}]
    >>> Person("user").distance(before, after), Row().distance(before, after)
    (1, 2)
    >>> Person("user", relation="replace_one").distance(before, after)
    inf
    """

    key: str | int
    _: KW_ONLY
    groups: int | None = None
    rows: int | None = None
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        check_relation(self.relation)
        for name, bound in (("groups", self.groups), ("rows", self.rows)):
            if bound is not None:
                _at_least(bound, name, 1)

    def __repr__(self) -> str:
        bounds = [f", {name}={value}" for name, value in (("groups", self.groups), ("rows", self.rows)) if value]
        return f"Person({self.key!r}{''.join(bounds)}, relation={self.relation!r})"

    def distance(self, a: Iterable[object], b: Iterable[object], /) -> float:
        """Return how many persons were added or removed, or substituted (infinite if that cannot be)."""
        return _steps(self._persons(a), self._persons(b), self.relation)

    def neighbours(self, a: Iterable[object], b: Iterable[object], /) -> bool:
        """Return whether a and b differ by exactly one person."""
        return self.distance(a, b) == 1

    def _persons(self, data: Iterable[object]) -> Counter[Hashable]:
        """Return the multiset of persons, each being the multiset of their rows (which hold the key)."""
        rows_of = defaultdict[Hashable, list[object]](list)
        for row in records(data):
            rows_of[frozen(self._owner(row))].append(row)
        return Counter(frozenset(multiset(rows).items()) for rows in rows_of.values())

    def _owner(self, row: object) -> object:
        key = self.key
        if isinstance(row, Mapping) and key in row:
            return row[key]
        if isinstance(row, list | tuple | np.ndarray) and isinstance(key, int) and 0 <= key < len(row):
            return row[key]
        raise InvalidInput(
            f"every row must say whose it is under {key!r}, and one does not. "
            "Pass dictionaries that hold this key, or tuples and the position of the key in them."
        )


def _at_least(value: object, name: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
        raise InvalidParameter(f"{name} must be a whole number from {least} to {MOST}, got {value!r}.")


def _steps(a: Counter[Hashable], b: Counter[Hashable], relation: Relation) -> float:
    gone, new = (a - b).total(), (b - a).total()
    if relation == "add_remove":
        return gone + new
    return gone if gone == new else math.inf
