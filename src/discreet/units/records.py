"""Data sets as multisets of records.

A record is a number, a string, a tuple, a dictionary, a row of a numpy array. The same record may occur many
times, and each occurrence counts: a data set is never a Python set. Two records are the same when Python
calls them equal, except that a NaN is the same as every other NaN, so that every data set is at distance 0
from itself.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
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


def frozen(record: object) -> Hashable:
    """Return a hashable stand-in that is equal for equal records.

    >>> frozen({"name": "Ada", "scores": [1, 2]}) == frozen({"scores": (1, 2), "name": "Ada"})
    True
    """
    if isinstance(record, Mapping):
        return frozenset((name, frozen(value)) for name, value in record.items())
    if isinstance(record, AbstractSet):
        return frozenset(frozen(value) for value in record)
    if isinstance(record, np.ndarray | np.generic):
        plain = record.tolist()
        return plain if isinstance(plain, np.generic) else frozen(plain)  # long doubles stay as they are
    if isinstance(record, list | tuple):
        return tuple(frozen(value) for value in record)
    if not isinstance(record, Hashable):
        raise InvalidInput(
            "a record must be made of numbers, strings, tuples and dictionaries, "
            f"and one holds a value of type {type(record).__name__}."
        )
    return record if record == record else math.nan  # only a NaN differs from itself
