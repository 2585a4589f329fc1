"""The order of rows: total over everything a column may hold, stable, nulls last."""

from collections.abc import Sequence
from datetime import date, datetime

from discreet.session.values import Key, Number

__all__ = ["sorted_rows"]


def sorted_rows(columns: Sequence[Sequence[Key | Number]], *, descending: bool = False) -> list[int]:
    """Return the positions of rows in order of the first column, ties by the next; rows that tie keep their order.

    None comes last in both directions.

    >>> sorted_rows([[3, None, 1, 3]]), sorted_rows([[3, None, 1, 3]], descending=True)
    ([2, 0, 3, 1], [0, 3, 2, 1])
    """
    order = list(range(len(columns[0]))) if columns else []
    for column in reversed(columns):
        known = [i for i in order if column[i] is not None]
        known.sort(key=lambda i, column=column: _rank(column[i]), reverse=descending)  # type: ignore[misc]
        order = known + [i for i in order if column[i] is None]
    return order


def _rank(value: Key | Number) -> tuple[int, object]:
    """Return something that compares with the rank of any other value: types first, values within a type."""
    match value:
        case bool():
            return 0, value
        case int() | float():
            return 1, value
        case datetime():
            return (3, value) if value.utcoffset() is None else (4, value)
        case date():
            return 2, value
    return 5, value
