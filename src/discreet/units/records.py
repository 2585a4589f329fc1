"""Data sets as multisets of records.

A record is a number, a string, a tuple, a dictionary, a row of a numpy array. The same record may occur many
times, and each occurrence counts: a data set is never a Python set.

When are two records the same? Numbers of Python and numpy are if they are equal, so 1, 1.0 and True are one record: a
single missing value in an array turns whole numbers into floats, and that must not count as a change of everybody. A
NaN is the same as every other NaN, so that every data set is at distance 0 from itself. Lists, tuples and arrays are
the same if their entries are, and so are sets, and dictionaries. Values of other types are the same if they are of one
type and equal; but one moment in two time zones is two records, as both can be seen.

What is private towards neighbours must treat records that are the same alike: what an analyst's function of a record
says of 1 it must say of 1.0.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import cast

import numpy as np

from discreet.errors import InvalidInput

__all__ = ["frozen", "multiset", "records"]


def records(data: Iterable[object]) -> Sequence[object]:
    """Return the records of a data set, those of a numpy array as plain Python values.

    Sets drop repeated records, and iterating over a frame or a dictionary gives columns, so these are
    refused.

    >>> records(np.array([1.5, 2.5], dtype=np.float32))
    [1.5, 2.5]
    >>> records({"blond", "brown"})
    Traceback (most recent call last):
    discreet.errors.InvalidInput: a data set must be a sequence of records, got set. Pass a list or a
    numpy array with one entry for each record.
    """
    if isinstance(data, np.ndarray) and data.ndim > 0:
        return cast("list[object]", data.tolist())
    one_value = isinstance(data, str | bytes | np.ndarray) or not isinstance(data, Iterable)
    loses_rows = isinstance(data, Mapping | AbstractSet) or hasattr(data, "columns")
    if one_value or loses_rows:
        raise InvalidInput(
            f"a data set must be a sequence of records, got {type(data).__name__}. "
            "Pass a list or a numpy array with one entry for each record."
        )
    return data if isinstance(data, Sequence) else list(data)


def multiset(data: Iterable[object]) -> Counter[Hashable]:
    """Return how often each record occurs.

    >>> multiset([3, 5, 3]) == {3: 2, 5: 1}
    True
    """
    return Counter(frozen(record) for record in records(data))


@dataclass(frozen=True, slots=True)
class StandIn:
    """What tells a record apart that is no number, text or row of these: its type, and what is compared."""

    kind: type
    value: Hashable


def frozen(record: object) -> Hashable:
    """Return a hashable stand-in that is equal for records that are the same; a stand-in is its own.

    >>> frozen({"name": "Ada", "scores": [1, 2]}) == frozen({"scores": (1.0, 2), "name": "Ada"})
    True
    >>> frozen(Decimal("0.50")) == frozen(Decimal("0.5")), frozen(Decimal("0.5")) == frozen(0.5)
    (True, False)
    """
    kind = type(record)
    if kind in PLAIN:
        return record if record == record else math.nan  # only a NaN differs from itself
    if isinstance(record, Mapping):
        pairs = frozenset((frozen(name), frozen(value)) for name, value in record.items())
        return StandIn(dict if isinstance(record, dict) else kind, pairs)
    if isinstance(record, AbstractSet):
        values = frozenset(frozen(value) for value in record)
        return values if isinstance(record, set | frozenset) else StandIn(kind, values)
    if isinstance(record, np.ndarray | np.generic):
        plain = record.tolist()
        if isinstance(plain, np.longdouble) and float(plain) == plain:
            return float(plain)
        if isinstance(plain, np.longdouble) and plain != plain:
            return math.nan
        if isinstance(plain, np.longdouble | np.clongdouble):  # which no Python number equals
            return StandIn(type(plain), plain if plain == plain else math.nan)
        return frozen(plain) if kind is np.ndarray or isinstance(record, np.generic) else StandIn(kind, frozen(plain))
    if isinstance(record, list | tuple):
        return tuple(frozen(value) for value in record)
    return record if kind is StandIn else _standing_in(record)


def _standing_in(record: object) -> Hashable:
    kind = type(record)
    if not isinstance(record, Hashable):
        raise InvalidInput(
            "a record must be made of numbers, strings, tuples and dictionaries, "
            f"and one holds a value of type {kind.__name__}."
        )
    if kind is Decimal and cast("Decimal", record).is_nan():
        return math.nan
    if kind is Fraction:
        exact = cast("Fraction", record)
        return StandIn(kind, (int(exact.numerator), int(exact.denominator)))  # of numpy they would have no hash
    if isinstance(record, datetime | time):
        zone = record.tzinfo
        clock = record.replace(tzinfo=None, fold=0)
        return StandIn(kind, (clock, record.fold, None if zone is None else (type(zone), repr(zone))))
    try:
        return StandIn(kind, record if record == record else math.nan)
    except (TypeError, ValueError):  # pandas does not say whether a missing value is equal to itself
        return StandIn(kind, record)


PLAIN = frozenset({type(None), bool, int, float, str, bytes})
"""Types whose values are told apart as Python does."""
