"""Visits of invented people to invented cities in 2026: the shape of a log that a company keeps.

A few people come daily and many once, a few cities have most of the visits (Zipf, "Human Behavior and the Principle of
Least Effort", 1949), and what is spent has a heavy tail. Who comes how often and where is what bounded contributions
are for. Draws are those of ``population``: the same on every machine.
"""

from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.datasets.size import SEED, whole
from discreet.errors import InvalidParameter

__all__ = ["KINDS", "Visits", "visits"]

KINDS = ("meal", "shop", "show", "stay", "trip")
SHARES = (0.38, 0.34, 0.1, 0.07, 0.11)
SPENT = (22.0, 34.0, 45.0, 140.0, 60.0)
"""The median amount of each kind."""

WEEK = (1.1, 1.0, 1.2, 1.6, 1.8, 0.8, 0.9)
"""How busy each day of the week is; the first of January 2026 is a Thursday."""

BEFORE = ("", "New ", "North ", "Upper ", "Saint ", "Old ", "Great ", "Little ", "East ", "West ", "Lower ")
FIRST = (
    *("Alder", "Amber", "Ash", "Barrow", "Birch", "Black", "Brack", "Bright", "Cald", "Clear", "Cope", "Cray", "Dun"),
    *("Elm", "Fair", "Fern", "Gold", "Green", "Hart", "Haw", "Hazel", "Holm", "Kings", "Lang", "Linden", "Mar", "Mill"),
    *("Nether", "Oak", "Ox", "Pen", "Raven", "Red", "Rose", "Shep", "Silver", "Stan", "Thorn", "Wal", "Whit"),
)
LAST = (
    *("borough", "bridge", "brook", "burn", "bury", "by", "combe", "cote", "dale", "den", "field", "ford", "gate"),
    *("ham", "haven", "hurst", "leigh", "low", "mere", "minster", "mouth", "port", "ridge", "stead", "stoke", "ton"),
)
PLAIN = len(FIRST) * len(LAST)
MOST = len(BEFORE) * PLAIN

Column = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Visits:
    """One row for each visit, in order of the days; cities and kinds as places in ``cities`` and ``KINDS``.

    ``rating`` is 1 to 5, and NaN where the visitor gave none; ``returned`` says whether the visitor came back.
    """

    cities: Column
    user_id: NDArray[np.int64]
    city_code: NDArray[np.int64]
    kind_code: NDArray[np.int64]
    day: NDArray[np.datetime64]
    amount: NDArray[np.float64]
    age: NDArray[np.int64]
    returned: NDArray[np.bool_]
    rating: NDArray[np.float64]

    @property
    def table(self) -> dict[str, Column]:
        """The visits as a dict from column name to numpy array, with the names of cities and kinds.

        >>> list(visits(rows=1_000, users=50).table)
        ['user_id', 'city', 'day', 'amount', 'age', 'kind', 'returned', 'rating']
        """
        return {
            "user_id": self.user_id,
            "city": self.cities[self.city_code],
            "day": self.day,
            "amount": self.amount,
            "age": self.age,
            "kind": np.array(KINDS)[self.kind_code],
            "returned": self.returned,
            "rating": self.rating,
        }


def visits(rows: int = 100_000, users: int = 5_000, cities: int = 200, *, home: float = 0.5) -> Visits:
    """Return the visits of a year; a share ``home`` of each user's visits is to one city, the others anywhere.

    >>> year = visits(rows=10_000, users=500, cities=100)
    >>> str(year.cities[0]), int((year.city_code == 0).sum()), str(year.day[0]), str(year.day[-1])
    ('Caldfield', 2103, '2026-01-01', '2026-12-31')
    >>> round(float(np.median(year.amount))), int((year.amount > 500).sum())
    (34, 88)
    """
    n, people, places = whole(rows, "rows", 1), whole(users, "users", 1), whole(cities, "cities", 1)
    if places > MOST:
        raise InvalidParameter(f"cities must be at most {MOST}, for there are no more names, got {places}.")
    if not 0 <= home <= 1:
        raise InvalidParameter(f"home must be a share from 0 to 1, got {home!r}.")
    random = np.random.RandomState(SEED + 7)
    user = _drawn(random, np.exp(1.2 * random.standard_normal(people)), n)
    popular = 1 / np.arange(1.0, places + 1)
    city, usual = _drawn(random, popular, n), _drawn(random, popular, people)
    city = np.where(random.random_sample(n) < home, usual[user], city)
    kind = _drawn(random, np.array(SHARES), n)
    spent = np.array(SPENT)[kind] * np.exp(0.95 * random.standard_normal(n))
    age = np.clip(18 + 60 * random.random_sample(people) ** 1.4 + 8 * random.standard_normal(people), 16, 95)
    stars = np.clip(np.rint(3.8 + 1.1 * random.standard_normal(n)), 1, 5)
    silent = random.random_sample(n) < 0.35
    return Visits(
        cities=_names(places),
        user_id=user + 1,
        city_code=city,
        kind_code=kind,
        day=_days(n),
        amount=np.maximum(np.rint(100 * spent), 1) / 100,
        age=age.astype(np.int64)[user],
        returned=random.random_sample(n) < 0.08 * stars,
        rating=np.where(silent, np.nan, stars),
    )


def _drawn(random: np.random.RandomState, weights: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Draw places of a vector by their weights."""
    edges = np.cumsum(weights)
    found = np.searchsorted(edges, random.random_sample(count) * edges[-1], side="right")
    drawn: NDArray[np.int64] = np.minimum(found, len(weights) - 1).astype(np.int64, copy=False)
    return drawn


def _days(count: int) -> NDArray[np.datetime64]:
    """Spread visits over the year in order, more of them before and on weekends and towards its end."""
    number = np.arange(365)
    busy = np.array(WEEK)[number % 7] * (1 + number / 730)
    edges = np.cumsum(busy) * (count / busy.sum())
    each = np.diff(np.rint(edges).astype(np.int64), prepend=0)
    days: NDArray[np.datetime64] = np.repeat(np.datetime64("2026-01-01", "D") + number, each)
    return days


def _names(count: int) -> Column:
    """Name cities, plain names before compound ones, in an order of its own: the first city has one name everywhere."""
    names = np.array(["".join(parts) for parts in islice(product(BEFORE, FIRST, LAST), max(count, PLAIN))])
    order = np.argsort(np.random.RandomState(SEED + 8).random_sample(PLAIN))
    mixed: Column = np.concatenate([names[:PLAIN][order], names[PLAIN:]])[:count]
    return mixed
