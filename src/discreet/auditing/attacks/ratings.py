"""De-anonymising sparse ratings: a handful of remembered films finds the person.

Narayanan and Shmatikov, "Robust De-anonymization of Large Sparse Datasets", IEEE Symposium on Security and Privacy,
2008. Their algorithm Scoreboard-RH: every record is scored against what the attacker knows,

    score = sum over known titles i in the record of w_i (e^(-|stars - stars'| / 1.5) + e^(-|days - days'| / 30)),

with ``w_i = 1 / log(number of people who rated i)``, so that rare titles weigh more. The best record is accepted if it
stands out: if ``(best - second) / (standard deviation of all scores)`` exceeds 1.5; otherwise nobody is accused.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import plots
from discreet.auditing.attacks.percent import percent
from discreet.auditing.attacks.protection import Protection, protect
from discreet.datasets import Ratings, ratings
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric

__all__ = ["Memory", "RatingsAttack", "deanonymise_ratings"]

ECCENTRICITY = 1.5
STARS, DAYS = 1.5, 30.0
MOST = 20
"""How many ratings of each person the protected release counts."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """How well the attacker remembers: dates to within some days or not at all, stars to within some, films made up.

    ``wrong`` is the share of titles that the person never rated, rounded down.
    """

    name: str
    days: int | None = 14
    stars: int = 1
    wrong: float = 0.0


MEMORIES = (
    Memory(name="dates to within 3 days", days=3, stars=0),
    Memory(name="within 14 days, 1 in 4 titles wrong", days=14, wrong=0.25),
    Memory(name="no dates", days=None),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsAttack:
    """How often the right person is found (``found``) and somebody else accused (``accused``), by memory and count.

    ``accused_absent`` is how often anybody is accused when the person is not in the data at all, at the largest count.
    """

    people: int
    titles: int
    targets: int
    known: tuple[int, ...]
    found: dict[str, tuple[float, ...]]
    accused: dict[str, tuple[float, ...]]
    accused_absent: dict[str, float]
    protection: Protection

    @property
    def verdict(self) -> str:
        """What the attack found, in a few sentences."""
        name, rates = next(iter(self.found.items()))
        worse = list(self.found)[min(1, len(self.found) - 1)]
        still, stranger = percent(self.found[worse][-1]), percent(self.accused[worse][-1])
        poorer = f"With a poorer memory ({worse}) {self.known[-1]} still find {still} and" if worse != name else "They"
        return (
            f"{self.known[-1]} remembered ratings ({name}) find {percent(rates[-1])} of people among {self.people:,} "
            f"in a table without names; {self.known[0]} find {percent(rates[0])}. {poorer} accuse a stranger in "
            f"{stranger} of cases; if the person is not in the table at all, somebody is accused in "
            f"{percent(self.accused_absent[worse])}."
        )

    def __str__(self) -> str:
        return f"{self.verdict} {self.protection}"

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of people found against the number of ratings known, a line for each memory."""
        lines = [
            plots.Curve(name=name, xs=self.known, ys=[100 * rate for rate in rates], strong=place == 0)
            for place, (name, rates) in enumerate(self.found.items())
        ]
        chance = 100 / self.people
        lines.append(
            plots.Curve(
                name="guessing", xs=[self.known[0], self.known[-1]], ys=[chance, chance], dashed=True, markers=False
            )
        )
        return plots.curves(
            lines,
            plots.Axis(title="ratings the attacker knows", whole=True),
            plots.Axis(title="people found, percent", low=0.0, high=100.0),
            title="A few remembered ratings find the person",
            subtitle=f"{self.people:,} people, {self.titles:,} titles, no names; {self.targets} people looked for",
        )


def deanonymise_ratings(
    released: Ratings | None = None,
    *,
    known: Sequence[int] = tuple(range(2, 9)),
    targets: int = 200,
    memories: Sequence[Memory] = MEMORIES,
    eccentricity: float = ECCENTRICITY,
    auxiliary: Ratings | None = None,
    epsilon: float = 1.0,
) -> RatingsAttack:
    """Look for people in released ratings, knowing a few of their ratings from elsewhere.

    A higher ``eccentricity`` accuses fewer people, rightly or wrongly. ``auxiliary`` is where the attacker's knowledge
    comes from, row by row the same people; by default the release itself, blurred as each memory says. The people
    looked for are drawn in the same way on every call.

    >>> found = deanonymise_ratings(ratings(2_000, 1_000), targets=40)
    >>> found.found["dates to within 3 days"][-1] > 0.9
    True
    """
    data = ratings() if released is None else released
    source = data if auxiliary is None else auxiliary
    counts = tuple(sorted(set(known)))
    if not counts or counts[0] < 1 or not memories or source.people != data.people or source.titles != data.titles:
        raise InvalidParameter(
            "known needs counts from 1, memories one at least, auxiliary the same people and titles."
        )
    rich = np.flatnonzero(np.diff(source.start) >= counts[-1])
    if not len(rich) or targets < 1:
        raise InvalidParameter(f"nobody has {counts[-1]} ratings to be known by. Ask for fewer: known=range(2, 5).")
    index = _Index(data, eccentricity)
    random = np.random.RandomState(1)
    chosen = rich[np.argsort(random.random_sample(len(rich)))[:targets]]
    found: dict[str, tuple[float, ...]] = {}
    accused: dict[str, tuple[float, ...]] = {}
    absent: dict[str, float] = {}
    for memory in memories:
        right = np.zeros((2, len(counts)))
        nobody = 0.0
        for person in chosen.tolist():
            hints = _remember(random, source, person, counts[-1], memory)
            for place, (best, missing) in enumerate(index.search(hints, counts, person)):
                right[0, place] += best == person
                right[1, place] += best not in (person, -1)
                nobody += place == len(counts) - 1 and missing >= 0
        found[memory.name], accused[memory.name] = (tuple((row / len(chosen)).tolist()) for row in right)
        absent[memory.name] = nobody / len(chosen)
    return RatingsAttack(
        people=data.people,
        titles=data.titles,
        targets=len(chosen),
        known=counts,
        found=found,
        accused=accused,
        accused_absent=absent,
        protection=protect(
            Geometric(sensitivity=MOST, epsilon=epsilon),
            _stars_of_titles(data),
            np.ones(MOST, dtype=np.int64),
            release=f"how often each title got each star, from {MOST} ratings of each person",
        ),
    )


def _stars_of_titles(data: Ratings) -> NDArray[np.int64]:
    """Return how often each title got each star, from so many ratings of each person that are drawn at random."""
    random = np.random.RandomState(4)
    order = np.lexsort((random.random_sample(len(data.title)), data.person))
    kept = order[np.arange(len(order)) - np.repeat(data.start[:-1], np.diff(data.start)) < MOST]
    return np.bincount(5 * data.title[kept] + data.stars[kept] - 1, minlength=5 * data.titles)


Hint = tuple[int, float, float]


def _remember(random: np.random.RandomState, source: Ratings, person: int, count: int, memory: Memory) -> list[Hint]:
    """Return what the attacker knows: title, stars and day, blurred; the day is NaN where it is unknown."""
    mine = source.of(person)
    order = np.argsort(random.random_sample(mine.stop - mine.start))[:count] + mine.start
    hints = []
    for rank, entry in enumerate(order.tolist()):
        title, stars = int(source.title[entry]), float(source.stars[entry])
        made_up = math.floor((rank + 1) * memory.wrong) > math.floor(rank * memory.wrong)
        if made_up:
            title = int(source.title[int(random.random_sample() * len(source.title))])
        day = math.nan
        if memory.days is not None:
            day = float(source.day[entry]) + (2 * random.random_sample() - 1) * memory.days
        stars += round((2 * random.random_sample() - 1) * (memory.stars + 0.499))
        hints.append((title, min(max(stars, 1.0), 5.0), day))
    return hints


class _Index:
    """The released table by title: who rated it, how and when."""

    def __init__(self, data: Ratings, eccentricity: float) -> None:
        self.eccentricity = eccentricity
        order = np.argsort(data.title, kind="stable")
        self.people = data.people
        self.person, self.stars, self.day = data.person[order], data.stars[order], data.day[order]
        self.start = np.searchsorted(data.title[order], np.arange(data.titles + 1))

    def search(self, hints: Sequence[Hint], counts: Sequence[int], person: int) -> list[tuple[int, int]]:
        """Return the accepted record, or -1, after each count of hints: as it is, and had the person been left out."""
        scores = np.zeros(self.people)
        found = []
        for rank, (title, stars, day) in enumerate(hints, start=1):
            place = slice(int(self.start[title]), int(self.start[title + 1]))
            support = place.stop - place.start
            if support:
                near = np.exp(-np.abs(self.stars[place] - stars) / STARS)
                if not math.isnan(day):
                    near += np.exp(-np.abs(self.day[place] - day) / DAYS)
                scores[self.person[place]] += near / math.log(max(support, 2))
            if rank in counts:
                without = np.delete(scores, person)
                found.append((_accept(scores, self.eccentricity), _accept(without, self.eccentricity)))
        return found


def _accept(scores: Floats, eccentricity: float) -> int:
    """Return the record that stands out, or -1."""
    spread = float(scores.std())
    best = int(scores.argmax())
    first = float(scores[best])
    scores[best] = -math.inf
    second = float(scores.max())
    scores[best] = first
    return best if spread > 0 and (first - second) / spread > eccentricity else -1
