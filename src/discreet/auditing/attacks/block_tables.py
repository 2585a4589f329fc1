"""People from published tables: statistics are equations, and enough of them have one solution.

Garfinkel, Abowd and Martindale, "Understanding Database Reconstruction Attacks on Public Data", ACM Queue 2018: counts,
means and medians of a block of seven people, small cells suppressed, leave exactly one set of people that fits. The
search here goes through the people in order of age, so that each median is known when its person comes, and cuts every
branch that some table contradicts.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median

from discreet.errors import InvalidInput, InvalidParameter

__all__ = ["BLOCK", "CELLS", "OLDEST", "BlockTable", "Person", "certain_records", "consistent", "tabulate"]

Person = tuple[int, str, str]
"""Age, sex and race, as the tables call them."""

BLOCK: tuple[Person, ...] = (
    (8, "F", "B"),
    (18, "M", "W"),
    (24, "F", "W"),
    (30, "M", "W"),
    (36, "F", "B"),
    (66, "F", "B"),
    (84, "M", "B"),
)
"""The invented block of Garfinkel, Abowd and Martindale."""

OLDEST = 115
SEXES, RACES = ("F", "M"), ("B", "W")
CELLS = tuple(product(SEXES, RACES))


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockTable:
    """One line of a publication: how many people of a sex and race (None for all), their mean and median age.

    A suppressed line says only that fewer than ``count`` people are in it. The mean is rounded to one decimal.
    """

    sex: str | None
    race: str | None
    count: int
    suppressed: bool = False
    mean: float | None = None
    median: float | None = None

    def covers(self, cell: tuple[str, str]) -> bool:
        """Whether the people of a cell are counted here."""
        return self.sex in (None, cell[0]) and self.race in (None, cell[1])

    def __str__(self) -> str:
        who = " ".join(filter(None, (self.race, self.sex))) or "all"
        if self.suppressed:
            return f"{who}: (D)"
        named = ("mean", self.mean), ("median", self.median)
        told = [f"{name} {value:g}" for name, value in named if value is not None]
        return f"{who}: {', '.join([str(self.count), *told])}"


def tabulate(people: Sequence[Person], *, suppress_below: int = 3) -> tuple[BlockTable, ...]:
    """Return the tables of all, by sex, by race and by both, with small ones suppressed.

    >>> for line in tabulate(BLOCK)[:6]:
    ...     print(line)
    all: 7, mean 38, median 30
    B: 4, mean 48.5, median 51
    W: 3, mean 24, median 24
    F: 4, mean 33.5, median 30
    B F: 3, mean 36.7, median 36
    W F: (D)
    """
    for age, sex, race in people:
        if not 0 <= age <= OLDEST or sex not in SEXES or race not in RACES:
            raise InvalidInput(f"a person is (age up to {OLDEST}, 'F' or 'M', 'B' or 'W').")
    tables = []
    for sex_or_all, race_or_all in product((None, *SEXES), (None, *RACES)):
        ages = [a for a, s, r in people if sex_or_all in (None, s) and race_or_all in (None, r)]
        small = len(ages) < max(suppress_below, 1)
        tables.append(
            BlockTable(
                sex=sex_or_all,
                race=race_or_all,
                count=max(suppress_below, 1) if small else len(ages),
                suppressed=small,
                mean=None if small else round(sum(ages) / len(ages), 1),
                median=None if small else median(ages),
            )
        )
    return tuple(tables)


def consistent(tables: Sequence[BlockTable], *, most: int = 100_000) -> list[tuple[Person, ...]]:
    """Return every set of people that the tables allow, or the first ``most`` of them.

    >>> consistent(tabulate(BLOCK)) == [BLOCK]
    True
    """
    if most < 1:
        raise InvalidParameter("at least one solution must be wanted.")
    everyone = [t for t in tables if t.sex is None and t.race is None and not t.suppressed]
    if not everyone:
        raise InvalidInput("the search needs the table of all people: how many are there?")
    found: list[tuple[Person, ...]] = []
    for counts in _cell_counts(tables, everyone[0].count):
        for solution in _Search(tables, counts).solutions():
            found.append(solution)
            if len(found) >= most:
                return found
    return found


def certain_records(solutions: Sequence[tuple[Person, ...]]) -> tuple[Person, ...]:
    """Return the people who are the same in every solution.

    >>> certain_records([((8, "F", "B"), (9, "M", "W")), ((8, "F", "B"), (10, "M", "W"))])
    ((8, 'F', 'B'),)
    """
    if not solutions:
        return ()
    common = Counter(solutions[0])
    for solution in solutions[1:]:
        common &= Counter(solution)
    return tuple(sorted(common.elements()))


def _cell_counts(tables: Sequence[BlockTable], people: int) -> Iterator[dict[tuple[str, str], int]]:
    """Yield how many people each cell may hold."""
    for numbers in product(range(people + 1), repeat=len(CELLS) - 1):
        counts = dict(zip(CELLS, (*numbers, people - sum(numbers)), strict=True))
        if counts[CELLS[-1]] < 0:
            continue
        sizes = [(t, sum(k for cell, k in counts.items() if t.covers(cell))) for t in tables]
        if all(size < t.count if t.suppressed else size == t.count for t, size in sizes):
            yield counts


def _sums(tables: Sequence[BlockTable], counts: Mapping[tuple[str, str], int]) -> list[tuple[int, int]]:
    """Return between what the ages of each table add up, suppressed ones too: what one table says binds the others."""
    sums = {cell: (0, k * OLDEST) for cell, k in counts.items()}
    parts = [[cell for cell in CELLS if table.covers(cell)] for table in tables]
    told = []
    for table, cells in zip(tables, parts, strict=True):
        size = sum(counts[cell] for cell in cells)
        mean = table.mean
        low = 0 if mean is None else math.ceil((mean - 0.05) * size - 1e-9)
        told.append((low, size * OLDEST if mean is None else math.floor((mean + 0.05) * size + 1e-9)))
    for _ in range(8):
        for place, cells in enumerate(parts):
            low, high = told[place]
            least, most = sum(sums[cell][0] for cell in cells), sum(sums[cell][1] for cell in cells)
            low, high = told[place] = max(low, least), min(high, most)
            for cell in cells:
                a, b = sums[cell]
                sums[cell] = max(a, low - (most - b)), min(b, high - (least - a))
        totals = {(t.sex, t.race): bounds for t, bounds in zip(tables, told, strict=True)}
        for place, table in enumerate(tables):  # what is left when the others of a whole are taken away
            whole, other = _complement(table)
            if whole in totals and other in totals:
                (low, high), (a, b), (c, d) = told[place], totals[whole], totals[other]
                told[place] = max(low, a - d), min(high, b - c)
    return told


def _complement(table: BlockTable) -> tuple[tuple[str | None, str | None], tuple[str | None, str | None]]:
    """Return a table that this one is part of, and the rest of it."""
    if table.race is not None:
        return (table.sex, None), (table.sex, RACES[1 - RACES.index(table.race)])
    if table.sex is not None:
        return (None, None), (SEXES[1 - SEXES.index(table.sex)], None)
    return (None, None), ("", "")


class _Group:
    """One table while people are placed: its members so far, and what those to come must satisfy."""

    def __init__(self, size: int, middle: float | None, bounds: tuple[int, int]) -> None:
        self.size, self.median = size, middle
        self.low, self.high = bounds
        self.half, self.odd = size // 2, size % 2
        self.ages: list[int] = []
        self.total = 0

    def youngest(self) -> float:
        """The least age that the next member may have: his own if he is in the middle, or else what the sum needs."""
        place, left = len(self.ages), self.size - len(self.ages) - 1
        if self.median is None:
            return self.low - self.total - left * OLDEST
        if place == self.half:
            return self.median if self.odd else 2 * self.median - self.ages[-1]
        upto = max(self.half - place - 1 + self.odd, 0)  # those who are at most as old as the middle
        return self.low - self.total - upto * self.median - (left - upto) * OLDEST

    def oldest(self) -> float:
        """The largest age that anybody who comes next may have: all who follow are as old or older."""
        place = len(self.ages)
        left = self.size - place
        if not left:
            return OLDEST
        limit = (self.high - self.total) / left
        if self.median is None or place > self.half or (place == self.half and self.odd):
            return limit if self.median is None or place > self.half else min(limit, self.median)
        if place == self.half:
            return min(limit, 2 * self.median - self.ages[-1])
        beyond = left - (self.half - place)  # those who are at least as old as the middle
        return min(self.median, (self.high - self.total - beyond * self.median) / (self.half - place))


class _Search:
    """Place people from the youngest to the oldest; within one age in the order of the cells."""

    def __init__(self, tables: Sequence[BlockTable], counts: Mapping[tuple[str, str], int]) -> None:
        self.left = dict(counts)
        self.people = sum(counts.values())
        sizes = [sum(k for cell, k in counts.items() if table.covers(cell)) for table in tables]
        told = zip(tables, sizes, _sums(tables, counts), strict=True)
        groups = [(table, _Group(size, table.median, bounds)) for table, size, bounds in told]
        self.possible = all(group.low <= group.high for _, group in groups)
        self.groups = [group for _, group in groups]
        self.members = {cell: [group for t, group in groups if t.covers(cell)] for cell in CELLS}
        self.placed: list[Person] = []

    def solutions(self) -> Iterator[tuple[Person, ...]]:
        """Yield all of them."""
        if not self.possible:
            return
        if len(self.placed) == self.people:
            yield tuple(self.placed)
            return
        last = self.placed[-1] if self.placed else (0, "", "")
        high = min(OLDEST, *(math.floor(group.oldest() + 1e-9) for group in self.groups))
        for cell in CELLS:
            if not self.left[cell]:
                continue
            mine = self.members[cell]
            low = max(last[0], *(math.ceil(group.youngest() - 1e-9) for group in mine))
            for age in range(low + ((low, *cell) < last), high + 1):
                self._place((age, *cell), mine)
                yield from self.solutions()
                self._take_back(mine)

    def _place(self, person: Person, groups: Sequence[_Group]) -> None:
        self.placed.append(person)
        self.left[person[1:]] -= 1
        for group in groups:
            group.ages.append(person[0])
            group.total += person[0]

    def _take_back(self, groups: Sequence[_Group]) -> None:
        person = self.placed.pop()
        self.left[person[1:]] += 1
        for group in groups:
            group.ages.pop()
            group.total -= person[0]
