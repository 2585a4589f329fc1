"""Records told apart by all that can be seen of them, and shown again from nothing but that.

Equal values may look different: ``Decimal("1.50")`` and ``Decimal("1.5")``, one moment in two time zones, a set filled
in another order. If they were counted as one value, and that value shown as the first record has it, then one record
would decide what is shown. So a record is turned into a key that holds its type and everything that can be seen of it,
and what is shown is made from the key alone.

This is possible for a closed list of types: None, bool, int, float, str, bytes, Fraction, Decimal, date, time, datetime
and timedelta, with a ``datetime.timezone`` or a ``ZoneInfo`` by its name; numpy's scalars as Python's; lists, tuples
and arrays as tuples; sets as frozensets; and dictionaries as sorted tuples of pairs. Everything else counts as None:
other types, what is nested deeper than ``DEEPEST`` or has more than ``MOST`` parts, what contains itself.
"""

from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any, cast
from zoneinfo import ZoneInfo

import numpy as np

from discreet.mechanisms.quietly import quietly

__all__ = ["NONE", "Key", "alike", "key_of", "shown"]

Key = tuple[Any, ...]
"""A name of a type and what was seen of the value: numbers, texts and further keys, of one kind for each type."""
NONE: Key = ("none",)
DEEPEST = 16
MOST = 1 << 16
MICROSECOND = timedelta(microseconds=1)


class Unfit(Exception):
    """A record of which no key can be made; caught here, and never shown."""


def key_of(record: object) -> Key:
    """Return a key: records have the same one if nothing tells them apart, or if none of them can be shown.

    >>> key_of(Decimal("1.50")) == key_of(Decimal("1.5")), key_of([1, 2]) == key_of((1, 2)), key_of(len) == key_of(None)
    (False, True, True)
    """
    try:
        return _key(record, DEEPEST, count())
    except Exception:
        return NONE


def shown(key: Key) -> Any:  # noqa: ANN401 - any record
    """Return the record of a key.

    >>> shown(key_of({"b": [1], "a": {2, 1}}))
    (('a', frozenset({1, 2})), ('b', (1,)))
    """
    return REBUILT[key[0]](*key[1:])


def alike(one: object, other: object) -> bool:
    """Tell whether two values are of one type and nothing else tells them apart; those without a key must be equal.

    >>> alike(float("nan"), float("nan")), alike(0.0, -0.0), alike(np.zeros(2), np.zeros(2))
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
    kind = type(record)
    if next(parts) > MOST or depth < 0:
        raise Unfit
    if kind in LEAVES:
        return LEAVES[kind](record)

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
    if issubclass(kind, np.longdouble):
        return _float(float(cast("np.longdouble", record)))
    if issubclass(kind, np.generic):
        return _key(np.generic.item(cast("np.generic", record)), depth - 1, parts)
    if kind is np.ndarray and cast("np.ndarray[Any, Any]", record).size <= MOST:
        return _key(cast("np.ndarray[Any, Any]", record).tolist(), depth - 1, parts)
    raise Unfit


def _float(value: float) -> Key:
    return ("float", value.hex())


def _decimal(value: Decimal) -> Key:
    sign, digits, exponent = value.as_tuple()
    return ("decimal", sign, digits, str(exponent))


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
        return (str(offset // MICROSECOND), *map(str, name))
    name = zone.key if type(zone) is ZoneInfo else None
    return ("", name) if type(name) is str else None


def _placed(text: str, fold: int, zone: tuple[str, ...], kind: Callable[[str], Any]) -> Any:  # noqa: ANN401
    place: tzinfo | None = None
    if zone:
        place = timezone(int(zone[0]) * MICROSECOND, *zone[1:]) if zone[0] else ZoneInfo(zone[1])
    return kind(text).replace(fold=fold, tzinfo=place)


LEAVES: dict[type, Callable[[Any], Key]] = {
    type(None): lambda _: NONE,
    bool: lambda value: ("bool", value),
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

REBUILT: dict[str, Callable[..., Any]] = {
    "none": lambda: None,
    "bool": bool,
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
