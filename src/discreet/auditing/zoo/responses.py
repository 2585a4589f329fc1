"""Randomised response, where each person adds the noise: wrong coins, and coins tossed too often."""

import math
from functools import partial

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Integers, many

__all__ = ["BROKEN", "CORRECT"]

ONE = PrivacyLoss.pure(1)


def yes_biased(answer: int, n: int, rng: np.random.Generator) -> Integers:
    """Toss a coin: heads, say yes; tails, the truth."""
    return np.maximum(answer, rng.integers(0, 2, n))


def respond(answer: int, n: int, rng: np.random.Generator, *, truth: float, categories: int = 2) -> Integers:
    """Tell the truth with this probability, else one of the other answers."""
    return (answer + np.where(rng.random(n) < truth, 0, rng.integers(1, categories, n))) % categories


def daily(answer: int, n: int, rng: np.random.Generator, *, truth: float, days: int) -> Integers:
    """Toss new coins every day about the same answer."""
    return np.where(rng.random((n, days)) < truth, answer, 1 - answer)


def memoised(answer: int, n: int, rng: np.random.Generator, *, truth: float, days: int) -> Integers:
    """Toss the coins once and say the same every day."""
    return np.repeat(daily(answer, n, rng, truth=truth, days=1), days, axis=1)


def unary(answer: int, n: int, rng: np.random.Generator, *, truth: float, categories: int = 5) -> Integers:
    """Write the answer as one bit out of several and randomise each bit."""
    bits = np.asarray(np.arange(categories) == answer, dtype=np.int64)
    return np.where(rng.random((n, categories)) < truth, bits, 1 - bits)


def honest(epsilon: float, categories: int = 2) -> float:
    """Return the probability of the truth that costs epsilon."""
    return 1 / (1 + (categories - 1) * math.exp(-epsilon))


WARNER = "Warner, Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias, JASA 1965"
KAIROUZ = "Kairouz, Oh and Viswanath, Extremal Mechanisms for Local Differential Privacy, JMLR 2016"
ERLINGSSON = "Erlingsson, Pihur and Korolova, RAPPOR, CCS 2014"
WANG = "Wang, Blocki, Li and Jha, Locally Differentially Private Protocols for Frequency Estimation, USENIX Sec. 2017"
ANSWER = {"neighbours": (0, 1), "relation": "replace_one"}

BROKEN = (
    many(
        yes_biased,
        name="yes-biased-response",
        mistake="Heads say yes, tails the truth: a no is always true. It is charged as if tails were tossed again.",
        paper=WARNER,
        claims=PrivacyLoss.pure(math.log(3)),
        **ANSWER,
    ),
    many(
        partial(respond, truth=0.25 / 1.25),
        name="response-with-odds-epsilon",
        mistake="The odds of the truth are epsilon instead of exp(epsilon), so that small budgets mean sure lies.",
        paper=KAIROUZ,
        claims=PrivacyLoss.pure(0.25),
        **ANSWER,
    ),
    many(
        partial(respond, truth=honest(1), categories=10),
        name="response-with-binary-odds",
        mistake="Ten answers are possible and the truth is told as often as if there were two.",
        paper=KAIROUZ,
        claims=ONE,
        **ANSWER,
    ),
    many(
        partial(daily, truth=honest(1), days=32),
        name="response-not-memoised",
        mistake="New coins are tossed every day and only the first are charged, so that the average reveals.",
        paper=ERLINGSSON,
        claims=ONE,
        **ANSWER,
    ),
    many(
        partial(unary, truth=honest(1)),
        name="unary-bits-charged-once",
        mistake="Two answers differ in two of the bits, each of which spends the whole budget.",
        paper=WANG,
        claims=ONE,
        **ANSWER,
    ),
)

CORRECT = (
    many(
        partial(respond, truth=0.75),
        name="fair-coin-response",
        mistake="",
        paper=WARNER,
        claims=PrivacyLoss.pure(math.log(3)),
        **ANSWER,
    ),
    many(
        partial(respond, truth=honest(1, 10), categories=10),
        name="response-among-ten",
        mistake="",
        paper=KAIROUZ,
        claims=ONE,
        **ANSWER,
    ),
    many(
        partial(memoised, truth=honest(1), days=32),
        name="response-memoised",
        mistake="",
        paper=ERLINGSSON,
        claims=ONE,
        **ANSWER,
    ),
    many(partial(unary, truth=honest(0.5)), name="unary-bits", mistake="", paper=WANG, claims=ONE, **ANSWER),
)
