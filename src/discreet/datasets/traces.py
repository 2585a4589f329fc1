"""Where the phones of invented people were, by the hour: a month in a town with a centre.

Each person sleeps in one place, spends working hours in another and visits a few more; a point is written down only
when the phone is used, about a hundred times a month, as in the records that de Montjoye, Hidalgo, Verleysen and
Blondel studied ("Unique in the Crowd", Scientific Reports, 2013).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.datasets.distinct import distinct
from discreet.datasets.size import SEED, whole

__all__ = ["Traces", "traces"]

WIDTH = 24
"""The town is a square of so many antennas each way."""

DAYS = 28
HABIT = np.array([0.1] * 6 + [0.5, 1.0, 1.4] + [1.2] * 8 + [1.6] * 4 + [1.2, 0.7, 0.3])
"""How much a phone is used in each hour of the day."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """Points of people: ``person`` used the antenna in column ``x`` and row ``y`` in hour ``hour``, each point once.

    >>> month = traces(50)
    >>> month.people, len(month.x) == len(month.person)
    (50, True)
    """

    people: int
    person: Ints
    x: Ints
    y: Ints
    hour: Ints


def traces(people: int = 20_000) -> Traces:
    """Return the points of everybody, ordered by person.

    >>> month = traces(1_000)
    >>> 60 < len(month.person) / month.people < 120
    True
    """
    n = whole(people, "people", 1)
    random = np.random.RandomState(SEED + 2)
    home = _places(random, (n, 1), spread=5.5)
    work = _places(random, (n, 1), spread=3.0)
    others = _places(random, (n, 6), spread=4.5)
    haunts = np.concatenate([home, work, others], axis=1)
    calls = np.clip(np.exp(4.4 + 0.6 * random.standard_normal(n)), 10, 24 * DAYS / 2).astype(np.int64)
    person = np.repeat(np.arange(n), calls)
    day = (random.random_sample(len(person)) * DAYS).astype(np.int64)
    edges = np.cumsum(HABIT)
    clock = np.searchsorted(edges, random.random_sample(len(person)) * edges[-1])
    place = _which(random, day, clock)
    where = haunts[person, place]
    hour = 24 * day + clock
    keys = distinct((person * 24 * DAYS + hour) * WIDTH**2 + where)
    where, rest = keys % WIDTH**2, keys // WIDTH**2
    return Traces(n, rest // (24 * DAYS), where % WIDTH, where // WIDTH, rest % (24 * DAYS))


def _places(random: np.random.RandomState, shape: tuple[int, int], spread: float) -> Ints:
    """Draw antennas around the centre, thinning outwards."""
    middle = (WIDTH - 1) / 2
    x, y = (
        np.clip(np.rint(middle + spread * random.standard_normal(shape)), 0, WIDTH - 1).astype(np.int64)
        for _ in range(2)
    )
    return WIDTH * y + x


def _which(random: np.random.RandomState, day: Ints, clock: Ints) -> Ints:
    """Choose home (0), work (1) or another haunt by the clock; people work on five days of seven."""
    dice = random.random_sample(len(day))
    other = 2 + (random.random_sample(len(day)) ** 1.7 * 6).astype(np.int64)
    at_work = (day % 7 < 5) & (clock >= 8) & (clock < 18)
    night = (clock < 7) | (clock >= 22)
    usual = np.where(at_work, 1, 0)
    stays = np.where(at_work, 0.75, np.where(night, 0.92, 0.6))
    return np.where(dice < stays, usual, other)
