"""Columns in which different values name the same: by a collation, or since Python compares values of several types.

Everything here is read byte by byte, so one person would be several. A column that tells persons apart must be none of
these, and the session refuses it with what to write instead.
"""

import json
from typing import Any
from uuid import uuid4

__all__ = ["collated_columns", "folding", "mixed_columns", "usual_collation"]

BINARY = ("", "binary", "c", "posix")
"""Collations of DuckDB under which texts are the same only if their bytes are."""


MISSING = ("NAType", "NaTType", "NoneType")

WHOLE = {("numpy", f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)} | {("builtins", "int")}
WAYS = ({("builtins", "str"), ("numpy", "str_")}, WHOLE, {("datetime", "date")}, {("uuid", "UUID")})
"""Types of Python of which two values are equal only if they are written alike."""


HALVES = "halves of surrogate pairs are all read as one sign, and several persons could count as one."

AMONG = "One person could count as several."


def folding(collation: str, fix: str) -> str:
    """Say that different texts are the same under a collation, and what to do."""
    return f"is compared by the collation {collation}, under which different texts are the same. {AMONG} {fix}"


def usual_collation(connection: Any) -> str:  # noqa: ANN401  a DuckDB connection
    """Return how a connection compares texts of which nothing else is said; a cursor of it may do so in another way."""
    ((usual,),) = connection.execute("SELECT current_setting('default_collation')").fetchall()
    return str(usual or "")


def collated_columns(connection: Any, sql: str, usual: str) -> dict[str, str]:  # noqa: ANN401  a DuckDB connection
    """Return the columns of a relation of DuckDB that have such a collation, or the usual one; no row is read.

    Only a plan tells collations, and only tables have plans that can always be told: an empty one has the same types.
    """
    name = f"discreet_{uuid4().hex}"
    connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM {sql} WITH NO DATA")
    try:
        ((told,),) = connection.execute(f"SELECT json_serialize_plan('SELECT * FROM temp.{name}')").fetchall()
    finally:
        connection.execute(f"DROP TABLE temp.{name}")
    found = {}
    for one in json.loads(told)["plans"][0]["expressions"]:
        kind = one["return_type"]
        collation = (kind.get("type_info") or {}).get("collation") or usual
        if kind["id"] == "VARCHAR" and collation.casefold() not in BINARY:
            column = one["alias"]
            fix = "Read it through a view that writes it in one way, for example SELECT lower(key) COLLATE C AS key."
            found[column] = folding(collation.upper(), fix)
    return found


def mixed_columns(frame: Any) -> dict[str, str]:  # noqa: ANN401  a pandas frame
    """Return the columns of Python objects whose values are not all texts, all whole numbers, all days or all UUIDs.

    Python takes 1, 1.0 and True for the same, and they are read as three texts; so are Decimal("1") and Decimal("1.0").
    """
    told = "holds Python objects of several types, or of one that writes equal values in several ways."
    fix = "Write each value in one way, as a text or a whole number, and give the column that type."
    found = {}
    for name in frame.columns:
        kind = frame[name].dtype
        categories = getattr(kind, "categories", None)
        values = [] if str(getattr(categories, "dtype", kind)) != "object" else list(frame[name].tolist())
        if not _one_way(values):
            found[str(name)] = f"{told} {AMONG} {fix}"
        elif any(isinstance(value, str) and not _is_unicode(value) for value in values):
            found[str(name)] = f"holds texts that are no Unicode: {HALVES} Repair them first."
    return found


def _is_unicode(text: str) -> bool:
    """Whether a text can be written; half a surrogate pair cannot.

    >>> _is_unicode("x"), _is_unicode("x" + chr(0xD800))
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _one_way(values: list[object]) -> bool:
    """Whether equal objects are always written alike, missing ones aside.

    >>> _one_way(["1", "a", None]), _one_way([1, 2, float("nan")]), _one_way([1, "1"]), _one_way([1, 1.0])
    (True, True, False, False)
    """
    types = set(map(type, values))
    if float in types and all(value != value for value in values if type(value) is float):
        types.discard(float)
    names = {(kind.__module__.partition(".")[0], kind.__name__) for kind in types if kind.__name__ not in MISSING}
    return any(names <= way for way in WAYS)
