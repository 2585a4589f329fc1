"""Choosing the best of several candidates, with too little noise or too much said about the winner."""

from functools import partial

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Floats, Integers, lattice, many

__all__ = ["BROKEN", "CORRECT"]

Scores = tuple[float, ...]
ONE = PrivacyLoss.pure(1)


def exponential(scores: Scores, n: int, rng: np.random.Generator, *, rate: float, copies: int = 0) -> Integers:
    """Choose with odds exp(rate * score), once or several times."""
    weights = np.exp(rate * np.asarray(scores))
    return rng.choice(weights.size, (n, copies) if copies else n, p=weights / weights.sum())


def noisy_max(scores: Scores, n: int, rng: np.random.Generator, *, scale: float) -> Integers:
    """Return the index of the largest score after Laplace noise."""
    return np.asarray((np.asarray(scores) + rng.laplace(0, scale, (n, len(scores)))).argmax(axis=1))


def noisy_max_with_value(scores: Scores, n: int, rng: np.random.Generator, *, scale: float) -> Floats:
    """Return the index of the largest noisy score, and that noisy score."""
    noisy = np.asarray(scores) + rng.laplace(0, scale, (n, len(scores)))
    return np.column_stack((noisy.argmax(axis=1).astype(np.float64), lattice(noisy.max(axis=1))))


def permute_and_flip(scores: Scores, n: int, rng: np.random.Generator, *, rate: float, copies: int = 0) -> Integers:
    """Return the index of the largest score after one-sided exponential noise, once or several times."""
    noise = rng.standard_exponential((n, copies or 1, len(scores))) / rate
    winners = np.asarray((np.asarray(scores) + noise).argmax(axis=2))
    return winners if copies else winners[:, 0]


def present_values(records: tuple[int, ...], n: int, rng: np.random.Generator) -> Integers:
    """Choose a frequent value by the exponential mechanism among those that occur."""
    values, counts = np.unique(records, return_counts=True)
    return values[exponential(tuple(counts), n, rng, rate=0.5)]


def public_values(records: tuple[int, ...], n: int, rng: np.random.Generator) -> Integers:
    """Choose a frequent value by the exponential mechanism among those of a public list."""
    return exponential(tuple(np.bincount(records, minlength=10)), n, rng, rate=0.5)


MCSHERRY = "McSherry and Talwar, Mechanism Design via Differential Privacy, FOCS 2007"
DWORK_ROTH = "Dwork and Roth, The Algorithmic Foundations of Differential Privacy, 2014"
MCKENNA = "McKenna and Sheldon, Permute-and-Flip, NeurIPS 2020"
DURFEE = "Durfee and Rogers, Practical Differentially Private Top-k Selection, NeurIPS 2019"
DONG = "Dong, Durfee and Rogers, Optimal Differential Privacy Composition for Exponential Mechanisms, ICML 2020"
OPPOSED = {"neighbours": ((0,) * 10, (1,) + (-1,) * 9), "relation": "replace_one"}
SWAPPED = {"neighbours": ((0, -1), (-1, 0)), "relation": "replace_one"}
RARE = {"neighbours": ((0, 0, 1, 1), (0, 0, 1, 1, 7)), "relation": "add_remove"}
TWENTY = {"claims": 20 * PrivacyLoss.bounded_range(0.25), "delta": 0.01}

BROKEN = (
    many(
        partial(exponential, rate=1),
        name="exponential-without-two",
        mistake="The exponent is epsilon u, as for scores that all move the same way; here they move both ways.",
        paper=MCSHERRY,
        claims=ONE,
        **OPPOSED,
    ),
    many(
        partial(noisy_max, scale=1),
        name="noisy-max-half-noise",
        mistake="Laplace noise of scale 1 / epsilon is enough for scores that all move the same way, not for these.",
        paper=DWORK_ROTH,
        claims=ONE,
        **OPPOSED,
    ),
    many(
        partial(noisy_max_with_value, scale=2),
        name="noisy-max-with-value",
        mistake="The noisy score of the winner is released too, which bounds all the others.",
        paper="Ding, Wang, Wang, Zhang and Kifer, Detecting Violations of Differential Privacy, CCS 2018",
        claims=ONE,
        neighbours=((0,) * 10, (1,) * 10),
        relation="add_remove",
    ),
    many(
        partial(permute_and_flip, rate=0.125, copies=20),
        name="permute-and-flip-as-bounded-range",
        mistake="Permute-and-flip is composed by the theorem for the exponential mechanism, whose range is half.",
        paper=DONG,
        **SWAPPED,
        **TWENTY,
    ),
    many(
        present_values,
        name="candidates-from-data",
        mistake="The candidates are the values that occur, so that a rare one proves that somebody has it.",
        paper=DURFEE,
        claims=ONE,
        **RARE,
    ),
)

CORRECT = (
    many(
        partial(exponential, rate=0.5), name="exponential-with-two", mistake="", paper=MCSHERRY, claims=ONE, **OPPOSED
    ),
    many(partial(noisy_max, scale=2), name="noisy-max", mistake="", paper=DWORK_ROTH, claims=ONE, **OPPOSED),
    many(
        partial(permute_and_flip, rate=0.5), name="permute-and-flip", mistake="", paper=MCKENNA, claims=ONE, **OPPOSED
    ),
    many(
        partial(exponential, rate=0.125, copies=20),
        name="exponential-as-bounded-range",
        mistake="",
        paper=DONG,
        **SWAPPED,
        **TWENTY,
    ),
    many(public_values, name="candidates-from-a-list", mistake="", paper=DURFEE, claims=ONE, **RARE),
)
