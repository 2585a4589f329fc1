"""Releases that say something without an answer: by failing, or by taking longer."""

import math

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Integers, Specimen, geometric, many

__all__ = ["BROKEN", "CORRECT"]

Values = tuple[float, ...]
ONE = PrivacyLoss.pure(1)
WORK = 600


def roots(values: Values, rng: np.random.Generator) -> int:
    """Return a noisy sum of square roots, which fails on a negative value."""
    return round(sum(min(math.sqrt(value), 1) for value in values)) + int(geometric(1, 1, rng)[0])


def clamped_roots(values: Values, n: int, rng: np.random.Generator) -> Integers:
    """Return a noisy sum of square roots of clamped values."""
    return round(sum(math.sqrt(min(max(value, 0), 1)) for value in values)) + geometric(1, n, rng)


def busy() -> int:
    """Take a while."""
    work = 0
    for turn in range(WORK):
        work ^= turn
    return work


def slow_on_outliers(values: Values, rng: np.random.Generator) -> int:
    """Count records, after a search that takes long when one of them is large."""
    if max(values) > 1:
        busy()
    return len(values) + int(geometric(1, 1, rng)[0])


def slow_always(values: Values, rng: np.random.Generator) -> int:
    """Count records, after work that does not depend on them."""
    busy()
    return len(values) + int(geometric(1, 1, rng)[0])


WILSON = "Wilson et al., Differentially Private SQL with Bounded User Contribution, PETS 2020"
HAEBERLEN = "Haeberlen, Pierce and Narayan, Differential Privacy Under Fire, USENIX Security 2011"
NEGATIVE = {"neighbours": ((1.0, 0.0), (1.0, 0.0, -1.0)), "relation": "add_remove"}

BROKEN = (
    Specimen(
        name="exception-on-one-record",
        mistake="A record for which a function is not defined makes the query fail, with or without noise.",
        paper=WILSON,
        claims=ONE,
        neighbours=((1.0, 0.0), (1.0, 0.0, -1.0)),
        relation="add_remove",
        run=roots,
    ),
    Specimen(
        name="slow-on-one-record",
        mistake="The answers are private, but a certain record makes them take longer.",
        paper=HAEBERLEN,
        claims=ONE,
        neighbours=((1.0, 0.0), (1.0, 7.0)),
        relation="replace_one",
        run=slow_on_outliers,
        shows="duration",
    ),
)

CORRECT = (
    many(clamped_roots, name="total-function", mistake="", paper=WILSON, claims=ONE, **NEGATIVE),
    Specimen(
        name="always-slow",
        mistake="",
        paper=HAEBERLEN,
        claims=ONE,
        neighbours=((1.0, 0.0), (1.0, 7.0)),
        relation="replace_one",
        run=slow_always,
        shows="duration",
    ),
)
