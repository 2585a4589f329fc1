"""How many rows are unique on each combination of columns: counted for all combinations up to a size.

A combination is extended column by column. Rows that are unique on some columns are unique on more, so they are set
aside and only the others are looked at again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from discreet.auditing.attacks.tables import Column

__all__ = ["Combination", "combinations_of", "how_many"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Combination:
    """Some columns, and how many of all rows are unique on them."""

    columns: tuple[str, ...]
    unique: int
    rows: int

    @property
    def share(self) -> float:
        """The share of rows that are unique."""
        return self.unique / self.rows


def how_many(columns: int, largest: int) -> int:
    """Return the number of combinations of at most ``largest`` columns.

    >>> how_many(10, 3)
    175
    """
    return sum(comb(columns, size) for size in range(1, largest + 1))


def combinations_of(
    columns: Sequence[Column], rows: int, largest: int = 3, *, step: Callable[[], object] = lambda: None
) -> list[Combination]:
    """Return every combination of at most ``largest`` columns with its unique rows; ``step`` is called for each.

    >>> from discreet.auditing.attacks.tables import table_of
    >>> table = table_of({"age": [31, 31, 40, 40], "sex": ["f", "m", "f", "f"]})
    >>> [(found.columns, found.unique) for found in combinations_of(table.columns, 4)]
    [(('age',), 0), (('age', 'sex'), 2), (('sex',), 1)]
    """
    everything = np.arange(rows), np.zeros(rows, dtype=np.int64), 1
    found = []
    for names, unique in _extend((), columns, largest, everything, 0):
        found.append(Combination(names, unique, rows))
        step()
    return found


State = tuple[Ints, Ints, int]
"""The rows that are not unique yet, the class of each, and the number of classes."""


def _extend(
    names: tuple[str, ...], columns: Sequence[Column], largest: int, state: State, unique: int
) -> Iterator[tuple[tuple[str, ...], int]]:
    rows, classes, count = state
    for place, column in enumerate(columns):
        keys = classes * column.values + column.codes[rows]
        further = largest > 1 and place + 1 < len(columns)
        alone, rest = _count(rows, keys, count * column.values, keep=further)
        yield (*names, column.name), unique + alone
        if further:
            yield from _extend((*names, column.name), columns[place + 1 :], largest - 1, rest, unique + alone)


def _count(rows: Ints, keys: Ints, span: int, *, keep: bool) -> tuple[int, State]:
    """Return how many keys occur once, and the rows whose keys do not."""
    if span <= 4 * len(keys) + 65_536:
        counts = np.bincount(keys, minlength=span)
        alone = int((counts == 1).sum())
        if not keep:
            return alone, (rows, keys, span)
        several = counts > 1
        chosen = several[keys]
        numbers = np.cumsum(several) - 1
        return alone, (rows[chosen], numbers[keys[chosen]], int(several.sum()))
    if not keep:
        return int(_single(np.sort(keys)).sum()), (rows, keys, span)
    order = np.argsort(keys)
    ordered = keys[order]
    single = _single(ordered)
    order, ordered = order[~single], ordered[~single]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    return int(single.sum()), (rows[order], np.cumsum(new) - 1, int(new.sum()))


def _single(ordered: Ints) -> NDArray[np.bool_]:
    """Say which of the ordered keys differ from both neighbours."""
    if not len(ordered):
        return np.zeros(0, dtype=np.bool_)
    change = ordered[1:] != ordered[:-1]
    alone: NDArray[np.bool_] = np.append(True, change) & np.append(change, True)
    return alone
