"""How the groups of a query are answered together: as margins, as bins in a row, as a hierarchy, or as a distribution.

A plain query draws noise for each group by itself. These say what else will be asked of the groups, so that the
session measures what serves all of it best: Li and others, "The Matrix Mechanism", VLDB Journal 2015.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite
from discreet.tables.expressions import Expression
from discreet.tables.synthetic import Synthetic

__all__ = ["Asked", "Levels", "Margins", "Ranges", "Spread", "Together", "cube", "distinct_sets", "rollup"]

Set = tuple[str, ...]
Asked = Literal["prefixes", "ranges"]

MOST_SETS = 4096


@dataclass(frozen=True, slots=True)
class Margins:
    """Several groupings of the same rows, each by some of the keys: ``()`` is the total.

    >>> Margins(sets=(("city", "sex"), ("city",), ()))
    Margins(sets=(('city', 'sex'), ('city',), ()))
    """

    sets: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class Ranges:
    """Bins in a row, of which sums will be asked: from the first to each (prefixes), or between any two (ranges)."""

    asked: Asked


@dataclass(frozen=True, slots=True)
class Levels:
    """Tables of persons in areas within areas, published as whole counts that add up.

    ``levels`` are keys from the largest area to the smallest, below everybody together; ``tables`` are groupings by the
    other keys, on every level. ``exact`` tells what is published without noise, outside the guarantee: a level and the
    keys of its table. ``rules`` are conditions over keys that hold for every possible group. ``areas`` names a public
    table that lists the areas; without it there are all combinations. ``shares`` are parts of the cost, a row for each
    level from the top with a number for each table.
    """

    levels: Set
    tables: tuple[Set, ...]
    exact: tuple[tuple[str, Set], ...] = ()
    rules: tuple[tuple[str, Expression], ...] = ()
    areas: str | None = None
    shares: tuple[tuple[Real, ...], ...] | None = None

    def __post_init__(self) -> None:
        if not self.levels:
            raise InvalidParameter("a hierarchy has levels: the keys of areas, from the largest to the smallest.")
        if not self.tables:
            raise InvalidParameter("a hierarchy has tables: groupings by keys that are no levels, () for the total.")
        if self.shares is not None and [len(row) for row in self.shares] != [len(self.tables)] * (len(self.levels) + 1):
            raise InvalidParameter(
                f"shares have a row for everybody and for each of {len(self.levels)} levels, with a number for each of "
                f"{len(self.tables)} tables."
            )
        for share in (one for row in self.shares or () for one in row):
            if finite(share, "a share") < 0:
                raise InvalidParameter("a share of the cost is a number of at least 0.")
        for level, _ in self.exact:
            if level and level not in self.levels:
                raise InvalidParameter(f"{level!r} is no level; the levels are {', '.join(self.levels)}.")

    @property
    def sets(self) -> tuple[Set, ...]:
        """All groupings: every level with every table."""
        return tuple((*self.levels[:depth], *table) for depth in range(len(self.levels) + 1) for table in self.tables)


@dataclass(frozen=True, slots=True)
class Spread:
    """How numbers are spread between public bounds, by one of two trees over a fine grid that an engine counts in.

    "tree" makes bins that are small where many rows are, of one or two numbers; "cdf" tells how many rows lie below
    each edge of the grid, of one number.
    """

    asked: Literal["tree", "cdf"]


Together = Margins | Ranges | Levels | Spread | Synthetic


def rollup(keys: Sequence[Set]) -> list[Set]:
    """Return the groupings of ROLLUP: by all keys, without the last, and so on.

    >>> rollup([("state",), ("county",)])
    [('state', 'county'), ('state',), ()]
    """
    return [tuple(name for part in keys[:count] for name in part) for count in range(len(keys), -1, -1)]


def cube(keys: Sequence[Set]) -> list[Set]:
    """Return the groupings of CUBE: by every choice among the keys.

    >>> cube([("a",), ("b",)])
    [('a', 'b'), ('a',), ('b',), ()]
    """
    if 2 ** len(keys) > MOST_SETS:
        raise InvalidParameter(f"CUBE of {len(keys)} keys makes more than {MOST_SETS} groupings. Name some of them.")
    chosen = (some for count in range(len(keys), -1, -1) for some in combinations(keys, count))
    return [tuple(name for part in some for name in part) for some in chosen]


def distinct_sets(sets: Sequence[Set], names: Sequence[str]) -> tuple[Set, ...]:
    """Return groupings in the order of the keys, each once; keys that are not there are refused.

    >>> distinct_sets([("b", "a"), ("a", "b"), ()], ["a", "b"])
    (('a', 'b'), ())
    """
    if unknown := [name for one in sets for name in one if name not in names]:
        raise InvalidParameter(f"{unknown[0]!r} is no key of this query; the keys are {', '.join(names)}.")
    found = tuple(dict.fromkeys(tuple(name for name in names if name in one) for one in sets))
    if not found or len(found) > MOST_SETS:
        raise InvalidParameter(f"a query has 1 to {MOST_SETS} groupings, got {len(found)}.")
    if unused := [name for name in names if not any(name in one for one in found)]:
        raise InvalidParameter(f"no grouping is by {unused[0]}. Leave it out, or add a grouping by it.")
    return found


def levels_of(
    levels: Sequence[str],
    tables: Sequence[Sequence[str]],
    exact: Mapping[str, Sequence[str]] | None,
    rules: Mapping[str, Expression] | None,
    areas: str | None,
    shares: Sequence[Sequence[Real]] | None,
    names: Sequence[str],
) -> Levels:
    """Return a hierarchy over keys, or say what is wrong with it."""
    others = [name for name in names if name not in levels]
    if unknown := [name for name in levels if name not in names]:
        raise InvalidParameter(f"{unknown[0]!r} is no key of this query; the keys are {', '.join(names)}.")
    if len(set(levels)) < len(levels):
        raise InvalidParameter("each level is named once, from the largest areas to the smallest.")
    for one in (*tables, *(exact or {}).values()):
        if wrong := [name for name in one if name not in others]:
            raise InvalidParameter(
                f"a table of a hierarchy is by keys that are no levels, and {wrong[0]!r} is none of "
                f"{', '.join(others) or '(there are none)'}."
            )
    made = tuple(dict.fromkeys(_ordered(one, others) for one in tables))
    if len(made) < len(tables):
        raise InvalidParameter("a table of a hierarchy is there twice. Leave one out.")
    for name, rule in (rules or {}).items():
        if not isinstance(rule, Expression):
            raise InvalidParameter(f"the rule {name!r} is a condition over keys, such as dp.col('age') >= 15.")
    return Levels(
        tuple(levels),
        made,
        tuple((level, _ordered(one, others)) for level, one in (exact or {}).items()),
        tuple((rules or {}).items()),
        areas,
        None if shares is None else tuple(tuple(row) for row in shares),
    )


def _ordered(some: Sequence[str], names: Sequence[str]) -> Set:
    return tuple(name for name in names if name in some)


def products(parts: Sequence[Sequence[Set]]) -> Iterator[Set]:
    """Yield the groupings of several parts of GROUP BY: one of each, put together.

    >>> list(products([[("a",), ()], [("b",)]]))
    [('a', 'b'), ('b',)]
    """
    if not parts:
        yield ()
        return
    first, *rest = parts
    for one in first:
        for other in products(rest):
            yield (*one, *other)
