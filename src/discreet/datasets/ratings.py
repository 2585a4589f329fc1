"""Ratings of films by invented people: as sparse, as skewed and as personal as the real thing.

The shape follows the Netflix Prize data as Narayanan and Shmatikov describe it (IEEE Symposium on Security and Privacy,
2008): each person rates about one title in a hundred, a few hundred titles get most of the ratings, everybody has
favourite kinds of film, and ratings come in evenings. Draws are those of ``population``: the same on every machine.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.datasets.distinct import distinct
from discreet.datasets.size import SEED, whole

__all__ = ["Ratings", "ratings"]

KINDS = 24
DAYS = 1_460
"""Four years, the later ones busier."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """A sparse table of people by titles: person i's entries stand from ``start[i]`` up to ``start[i + 1]``.

    >>> few = ratings(100, 400)
    >>> first = few.of(0)
    >>> len(few.title[first]) == int(few.start[1])
    True
    """

    titles: int
    start: Ints
    title: Ints
    stars: Ints
    day: Ints

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.start) - 1

    @property
    def person(self) -> Ints:
        """The person of each entry."""
        return np.repeat(np.arange(self.people), np.diff(self.start))

    def of(self, person: int) -> slice:
        """Return where the entries of one person stand."""
        return slice(int(self.start[person]), int(self.start[person + 1]))


def ratings(people: int = 50_000, titles: int = 5_000) -> Ratings:
    """Return who rated which title with how many stars on which day.

    >>> films = ratings(2_000, 5_000)
    >>> round(len(films.title) / (films.people * films.titles), 3)
    0.009
    >>> int(films.stars.min()), int(films.stars.max())
    (1, 5)
    """
    n, m = whole(people, "people", 2), whole(titles, "titles", KINDS)
    random = np.random.RandomState(SEED + 1)
    kind, quality = np.arange(m) % KINDS, 3.6 + 0.5 * random.standard_normal(m)
    appeal = (np.arange(m) + 20.0) ** -0.9 * np.exp(0.5 * random.standard_normal(m))
    wanted = np.clip(np.exp(3.55 + 0.95 * random.standard_normal(n)), 8, m / 4).astype(np.int64)
    person = np.repeat(np.arange(n), wanted)
    title = _titles(random, person, kind, appeal, n)
    keys = distinct(person * m + title)
    person, title = keys // m, keys % m
    taste = 0.4 * random.standard_normal(n)
    stars = np.rint(quality[title] + taste[person] + 0.9 * random.standard_normal(len(keys)))
    start = np.searchsorted(person, np.arange(n + 1))
    return Ratings(m, start, title, np.clip(stars, 1, 5).astype(np.int64), _days(random, person, start))


def _titles(random: np.random.RandomState, person: Ints, kind: Ints, appeal: NDArray[Any], n: int) -> Ints:
    """Draw titles by their appeal, half of them from a person's two favourite kinds."""
    everything = np.cumsum(appeal)
    title = np.searchsorted(everything, random.random_sample(len(person)) * everything[-1])
    favourites = (random.random_sample((n, 2)) * KINDS).astype(np.int64)
    which = (random.random_sample(len(person)) < 0.5).astype(np.int64)
    wished, draws = favourites[person, which], random.random_sample(len(person))
    at_heart = random.random_sample(len(person)) < 0.5
    for one in range(KINDS):
        members, mine = np.flatnonzero(kind == one), np.flatnonzero(at_heart & (wished == one))
        edges = np.cumsum(appeal[members])
        title[mine] = members[np.searchsorted(edges, draws[mine] * edges[-1])]
    found: Ints = title.astype(np.int64)
    return found


def _days(random: np.random.RandomState, person: Ints, start: Ints) -> Ints:
    """Give each person a stretch of days, and within it an evening for every few ratings."""
    n = len(start) - 1
    length = 30 + random.random_sample(n) * 700
    first = random.random_sample(n) ** 0.5 * (DAYS - length)
    evenings = np.maximum(1, np.diff(start) // 6)
    evening = (random.random_sample(len(person)) * evenings[person]).astype(np.int64)
    offset = np.concatenate([[0], np.cumsum(evenings)])
    when = random.random_sample(int(offset[-1]))
    days: Ints = (first[person] + length[person] * when[offset[person] + evening]).astype(np.int64)
    return days
