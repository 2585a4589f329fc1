"""Rebuild the people behind published tables, and see how many sets of people noisy tables allow.

The exact tables are those of ``block_tables``. discreet publishes the smallest cells with geometric noise, their counts
and sums of ages, and adds up all others from them, as the US census of 2020 did (Abowd et al., Harvard Data Science
Review 2022). Medians are left out: of seven people no private one says anything.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from discreet import plots
from discreet.auditing.attacks.block_tables import BLOCK, CELLS, OLDEST, Person, certain_records, consistent, tabulate
from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import Tick, quiet
from discreet.errors import InvalidInput
from discreet.exact import Real, positive
from discreet.mechanisms import Geometric

__all__ = ["Rebuilding", "rebuild_microdata", "worlds"]

EPSILONS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
RECORDS = len(CELLS) * (OLDEST + 1)
"""How many different people there can be."""

Interval = tuple[int, int]
Cell = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilding(Outcome):
    """How many sets of people fit exact tables, and noisy ones at each epsilon.

    ``certain`` is how many people are in all of them. ``guess`` bounds how often anybody can name a person's age, sex
    and race, if beforehand all ``RECORDS`` were equally likely.
    """

    people: int
    tables: tuple[str, ...]
    solutions: int
    certain: int
    right: int
    without_medians: int
    possible: int
    epsilon: float
    allowed: int
    allowed_certain: int
    epsilons: tuple[float, ...]
    allowed_by_epsilon: tuple[int, ...]
    blind: float
    guess: float

    @property
    def verdict(self) -> str:
        """What the attack found."""
        many = "1 set of people fits" if self.solutions == 1 else f"{self.solutions:,} sets of people fit"
        return (
            f"{len(self.tables)} tables of {self.people} people, small cells suppressed: {many}; {self.certain} of "
            f"{self.people} people are in every one, and {self.right} of them are right."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        return (
            f"Of {self.possible:.2g} sets of people there are, tables with noise for epsilon {self.epsilon:g} leave "
            f"{self.allowed:.2g}, and {self.allowed_certain} people are in all of them. Nobody can then name a "
            f"person's age, sex and race in more than {self.guess:.2%} of the cases; blindly it is {self.blind:.2%}."
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw how many sets of people are left, against epsilon."""
        ends = [self.epsilons[0], self.epsilons[-1]]

        def level(name: str, value: float) -> plots.Curve:
            return plots.Curve(name=name, xs=ends, ys=[value, value], dashed=True, markers=False)

        lines = [
            plots.Curve(name="discreet", xs=self.epsilons, ys=self.allowed_by_epsilon, strong=True),
            level("nothing published", float(self.possible)),
            level("exact, without medians", float(self.without_medians)),
            level("exact tables", float(max(self.solutions, 1))),
        ]
        return plots.curves(
            lines,
            plots.Axis(title="epsilon of the tables with noise", log=True),
            plots.Axis(title="sets of people that fit what is published", log=True, power=True),
            title="How many towns look like this on paper?",
            subtitle=f"{self.people} people, by age, sex and race; noisy tables are believed to their 95% error",
        )


def rebuild_microdata(
    people: Sequence[Person] = BLOCK,
    *,
    epsilon: Real = 1,
    suppress_below: int = 3,
    most: int = 100_000,
    tick: Tick = quiet,
) -> Rebuilding:
    """Publish tables of a few people, forget the people, and compute them back.

    The noisy cells are epsilon-DP for neighbours that differ in one person, half for the counts and half for the sums.
    An attacker who believes each number to lie within its joint 95% error has as many sets left as ``worlds`` counts.

    >>> found = rebuild_microdata()
    >>> found.solutions, found.certain, found.right
    (1, 7, 7)
    """
    n, truth = len(people), sorted(people)
    if not 3 <= n <= 15:
        raise InvalidInput("the search is for blocks of 3 to 15 people.")
    tick("searching all sets of people")
    tables = tabulate(people, suppress_below=suppress_below)
    solutions = consistent(tables, most=most)
    exact = {cell: [age for age, *rest in people if tuple(rest) == cell] for cell in CELLS}
    epsilons = sorted({*EPSILONS, float(positive(epsilon, "epsilon"))})
    noisy = {}
    for e in epsilons:
        tick(f"epsilon {e:g}")
        noisy[e] = _noisy(exact, e)
    mine = noisy[float(epsilon)]
    lone = [person for person in truth if truth.count(person) == 1]
    certain = certain_records(solutions)
    return Rebuilding(
        people=n,
        tables=tuple(map(str, tables)),
        solutions=len(solutions),
        certain=len(certain),
        right=(Counter(certain) & Counter(truth)).total(),
        without_medians=worlds(n, *_told(exact)),
        possible=math.comb(RECORDS + n - 1, n),
        epsilon=float(epsilon),
        allowed=worlds(n, *mine),
        allowed_certain=sum(not worlds(n, *mine, without=person) for person in lone),
        epsilons=tuple(epsilons),
        allowed_by_epsilon=tuple(worlds(n, *noisy[e]) for e in epsilons),
        blind=1 / RECORDS,
        guess=1 / (1 + (RECORDS - 1) * math.exp(-float(epsilon))),
    )


def worlds(
    people: int, counts: Mapping[Cell, Interval], sums: Mapping[Cell, Interval], *, without: Person | None = None
) -> int:
    """Return how many sets of people have counts and sums of ages within intervals in each cell, exactly.

    ``without`` counts only those that lack one record.

    >>> one = {cell: ((1, 1) if cell == ("F", "B") else (0, 0)) for cell in CELLS}
    >>> worlds(1, one, {cell: (0, 9) for cell in CELLS})
    10
    """
    sets = _age_sets(people, OLDEST)
    ways = [1] + [0] * people
    for cell in CELLS:
        low, high = max(sums[cell][0], 0), min(sums[cell][1], people * OLDEST)
        fits = [0] * (people + 1)
        for k in range(max(counts[cell][0], 0), min(counts[cell][1], people) + 1):
            fits[k] = sum(sets[k][low : high + 1])
            if without is not None and without[1:] == cell and k:  # less those that hold the record: with it, one fewer
                fits[k] -= sum(sets[k - 1][max(low - without[0], 0) : max(high - without[0] + 1, 0)])
        ways = [sum(ways[j] * fits[k - j] for j in range(k + 1)) for k in range(people + 1)]
    return ways[people]


@cache
def _age_sets(people: int, oldest: int) -> list[list[int]]:
    """Return how many multisets of k ages have sum s, for each k and s."""
    sets = [[0] * (people * oldest + 1) for _ in range(people + 1)]
    sets[0][0] = 1
    for age in range(oldest + 1):
        for k in range(1, people + 1):  # upwards, so that an age may come again
            row, before = sets[k], sets[k - 1]
            for s in range(age, k * oldest + 1):
                row[s] += before[s - age]
    return sets


def _told(exact: Mapping[Cell, Sequence[int]]) -> tuple[dict[Cell, Interval], dict[Cell, Interval]]:
    return (
        {cell: (len(ages), len(ages)) for cell, ages in exact.items()},
        {cell: (sum(ages), sum(ages)) for cell, ages in exact.items()},
    )


def _noisy(exact: Mapping[Cell, Sequence[int]], epsilon: float) -> tuple[dict[Cell, Interval], dict[Cell, Interval]]:
    """Release counts and sums, and return what they may have been: jointly right in 19 of 20 releases."""
    intervals = []
    for sensitivity, measure in ((2, len), (2 * OLDEST, sum)):
        mechanism = Geometric(sensitivity=sensitivity, epsilon=epsilon / 2)
        reach = mechanism.error(0.025, queries=len(CELLS))
        answers = {cell: int(mechanism.release(int(measure(ages)))) for cell, ages in exact.items()}
        intervals.append({cell: (answer - reach, answer + reach) for cell, answer in answers.items()})
    return intervals[0], intervals[1]
