"""Noise that is missing, known, shared, or bought twice."""

import math
from functools import partial

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Integers, geometric, many

__all__ = ["BROKEN", "CORRECT"]

ONE = PrivacyLoss.pure(1)


def no_noise(x: int, n: int, rng: np.random.Generator) -> Integers:  # noqa: ARG001 - that is the mistake
    """Return the count."""
    return np.full(n, x)


def fixed_seed(x: int, n: int, rng: np.random.Generator) -> Integers:  # noqa: ARG001 - that is the mistake
    """Return the count with noise from a seed that was left in the code."""
    return np.full(n, x + geometric(1, 1, np.random.default_rng(42))[0])


def seed_from_data(records: tuple[int, ...], n: int, rng: np.random.Generator) -> Integers:  # noqa: ARG001
    """Return the count with noise seeded by the records, so that the same data always get the same answer."""
    seeded = np.random.default_rng(records)
    return np.full(n, sum(records) + geometric(1, 1, seeded)[0])


def shared_noise(x: tuple[int, int], n: int, rng: np.random.Generator) -> Integers:
    """Add one draw to both counts."""
    return np.asarray(x) + geometric(2, (n, 1), rng)


def answered_twice(x: int, n: int, rng: np.random.Generator, scale: float) -> Integers:
    """Answer the same question twice."""
    return x + geometric(scale, (n, 2), rng)


def own_noise(x: tuple[int, int], n: int, rng: np.random.Generator) -> Integers:
    """Add a draw of its own to each count."""
    return np.asarray(x) + geometric(2, (n, 2), rng)


def for_budget(x: int, n: int, rng: np.random.Generator, epsilon: float) -> Integers:
    """Take any float as a budget; where it is not positive there is nothing to divide by, and no noise."""
    return x + geometric(1 / epsilon, n, rng) if epsilon > 0 else np.full(n, x)


GARFINKEL = "Garfinkel and Leclerc, Randomness Concerns when Deploying Differential Privacy, WPES 2020"
DWORK = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity, TCC 2006"
COUNT = {"neighbours": (5, 6), "relation": "add_remove"}
PAIR = {"neighbours": ((5, 3), (5, 4)), "relation": "add_remove"}

BROKEN = (
    many(
        no_noise,
        name="no-noise",
        mistake="The exact count is released.",
        paper=DWORK,
        claims=ONE,
        **COUNT,
    ),
    many(
        fixed_seed,
        name="fixed-seed",
        mistake="The noise comes from a seed that is always the same, so that anybody can subtract it.",
        paper=GARFINKEL,
        claims=ONE,
        **COUNT,
    ),
    many(
        seed_from_data,
        name="seed-from-data",
        mistake="The noise is seeded by the data: it is a fixed function of them, and different for each neighbour.",
        paper=GARFINKEL,
        claims=ONE,
        neighbours=((1, 1, 0, 1), (1, 1, 0, 1, 1)),
        relation="add_remove",
    ),
    many(
        shared_noise,
        name="shared-noise",
        mistake="Two counts get the same noise, which their difference cancels.",
        paper="Dinur and Nissim, Revealing Information while Preserving Privacy, PODS 2003",
        claims=ONE,
        **PAIR,
    ),
    many(
        partial(answered_twice, scale=1),
        name="answered-twice",
        mistake="A question is answered twice with fresh noise and charged once, as a cache or a retry may do.",
        paper="Dwork, Kenthapadi, McSherry, Mironov and Naor, Our Data, Ourselves, EUROCRYPT 2006",
        claims=ONE,
        **COUNT,
    ),
    many(
        partial(for_budget, epsilon=math.nan),
        name="nan-budget",
        mistake="A budget that is NaN passes every check and switches the noise off.",
        paper="Kifer et al., Guidelines for Implementing and Auditing Differentially Private Systems, 2020",
        claims=ONE,
        **COUNT,
    ),
)

CORRECT = (
    many(own_noise, name="own-noise", mistake="", paper=DWORK, claims=ONE, **PAIR),
    many(
        partial(answered_twice, scale=2),
        name="answered-twice-paid-twice",
        mistake="",
        paper=DWORK,
        claims=2 * PrivacyLoss.pure(0.5),
        **COUNT,
    ),
    many(partial(for_budget, epsilon=1), name="valid-budget", mistake="", paper=DWORK, claims=ONE, **COUNT),
)
