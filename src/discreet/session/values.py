"""Values of a released table: which there may be, and JSON that keeps their types.

A JSON reader may round whole numbers above 2^53 and knows no dates, so both are tagged: ``{"date": "2024-05-17"}``.
"""

import json
import math
import numbers
from collections.abc import Mapping
from datetime import date, datetime

import numpy as np

from discreet.errors import InvalidParameter, UnknownKind

__all__ = ["Key", "Number", "key", "number", "parameter", "read", "read_object", "write"]

Number = int | float
Key = str | int | float | bool | date | None

MOST_BITS = 4096
"""Longer whole numbers are refused: nobody means them, and writing them down would not end."""

EXACT = 1 << 53
TAGS = ("date", "datetime", "integer", "object")


def key(value: object, /) -> Key:
    """Return a value of a group column as plain Python, or refuse its type.

    >>> import numpy as np
    >>> key(np.int64(2024)), key(None), key(np.bool_(True)), key(0.5)
    (2024, None, True, 0.5)
    """
    if value is None or type(value) in (str, bool, date, datetime):
        return value  # type: ignore[return-value]
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, str):
        return str.__str__(value)  # the text itself, whatever a subclass prints
    if isinstance(value, numbers.Integral):
        return _whole(value)
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return float(value)
    raise InvalidParameter(
        f"a group column holds text, finite numbers, True and False, dates and None, got {type(value).__name__}."
    )


def number(value: object, /) -> Number | None:
    """Return a finite number as an int or a float, or None.

    >>> number(5), number(5.0), number(None)
    (5, 5.0, None)
    >>> number(float("nan"))
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: a released number is finite; write None where there is no number.
    """
    if value is None:
        return None
    if type(value) is int and -EXACT < value < EXACT:
        return value
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidParameter(f"an estimate is an int, a float or None, got {type(value).__name__}.")
    if isinstance(value, numbers.Integral):
        return _whole(value)
    plain = float(value)
    if not math.isfinite(plain):
        raise InvalidParameter("a released number is finite; write None where there is no number.")
    return plain


def parameter(value: object, /) -> object:
    """Return a copy of something JSON can say, of plain Python types and with lists for tuples.

    >>> parameter({"bounds": (0, 500)})
    {'bounds': [0, 500]}
    """
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise InvalidParameter("the names of parameters are texts.")
        return {str(name): parameter(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [parameter(inner) for inner in value]
    if isinstance(value, float | np.floating):
        return number(value)
    try:
        return key(value)
    except InvalidParameter:
        raise InvalidParameter(
            "a parameter is text, a finite number, True or False, a date, None, or a list or dict of them, "
            f"got {type(value).__name__}."
        ) from None


def write(value: object, /) -> object:
    """Return what JSON holds for a value.

    >>> write(date(2024, 5, 17)), write(True), write(1), write(2**60)
    ({'date': '2024-05-17'}, True, 1, {'integer': '1152921504606846976'})
    """
    match value:
        case datetime():
            return {"datetime": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case int() if not isinstance(value, bool) and abs(value) > EXACT:
            return {"integer": str(value)}
        case dict():
            inner = {name: write(part) for name, part in value.items()}
            return {"object": inner} if len(inner) == 1 and next(iter(inner)) in TAGS else inner
        case list() | tuple():
            return [write(part) for part in value]
    return value


def read(value: object, /) -> object:
    """Return the value that ``write`` wrote; a tag that does not hold what it says is refused.

    >>> read({"date": "2024-05-17"}), read({"low": 0})
    (datetime.date(2024, 5, 17), {'low': 0})
    """
    if isinstance(value, list):
        return [read(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or next(iter(value)) not in TAGS:
        return {name: read(part) for name, part in value.items()}
    ((tag, inner),) = value.items()
    if tag == "object" and isinstance(inner, dict):
        return {name: read(part) for name, part in inner.items()}
    try:
        match tag:
            case "date":
                return date.fromisoformat(inner)
            case "datetime":
                return datetime.fromisoformat(inner)
            case "integer" if isinstance(inner, str):
                return _whole(int(inner))
    except (ValueError, TypeError):
        pass
    raise UnknownKind(f"a serialised value has the tag {tag} and does not hold one.")


def read_object(text: str, kind: str, version: int, fields: frozenset[str]) -> dict[str, object]:
    """Return the fields of a JSON object of one kind and version; everything else is refused."""
    try:
        record = json.loads(text, parse_constant=_refuse)
    except (ValueError, TypeError, RecursionError):
        raise UnknownKind(f"this is not a serialised {kind}: it is not JSON.") from None
    if not isinstance(record, dict) or record.get("kind") != kind:
        raise UnknownKind(f"this is not a serialised {kind}: its kind must be {kind}.")
    if type(record.get("version")) is not int or record["version"] != version:
        raise UnknownKind(f"this version reads a serialised {kind} of version {version} alone.")
    if set(record) != fields | {"kind", "version"}:
        raise UnknownKind(f"a serialised {kind} has the fields {', '.join(sorted(fields))}, and no others.")
    return {name: record[name] for name in fields}


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def _whole(value: numbers.Integral | int) -> int:
    plain = int(value)
    if plain.bit_length() > MOST_BITS:
        raise InvalidParameter(f"a whole number has at most {MOST_BITS} bits.")
    return plain
