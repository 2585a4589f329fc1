"""Records told apart by all that can be seen of them, and shown again from nothing but that.

Equal values may look different: 1 and 1.0, ``Decimal("1.50")`` and ``Decimal("1.5")``, one moment in two time zones, a
set filled in another order. If they were counted as one value, and that value shown as the first record has it, then
one record would decide what is shown. So a record is turned into a key that holds everything that can be seen of it,
and what is shown is made from the key alone.

How all others look must not depend on one record either, and an array of whole numbers becomes one of floats if a
single value is missing. So numbers that are equal have one key and one look: False, 0.0 and -0.0 are 0, and 7.0 is 7.
Decimals have as many digits as they need. In general records that are the same for ``discreet.units.frozen``, which
says how far data sets are apart, have one key, unless they are of types with methods of their own that say otherwise.

This is possible for a closed list of types: None, bool, int, float, str, bytes, Fraction, Decimal, date, time, datetime
and timedelta, with a ``datetime.timezone`` or a ``ZoneInfo`` by its name; numpy's scalars as Python's; lists, tuples
and arrays as tuples; sets as frozensets; and dictionaries as sorted tuples of pairs. Everything else counts as None:
other types, what is nested deeper than ``DEEPEST`` or has more than ``MOST`` parts, what contains itself.
"""

import math
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any, cast
from zoneinfo import ZoneInfo

import numpy as np

from discreet.mechanisms.quietly import quietly

__all__ = ["NONE", "Key", "alike", "key_of", "shown", "unpacked"]

Key = tuple[Any, ...]
"""A name of a type and what was seen of the value: numbers, texts and further keys, of one kind for each type."""
NONE: Key = ("none",)
DEEPEST = 16
MOST = 1 << 16
SHORT = 20
"""Whole decimals with up to so many zeros at the end are written with them."""
MICROSECOND = timedelta(microseconds=1)


class Unfit(Exception):
    """A record of which no key can be made; caught here, and never shown."""


def key_of(record: object) -> Key:
    """Return a key: records have the same one if nothing tells them apart, or if none of them can be shown.

    >>> key_of(7.0) == key_of(7), key_of([1]) == key_of((1,)), key_of(len) == key_of(None), key_of(7) == key_of("7")
    (True, True, True, False)
    """
    try:
        return _key(record, DEEPEST, count())
    except KeyboardInterrupt:
        raise
    except BaseException:
        return NONE


def shown(key: Key) -> Any:  # noqa: ANN401 - any record
    """Return the record of a key.

    >>> shown(key_of({"b": [1], "a": {2, 1}}))
    (('a', frozenset({1, 2})), ('b', (1,)))
    """
    return REBUILT[key[0]](*key[1:])


def alike(one: object, other: object) -> bool:
    """Tell whether two values are of one type and have one key; those without a key must be equal.

    >>> alike(float("nan"), float("nan")), alike(1, 1.0), alike(np.zeros(2), np.zeros(2))
    (True, False, True)
    """
    if type(one) is not type(other):
        return False
    keys = key_of(one), key_of(other)
    if one is None or NONE not in keys:
        return keys[0] == keys[1]
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):  # too large for a key
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    return one is other or quietly(lambda: bool(one == other), otherwise=False)


def _key(record: object, depth: int, parts: "count[int]") -> Key:
    if next(parts) > MOST or depth < 0:
        raise Unfit
    record = unpacked(record)
    kind = type(record)
    if (leaf := BY_IDENTITY.get(id(kind))) is not None:
        return leaf(record)

    def keys(values: Iterator[object]) -> Iterator[Key]:
        return (_key(value, depth - 1, parts) for value in values)

    if issubclass(kind, tuple):
        return ("tuple", *keys(tuple.__iter__(cast("tuple[object, ...]", record))))
    if issubclass(kind, list):
        return ("tuple", *keys(list.__iter__(cast("list[object]", record))))
    if issubclass(kind, set):
        return ("set", *sorted(set(keys(set.__iter__(cast("set[object]", record))))))
    if issubclass(kind, frozenset):
        return ("set", *sorted(set(keys(frozenset.__iter__(cast("frozenset[object]", record))))))
    if issubclass(kind, dict):
        return ("tuple", *sorted(keys(iter(dict.items(cast("dict[object, object]", record))))))
    raise Unfit


def unpacked(record: object) -> object:
    """Return numpy's scalars and arrays as Python's, but for large arrays.

    >>> unpacked(np.float32(0.5)), unpacked(np.array([1, 2])), unpacked(np.array(7)), unpacked("a")
    (0.5, [1, 2], 7, 'a')
    """
    kind = type(record)
    if issubclass(kind, np.longdouble):
        with np.errstate(all="ignore"):
            return float(cast("np.longdouble", record))
    if issubclass(kind, np.generic):
        return np.generic.item(cast("np.generic", record))
    if kind is np.ndarray and cast("np.ndarray[Any, Any]", record).size <= MOST:
        values = cast("np.ndarray[Any, Any]", record).tolist()
        return values if type(values) is list else unpacked(values)
    return record


def _float(value: float) -> Key:
    return ("int", int(value)) if value.is_integer() else ("float", value.hex())


def _decimal(value: Decimal) -> Key:
    """Return the sign, the digits without zeros at the end but for those of a whole number that is short, and where."""
    if value.is_nan():
        return _float(math.nan)
    sign, digits, place = value.as_tuple()
    if not isinstance(place, int):
        return ("decimal", sign, (), place)
    end = len(digits)
    while end > 1 and not digits[end - 1]:
        end -= 1
    if not digits[end - 1]:
        return ("decimal", 0, (0,), "0")
    digits, place = digits[:end], place + len(digits) - end
    if 0 < place <= SHORT:
        digits, place = (*digits, *[0] * place), 0
    return ("decimal", sign, digits, str(place))


def _timedelta(value: timedelta) -> Key:
    return ("timedelta", value // MICROSECOND)


def _time(value: time | datetime) -> Key:
    zone = _zone(value.tzinfo)
    if zone is None:
        return NONE
    return (type(value).__name__, value.replace(tzinfo=None).isoformat(), value.fold, zone)


def _zone(zone: tzinfo | None) -> tuple[str, ...] | None:
    """Return a zone as text; () if there is none, and None if it cannot be told."""
    if zone is None:
        return ()
    if type(zone) is timezone:
        offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]
        if type(offset) is not timedelta or any(type(text) is not str for text in name):
            return None  # of a class with methods of its own
        return (str(offset // MICROSECOND), *name)
    name = zone.key if type(zone) is ZoneInfo else None
    return ("", name) if type(name) is str else None


def _placed(text: str, fold: int, zone: tuple[str, ...], kind: Callable[[str], Any]) -> Any:  # noqa: ANN401
    place: tzinfo | None = None
    if zone:
        place = timezone(int(zone[0]) * MICROSECOND, *zone[1:]) if zone[0] else ZoneInfo(zone[1])
    return kind(text).replace(fold=fold, tzinfo=place)


LEAVES: dict[type, Callable[[Any], Key]] = {
    type(None): lambda _: NONE,
    bool: lambda value: ("int", int(value)),
    int: lambda value: ("int", value),
    float: _float,
    str: lambda value: ("str", value),
    bytes: lambda value: ("bytes", value),
    Fraction: lambda value: ("fraction", int(value.numerator), int(value.denominator)),
    Decimal: _decimal,
    date: lambda value: ("date", value.isoformat()),
    time: _time,
    datetime: _time,
    timedelta: _timedelta,
}

BY_IDENTITY = {id(kind): leaf for kind, leaf in LEAVES.items()}
"""Types are told apart by what they are: how they compare and what their hash is, a class of classes may say."""

REBUILT: dict[str, Callable[..., Any]] = {
    "none": lambda: None,
    "int": int,
    "float": float.fromhex,
    "str": str,
    "bytes": bytes,
    "fraction": Fraction,
    "decimal": lambda sign, digits, end: Decimal((sign, digits, end if end in "nNF" else int(end))),
    "date": date.fromisoformat,
    "time": lambda text, fold, zone: _placed(text, fold, zone, time.fromisoformat),
    "datetime": lambda text, fold, zone: _placed(text, fold, zone, datetime.fromisoformat),
    "timedelta": lambda steps: steps * MICROSECOND,
    "tuple": lambda *keys: tuple(map(shown, keys)),
    "set": lambda *keys: frozenset(map(shown, keys)),
}
