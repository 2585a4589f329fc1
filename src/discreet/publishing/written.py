"""The kinds of values a file holds, each read exactly or refused with what to write instead.

pydantic checks the shape of a file and these functions check its leaves, so that every refusal says what to write.
"""

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from discreet.errors import InvalidParameter
from discreet.exact import finite
from discreet.publishing.marked import UNSEEN, Number

__all__ = [
    "Delta",
    "Filling",
    "Finite",
    "Identifier",
    "Key",
    "Name",
    "Part",
    "Positive",
    "Probability",
    "Text",
    "Whole",
    "as_yaml",
    "refuse",
]

MISTAKE = "mistake"
LONGEST_NAME = 60
MOST_DIGITS = 50
LARGEST = 2**40
"""More people or rows than any table has."""

DEVICES = frozenset({"con", "prn", "aux", "nul"} | {f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)})
"""Names that are no files on some systems, whatever their ending."""


class Part(BaseModel):
    """A part of the file: it has the fields that are listed, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True)


def refuse(wrong: str, fix: str) -> NoReturn:
    """Refuse a value, inside a validator."""
    raise PydanticCustomError(MISTAKE, "{wrong} {fix}", {"wrong": wrong, "fix": fix})


def as_yaml(value: Any) -> str:  # noqa: ANN401  whatever an example may be
    """Return a value on one line, as one would write it into a file.

    >>> as_yaml({"person": "user_id", "groups": 3})
    '{person: user_id, groups: 3}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {as_yaml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_yaml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}".replace("e-0", "e-")
    return "null" if value is None else str(value)


def _text(value: object) -> str:
    """Return a text; a number or a day that was meant as one is taken as it was written."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str) or not value.strip():
        refuse("a text is needed here.", "Write it behind the colon, in quotes if it holds a colon itself.")
    if UNSEEN.search(value) is not None:
        refuse("a text holds a character that cannot be seen or published.", "Remove it, or write it in letters.")
    return value.strip()


def _name(value: object) -> str:
    text = _text(value)
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*", text) or len(text) > LONGEST_NAME:
        refuse(
            "a name of files has letters, digits, _ and - alone, and at most 60 of them.",
            "Write a name such as by_city.",
        )
    if text.casefold() in DEVICES:
        refuse("some systems take this name for a device, not for a file.", "Write a name such as by_city.")
    return text


def _identifier(value: object) -> str:
    text = _text(value)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) or len(text) > LONGEST_NAME:
        refuse(
            "a table's name has letters, digits and _ alone, at most 60, and does not start with a digit.",
            "Write a name such as visits.",
        )
    return text


def _number(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        refuse("a number is needed here.", "Write it in digits, such as 0.5 or 1e-7.")
    if isinstance(value, Number) and len(re.findall("[0-9]", re.split("[eE]", value.text)[0])) > MOST_DIGITS:
        refuse(f"a number has at most {MOST_DIGITS} digits.", "Write fewer, such as 0.5 or 1e-7.")
    try:
        return finite(value, "a number")
    except InvalidParameter:
        refuse("this number is too large or too small to be meant.", "Write an ordinary one, such as 0.5 or 1e-7.")


def _positive(value: object) -> Fraction:
    number = _number(value)
    if number <= 0:
        refuse("this number must be above 0.", "Write one such as 0.5.")
    return number


def _whole(value: object) -> int:
    number = _number(value)
    if number.denominator != 1 or number < 1:
        refuse("a whole number of at least 1 is needed here.", "Write one such as 5.")
    if number > LARGEST:
        refuse("this number is larger than any table.", "Write one such as 5.")
    return number.numerator


def _probability(value: object) -> Fraction:
    number = _number(value)
    if not 0 < number < 1:
        refuse("this number must lie between 0 and 1.", "Write one such as 0.95.")
    return number


def _delta(value: object) -> Fraction:
    number = _number(value)
    if not 0 <= number < 1:
        refuse("delta is a probability, 0 or far below 1.", "Write one such as 1e-7, or leave it out.")
    return number


def _key(value: object) -> str | int | bool | date | None:
    if value is None or isinstance(value, bool | date | str):
        return value
    if isinstance(value, Decimal | int) and (number := _number(value)).denominator == 1:
        return number.numerator
    refuse(
        "a declared value is a text, a whole number, a day, true or false.", "Write decimals in quotes, or use bins."
    )


def _filling(value: object) -> str | int | float | bool | date | None:
    if isinstance(value, Decimal) and _number(value).denominator != 1:
        return float(_number(value))
    return _key(value)


Text = Annotated[str, PlainValidator(_text), WithJsonSchema({"type": ["string", "number"]})]
"""Words; a number is taken as it was written."""

Name = Annotated[
    str, PlainValidator(_name), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]*$"})
]
"""A name of files."""

Identifier = Annotated[
    str, PlainValidator(_identifier), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})
]
"""A name of a table in SQL."""

Finite = Annotated[Fraction, PlainValidator(_number), WithJsonSchema({"type": "number"})]
"""A number, exactly as it is written."""

Positive = Annotated[Fraction, PlainValidator(_positive), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})]
"""A number above 0."""

Probability = Annotated[
    Fraction,
    PlainValidator(_probability),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
"""A number between 0 and 1."""

Delta = Annotated[
    Fraction, PlainValidator(_delta), WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 1})
]
"""A probability that may be 0."""

Whole = Annotated[int, PlainValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 1})]
"""A whole number of at least 1."""

Key = Annotated[
    str | int | bool | date | None,
    PlainValidator(_key),
    WithJsonSchema({"type": ["string", "integer", "boolean", "null"]}),
]
"""A value that groups may have."""

Filling = Annotated[
    str | int | float | bool | date | None,
    PlainValidator(_filling),
    WithJsonSchema({"type": ["string", "number", "boolean", "null"]}),
]
"""What stands in for a missing value."""
