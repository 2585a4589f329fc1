"""Tables of numbers, by the types that they declare.

A value that is no number is one record's matter: no error may tell of it. That a whole column holds texts is what a
frame or an array says of itself, and is refused before anything is charged, or all of its rows would silently not
count. A list declares no types; it is read value by value.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.errors import InvalidInput

__all__ = ["check_numeric"]

NUMBERS = "biuf"
"""Kinds of numpy's types: booleans, integers and floats."""

OTHERS = {"O": "objects", "U": "texts", "S": "bytes", "M": "dates", "m": "durations", "V": "records of several fields"}


def check_numeric(table: Any, what: str = "a table", *, mixed: bool = False) -> None:  # noqa: ANN401 - see below
    """Refuse a frame or an array which declares that one of its columns holds anything but numbers.

    ``mixed`` lets columns of objects pass, which may hold numbers.

    >>> check_numeric(np.array([[1, 2]]))
    >>> check_numeric(np.array([["a", "b"]]))
    Traceback (most recent call last):
    discreet.errors.InvalidInput: a table of numbers is needed, and it is declared to hold texts. Convert it to ...
    """
    for name, kind in declared_kinds(table):
        if (
            kind not in NUMBERS and kind != "c" and not (mixed and kind == "O")
        ):  # complex numbers are refused where rows are read
            holds = OTHERS.get(kind, "something else")
            column = f"column {name!r}" if name is not None else "it"
            raise InvalidInput(
                f"{what} of numbers is needed, and {column} is declared to hold {holds}. Convert it to numbers, or "
                "leave it out."
            )


def declared_kinds(table: Any) -> Iterator[tuple[object, str]]:  # noqa: ANN401 - a frame, an array, or a list
    """Return the name of each column, None where it has none, with the letter of its type; none of a list."""
    # A frame answers to the names of its columns too, and one may be called "schema": what a type has is not a column.
    schema: Any = getattr(table, "schema", None) if hasattr(type(table), "schema") else None
    dtype = getattr(table, "dtype", None)
    if isinstance(table, np.ndarray):
        yield None, table.dtype.kind
    elif hasattr(table, "columns") and hasattr(table, "dtypes") and schema is None:  # pandas
        for name, one in zip(table.columns, table.dtypes, strict=True):
            yield name, _kind(one)
    elif hasattr(schema, "items"):  # polars
        for name, one in schema.items():
            yield name, _kind(one)
    elif schema is not None and hasattr(table, "column_names"):  # Arrow
        for field in schema:
            yield field.name, _kind(field.type)
    elif dtype is not None:
        yield getattr(table, "name", None), _kind(dtype)
    elif type(table).__module__.partition(".")[0] == "pyarrow" and hasattr(table, "type"):
        yield None, _kind(table.type)


def _kind(declared: Any) -> str:  # noqa: ANN401 - a type of any of these libraries
    """Return the letter that numpy has for a type: only whether it is a number is known of those of other libraries."""
    letter = getattr(declared, "kind", None)
    if isinstance(letter, str):
        return _named(str(declared)) if letter == "O" else letter  # pandas says so of its texts too
    if hasattr(declared, "is_numeric"):  # polars
        return "f" if declared.is_numeric() or str(declared) == "Boolean" else _named(str(declared))
    text = str(declared)
    numbers = ("bool", "int", "uint", "float", "double", "halffloat", "decimal")
    return "f" if text.startswith(numbers) else _named(text)


def _named(text: str) -> str:
    """Return the letter for the name of a type that holds no numbers."""
    names = {"string": "U", "large_string": "U", "str": "U", "binary": "S", "date": "M", "timestamp": "M", "dur": "m"}
    return next((letter for name, letter in names.items() if text.lower().startswith(name)), "O")
