"""What anonymity by grouping promises, measured: k-anonymity, l-diversity, t-closeness.

- Sweeney, "k-Anonymity", IJUFKS 2002: each row shares its columns with at least k - 1 others.
- Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam, "l-Diversity", ICDE 2006: in each class of such rows the
  sensitive column has at least l different values, or an entropy of at least log l.
- Li, Li and Venkatasubramanian, "t-Closeness", ICDE 2007: in each class it is distributed as in the whole table, up to
  an earth mover's distance of t. Numbers are moved along their order, one end to the other costing 1; of anything else
  every move costs 1, and the distance is the total variation.

None of them bounds what somebody learns who knows more than the columns: see ``anonymity_failures``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.auditing.attacks.tables import Column

__all__ = ["Anonymity", "Classes", "anonymity_of", "classes_of", "refine"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Rows that are equal on some columns: the class of each row, numbered from 0, and the size of each class."""

    of: Ints
    sizes: Ints

    @property
    def unique(self) -> int:
        """How many rows are alone in their class."""
        return int((self.sizes == 1).sum())

    def within(self, size: int) -> int:
        """How many rows are in classes of at most this size."""
        return int(self.sizes[self.sizes <= size].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymity:
    """The numbers of a table whose attackers know some columns; l and t are None without a sensitive column."""

    columns: tuple[str, ...]
    k: int
    classes: int
    unique: int
    below_five: int
    sensitive: str | None = None
    distinct_l: int | None = None
    entropy_l: float | None = None
    t: float | None = None
    known_for_certain: int | None = None


def refine(classes: Classes | None, column: Column | Classes, rows: int) -> Classes:
    """Return the classes of rows that are equal in a further column, or in further columns, too."""
    codes = column.of if isinstance(column, Classes) else column.codes
    width = len(column.sizes) if isinstance(column, Classes) else column.values
    keys = codes.astype(np.int64) if classes is None else classes.of * width + codes
    span = width if classes is None else len(classes.sizes) * width
    if span <= 4 * rows + 65_536:
        counts = np.bincount(keys, minlength=span)
        there = counts > 0
        return Classes((np.cumsum(there) - 1)[keys], counts[there])
    order = np.argsort(keys)
    ordered = keys[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    numbers = np.cumsum(new) - 1
    of = np.empty(rows, dtype=np.int64)
    of[order] = numbers
    return Classes(of, np.bincount(numbers))


def classes_of(columns: Sequence[Column], rows: int) -> Classes:
    """Return the classes of rows that are equal in all columns; without a column all rows are one class."""
    found = Classes(np.zeros(rows, dtype=np.int64), np.array([rows]))
    for column in columns:
        found = refine(found, column, rows)
    return found


def anonymity_of(columns: Sequence[Column], rows: int, sensitive: Column | None = None) -> Anonymity:
    """Measure k, and with a sensitive column l and t.

    >>> from discreet.auditing.attacks.tables import table_of
    >>> table = table_of({"age": ["3*"] * 3 + ["4*"] * 3, "ill": list("aabccc")})
    >>> found = anonymity_of(table.columns[:1], 6, table.column("ill"))
    >>> found.k, found.distinct_l, round(found.t, 3), found.known_for_certain
    (3, 1, 0.5, 3)
    """
    classes = classes_of(columns, rows)
    names = tuple(column.name for column in columns)
    base = Anonymity(
        columns=names,
        k=int(classes.sizes.min()),
        classes=len(classes.sizes),
        unique=classes.unique,
        below_five=classes.within(4),
    )
    if sensitive is None:
        return base
    pairs = refine(classes, sensitive, rows)
    first = np.empty(len(pairs.sizes), dtype=np.int64)
    first[pairs.of] = np.arange(rows)  # one row of each pair of class and value
    owner, value = classes.of[first], sensitive.codes[first].astype(np.int64)
    share = pairs.sizes / classes.sizes[owner]
    different = np.bincount(owner)
    entropy = np.bincount(owner, -share * np.log(share))
    return Anonymity(
        columns=names,
        k=base.k,
        classes=base.classes,
        unique=base.unique,
        below_five=base.below_five,
        sensitive=sensitive.name,
        distinct_l=int(different.min()),
        entropy_l=math.exp(float(entropy.min())),
        t=_closeness(owner, value, share, sensitive, rows),
        known_for_certain=int(classes.sizes[different == 1].sum()),
    )


def _closeness(owner: Ints, value: Ints, share: Floats, sensitive: Column, rows: int) -> float:
    """Return the largest earth mover's distance between a class and the table."""
    whole = np.bincount(sensitive.codes, minlength=sensitive.values) / rows
    if sensitive.values < 2:
        return 0.0
    if sensitive.ranks is None:
        return float(np.bincount(owner, np.maximum(share - whole[value], 0.0)).max())
    ordered = np.empty_like(whole)
    ordered[sensitive.ranks] = whole
    return _along_the_order(owner, sensitive.ranks[value], share, np.cumsum(ordered))


def _along_the_order(owner: Ints, rank: Ints, share: Floats, below: Floats) -> float:
    """Return the largest mean of ``|F - G|`` over the steps between values, with F of a class and G of the table.

    F is constant between the values of a class, and G rises; so each stretch is cut where G crosses F, and its parts
    are read from the running sums of G.
    """
    steps = len(below) - 1
    sums = np.concatenate([[0.0], np.cumsum(below[:-1])])
    order = np.lexsort((rank, owner))
    owner, rank, share = owner[order], rank[order], share[order]
    last = np.append(owner[1:] != owner[:-1], True)
    running = np.cumsum(share)
    level = np.round(running - owner, 12)  # each class before adds 1
    end = np.where(last, steps, np.append(rank[1:], steps))
    begin = rank
    crossing = np.clip(np.searchsorted(below[:-1], level), begin, np.maximum(end, begin))
    under = level * (crossing - begin) - (sums[crossing] - sums[begin])
    over = (sums[end] - sums[crossing]) - level * (end - crossing)
    first = np.append(True, last[:-1])
    ahead = np.bincount(owner, np.where(first, sums[rank], 0.0))  # before the first value of a class F is 0
    total = np.bincount(owner, np.abs(under) + np.abs(over)) + ahead
    return float(total.max() / steps)
