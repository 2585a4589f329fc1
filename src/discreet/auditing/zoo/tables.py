"""Histograms and counts by group: keys, nulls and people with many rows."""

from collections import Counter
from functools import partial

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Integers, geometric, many

__all__ = ["BROKEN", "CORRECT"]

Keys = tuple[str, ...]
Table = dict[str, int]
ONE = PrivacyLoss.pure(1)


def raw_keys(records: Keys, n: int, rng: np.random.Generator) -> list[Table]:
    """Count the groups that occur, with noise on each count."""
    counts = Counter(records)
    noisy = geometric(1, (n, len(counts)), rng) + np.fromiter(counts.values(), np.int64)
    return [dict(zip(counts, row, strict=True)) for row in noisy.tolist()]


def public_keys(records: Keys, n: int, rng: np.random.Generator) -> list[Table]:
    """Count the groups of a public list, with noise on each count."""
    counts = Counter(records)
    noisy = geometric(1, (n, 3), rng) + np.array([counts[key] for key in "abc"])
    return [dict(zip("abc", row, strict=True)) for row in noisy.tolist()]


def stable(records: Keys, n: int, rng: np.random.Generator, *, above: int) -> list[Table]:
    """Count the groups that occur and keep those whose noisy count is above a threshold."""
    return [{key: count for key, count in table.items() if count > above} for table in raw_keys(records, n, rng)]


def with_nulls(records: tuple[int | None, ...], n: int, rng: np.random.Generator) -> Integers:
    """Return the noisy sum and, as information about the data's quality, how many values are missing."""
    known = [value for value in records if value is not None]
    return np.column_stack((sum(known) + geometric(1, n, rng), np.full(n, len(records) - len(known))))


def with_noisy_nulls(records: tuple[int | None, ...], n: int, rng: np.random.Generator) -> Integers:
    """Return the noisy sum and the noisy number of missing values; one record changes only one of them."""
    known = [value for value in records if value is not None]
    return np.add(geometric(1, (n, 2), rng), (sum(known), len(records) - len(known)), dtype=np.int64)


def rows_of_people(rows: tuple[int, ...], n: int, rng: np.random.Generator, *, most: int | None = None) -> Integers:
    """Count rows, given how many each person has; with ``most``, no more than that of each."""
    return sum(min(own, most or own) for own in rows) + geometric(1, n, rng)


KOROLOVA = "Korolova, Kenthapadi, Mishra and Ntoulas, Releasing Search Queries and Clicks Privately, WWW 2009"
BUN = "Bun, Nissim and Stemmer, Simultaneous Private Learning of Multiple Concepts, ITCS 2016"
WILSON = "Wilson et al., Differentially Private SQL with Bounded User Contribution, PETS 2020"
RARE = {"neighbours": (("a", "a", "b"), ("a", "a", "b", "c")), "relation": "add_remove"}
ALONE = {
    "neighbours": ((), ("a",)),
    "relation": "add_remove",
    "claims": PrivacyLoss.approximate(1, 1e-3),
    "delta": 1e-3,
}
MISSING = {"neighbours": ((1, 0, 1), (1, 0, 1, None)), "relation": "add_remove"}
PEOPLE = {"neighbours": ((1, 1, 1), (1, 1, 1, 5)), "relation": "add_remove"}

BROKEN = (
    many(
        raw_keys,
        name="raw-group-keys",
        mistake="Counts are noisy, but which groups are listed depends on who is there.",
        paper=KOROLOVA,
        claims=ONE,
        **RARE,
    ),
    many(
        partial(stable, above=3),
        name="threshold-with-decimal-logarithm",
        mistake="Groups are kept above log10(1 / delta) / epsilon instead of ln(1 / delta) / epsilon.",
        paper=BUN,
        **ALONE,
    ),
    many(
        partial(stable, above=6),
        name="threshold-not-strict",
        mistake="Groups are kept from the threshold 7 on, which is one too low: delta holds for those above it.",
        paper=BUN,
        **ALONE,
    ),
    many(
        with_nulls,
        name="exact-null-count",
        mistake="The number of missing values is released exactly and for free.",
        paper="OpenDP issue 2938, 2026: a count that is thought to be public",
        claims=ONE,
        **MISSING,
    ),
    many(
        rows_of_people,
        name="unbounded-contributions",
        mistake="Rows are counted with noise for one row, and a person has five.",
        paper=WILSON,
        claims=ONE,
        **PEOPLE,
    ),
)

CORRECT = (
    many(public_keys, name="public-group-keys", mistake="", paper=KOROLOVA, claims=ONE, **RARE),
    many(partial(stable, above=7), name="threshold", mistake="", paper=BUN, **ALONE),
    many(with_noisy_nulls, name="noisy-null-count", mistake="", paper=WILSON, claims=ONE, **MISSING),
    many(partial(rows_of_people, most=1), name="bounded-contributions", mistake="", paper=WILSON, claims=ONE, **PEOPLE),
)
