"""Neighbouring data sets that have broken somebody's software before, made from a description of the columns.

The description says of each column its bounds, its allowed values, or that it names the person:
``{"amount": (0, 500), "city": ["Ulm", "Bonn"], "user": "key"}``. Data sets are lists of dictionaries.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from discreet.errors import InvalidParameter
from discreet.units import check_relation

__all__ = ["hostile_neighbours"]

Row = dict[str, Any]
Schema = Mapping[str, Any]

SPECIAL = (math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 2.0**53, 2**63)
HEAVY = 1000


def hostile_neighbours(schema: Schema, relation: str = "add_remove") -> Iterator[tuple[str, list[Row], list[Row]]]:
    """Return named pairs of neighbours: special values, cliffs, empty data, heavy users and rare keys.

    >>> pairs = list(hostile_neighbours({"amount": (0, 500), "city": ["Ulm", "Bonn"]}))
    >>> len(pairs) > 20, pairs[0][0]
    (True, 'empty against one')
    """
    check_relation(relation)
    if not schema:
        raise InvalidParameter("describe at least one column, as {'amount': (0, 500)}.")
    keys = [column for column, kind in schema.items() if isinstance(kind, str) and kind == "key"]
    usual = _row(schema, 0.5)
    newcomer = dict.fromkeys(keys, "newcomer")
    for name, base, row, other in _changes(schema, usual):
        if relation == "add_remove":
            yield name, _copies(base), _copies([*base, row | newcomer])
        elif other is not None and repr(other) != repr(row):
            yield name, _copies([*base, other | newcomer]), _copies([*base, row | newcomer])
    for column in keys:
        heavy = [usual | {column: "heavy"}] * HEAVY
        others = [usual] * 5
        if relation == "add_remove":
            yield f"{column}: a heavy user", _copies(others), _copies([*others, *heavy])
            yield f"{column}: a missing key", _copies(others), _copies([*others, usual | {column: None}])
        else:
            moved = [_row(schema, 0.0) | {column: "heavy"}] * HEAVY
            yield f"{column}: a heavy user", _copies([*others, *moved]), _copies([*others, *heavy])


def _copies(rows: list[Row]) -> list[Row]:
    """Return rows that share nothing: a release that edits one must not edit another."""
    return [dict(row) for row in rows]


def _changes(schema: Schema, usual: Row) -> Iterator[tuple[str, list[Row], Row, Row | None]]:
    """Yield a name, the common rows, a row that is there on one side, and what is there in its place on the other."""
    yield "empty against one", [], usual, None
    yield "one against two", [usual], usual, None
    yield "equal rows", [usual] * 20, usual, usual
    numeric = [column for column, kind in schema.items() if _is_bounds(kind)]
    for column in numeric:
        low, high = schema[column]
        crowd = [_row(schema, share / 10) for share in range(11)]
        for label, value in (
            ("least", low),
            ("largest", high),
            ("below", _beyond(low, -1)),
            ("above", _beyond(high, 1)),
        ):
            yield f"{column}: {label} value", crowd, usual | {column: value}, usual
        for special in SPECIAL:
            yield f"{column}: {special!r}", crowd, usual | {column: special}, usual
        for wrong in (None, "", "12", True, b"1", [1]):
            yield f"{column}: {type(wrong).__name__} {wrong!r}", crowd, usual | {column: wrong}, usual
        yield f"{column}: a cliff in the middle", _cliff(schema, column), usual | {column: high}, usual | {column: low}
        yield (
            f"{column}: a lone high value",
            [usual | {column: low}] * 30,
            usual | {column: high},
            usual | {column: low},
        )
    for column, kind in schema.items():
        if _is_values(kind):
            crowd = [usual] * 30
            yield f"{column}: a rare key", crowd, usual | {column: kind[-1]}, usual
            for odd in ("never declared", "", "ä", "a\u0308", "A", "a ", None, 0, False):
                yield f"{column}: key {odd!r}", crowd, usual | {column: odd}, usual


def _row(schema: Schema, share: float) -> Row:
    row: Row = {}
    for column, kind in schema.items():
        if _is_bounds(kind):
            row[column] = kind[0] + (kind[1] - kind[0]) * share
        elif isinstance(kind, str) and kind == "key":
            row[column] = f"user {round(share * 10)}"
        elif _is_values(kind):
            row[column] = kind[0]
        else:
            raise InvalidParameter(
                f"column {column!r} is described by bounds (low, high), a list of values, or 'key', not by {kind!r}."
            )
    return row


def _is_bounds(kind: Any) -> bool:  # noqa: ANN401 - any description
    return (
        isinstance(kind, tuple)
        and len(kind) == 2
        and all(isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end) for end in kind)
        and kind[0] <= kind[1]
    )


def _is_values(kind: Any) -> bool:  # noqa: ANN401 - any description
    """Tell whether this is a list of allowed values; a pair of numbers is meant as bounds."""
    pair = isinstance(kind, tuple) and len(kind) == 2 and all(isinstance(end, int | float) for end in kind)
    return isinstance(kind, Sequence) and not isinstance(kind, str | bytes) and bool(kind) and not pair


def _beyond(end: float, side: int) -> float:
    return end + side * (abs(end) + 1)


def _cliff(schema: Schema, column: str) -> list[Row]:
    low, high = schema[column]
    usual = _row(schema, 0.5)
    return [usual | {column: low}] * 10 + [usual | {column: high}] * 10
