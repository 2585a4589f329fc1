"""A survey of an invented town: one row for each person, nobody real.

The columns depend on each other as they do in a real town, so that a release from this table behaves like a real one:
ages follow a pyramid, work follows age, income follows age, education and work and has a heavy tail, illness follows
age and smoking.

Every draw comes from ``numpy.random.RandomState``, whose stream numpy promises never to change (NEP 19), and only
through ``random_sample`` and ``standard_normal``; so the same size gives the same town everywhere. Nothing here is
random in the sense that privacy needs: the noise of a release comes from ``discreet.noise``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter

__all__ = ["population"]

SEED = 20_240_229

DISTRICTS = {
    "Harbour": 0.24,
    "Millbrook": 0.19,
    "Northgate": 0.16,
    "Castle Hill": 0.13,
    "Larkfield": 0.11,
    "Saltmarsh": 0.08,
    "Old Priory": 0.06,
    "Fenwick": 0.03,
}
"""Name and share of each district, the largest first."""

SCHOOLING = ("compulsory", "secondary", "vocational", "degree")
WORK = ("employed", "self-employed", "unemployed", "not working")

Column = NDArray[Any]


def population(size: int = 20_000) -> dict[str, Column]:
    """Return the town survey as a dict from column name to numpy array, all of one length.

    >>> town = population()
    >>> list(town)
    ['person_id', 'age', 'sex', 'region', 'education', 'employment', 'income', 'household_size',
     'commute_minutes', 'smoker', 'chronic_condition']
    >>> len(town["age"]), int(town["age"].min()), int(town["age"].max())
    (20000, 0, 99)
    >>> int(np.median(town["income"][town["employment"] == "employed"]))
    33945
    """
    people: object = size
    if isinstance(people, bool) or not isinstance(people, int | np.integer) or people < 1:
        raise InvalidParameter(f"size must be a whole number of people, at least 1, got {people!r}.")
    random = np.random.RandomState(SEED)
    n = int(size)
    age = _ages(random, n)
    sex = np.where(random.random_sample(n) < np.interp(age, [0, 65, 99], [0.49, 0.51, 0.72]), "female", "male")
    region = _pick(random, tuple(DISTRICTS), np.tile(list(DISTRICTS.values()), (n, 1)))
    education = _education(random, age)
    employment = _employment(random, age, education)
    income = _income(random, age, education, employment)
    household = _household(random, age)
    commute = _commute(random, region, employment)
    smoker = random.random_sample(n) < _smoking(age, education)
    odds = np.exp((age - 72.0) / 15 + 0.6 * smoker)
    return {
        "person_id": np.arange(1, n + 1),
        "age": age,
        "sex": sex,
        "region": region,
        "education": education,
        "employment": employment,
        "income": income,
        "household_size": household,
        "commute_minutes": commute,
        "smoker": smoker,
        "chronic_condition": random.random_sample(n) < 0.03 + 0.85 * odds / (1 + odds),
    }


def _pick(random: np.random.RandomState, names: Sequence[str], weights: Column) -> Column:
    """Draw one name for each row of weights."""
    edges = np.cumsum(weights, axis=1)
    draws = random.random_sample(len(weights)) * edges[:, -1]
    picked: Column = np.asarray(names)[(draws[:, None] >= edges[:, :-1]).sum(axis=1)]
    return picked


def _ages(random: np.random.RandomState, n: int) -> Column:
    """Draw ages from a pyramid: few births, a bulge near fifty-five, a thinning old age."""
    knots, heights = [0, 5, 20, 35, 55, 65, 75, 85, 99], [0.9, 1.0, 1.1, 1.2, 1.45, 1.25, 0.95, 0.45, 0.03]
    edges = np.cumsum(np.interp(np.arange(100), knots, heights))
    ages: Column = np.searchsorted(edges, random.random_sample(n) * edges[-1], side="right")
    return ages.astype(np.int64)


def _education(random: np.random.RandomState, age: Column) -> Column:
    """Later generations stayed longer at school; nobody has finished before the usual age."""
    degree = np.interp(age, [22, 35, 50, 70, 90], [0.16, 0.38, 0.30, 0.16, 0.08]) * (age >= 22)
    vocational = np.interp(age, [20, 40, 70], [0.22, 0.30, 0.28]) * (age >= 20)
    secondary = np.interp(age, [18, 40, 80], [0.75, 0.26, 0.22]) * (age >= 18)
    rest = np.maximum(1 - degree - vocational - secondary, 0.04)
    finished = _pick(random, SCHOOLING, np.stack([rest, secondary, vocational, degree], axis=1))
    return np.where(age < 16, "none yet", finished)


def _employment(random: np.random.RandomState, age: Column, education: Column) -> Column:
    """Children, students, working life, retirement."""
    employed = np.where(education == "degree", 0.78, np.where(education == "compulsory", 0.58, 0.71))
    unemployed = np.where(education == "compulsory", 0.10, 0.045)
    weights = np.stack([employed, np.full(len(age), 0.10), unemployed, 1 - employed - 0.10 - unemployed], axis=1)
    work = _pick(random, WORK, weights)
    dice = random.random_sample(len(age))
    student = dice < np.interp(age, [16, 18, 22, 27, 31], [0.93, 0.72, 0.42, 0.08, 0.0])
    retired = dice < np.interp(age, [56, 62, 66, 70, 78], [0.0, 0.22, 0.78, 0.93, 1.0])
    return np.where(age < 16, "child", np.where(student, "student", np.where(retired, "retired", work)))


def _income(random: np.random.RandomState, age: Column, education: Column, employment: Column) -> Column:
    """Log-normal around a middle set by work, education and age, in whole tens; children have none."""
    middle = np.select(
        [employment == name for name in ("employed", "self-employed", "retired", "unemployed", "student")],
        [29_000.0, 26_000.0, 17_500.0, 9_500.0, 5_500.0],
        4_500.0,
    )
    schooling = np.select([education == name for name in SCHOOLING], [0.78, 1.0, 1.12, 1.55], 1.0)
    career = np.where(np.isin(employment, WORK[:2]), np.interp(age, [18, 30, 48, 64], [0.6, 0.95, 1.15, 1.05]), 1.0)
    spread = np.select([employment == "employed", employment == "self-employed"], [0.48, 0.85], 0.42)
    draw = np.exp(spread * random.standard_normal(len(age)))
    tens = np.rint(middle * schooling * career * draw / 10).astype(np.int64)
    return np.where(age < 16, 0, 10 * tens)


def _household(random: np.random.RandomState, age: Column) -> Column:
    """Children live with someone; the old live more often alone."""
    knots = [0, 15, 18, 25, 40, 60, 80]
    shares = [
        [0.0, 0.0, 0.03, 0.28, 0.16, 0.20, 0.48],
        [0.06, 0.10, 0.14, 0.34, 0.22, 0.46, 0.42],
        [0.28, 0.30, 0.30, 0.18, 0.22, 0.18, 0.06],
        [0.42, 0.38, 0.34, 0.13, 0.27, 0.11, 0.03],
        [0.16, 0.15, 0.13, 0.05, 0.10, 0.04, 0.01],
        [0.08, 0.07, 0.06, 0.02, 0.03, 0.01, 0.0],
    ]
    weights = np.stack([np.interp(age, knots, share) for share in shares], axis=1)
    return _pick(random, list("123456"), weights).astype(np.int64)


def _commute(random: np.random.RandomState, region: Column, employment: Column) -> Column:
    """Minutes to work or lectures, longer from the outer districts; one worker in seven stays at home."""
    middle = np.select([region == name for name in DISTRICTS], [14.0, 22, 24, 17, 30, 33, 12, 42])
    minutes = np.rint(middle * np.exp(0.5 * random.standard_normal(len(region)))).astype(np.int64)
    at_home = random.random_sample(len(region)) < 1 / 7
    travels = np.isin(employment, ("employed", "self-employed", "student")) & ~at_home
    return np.where(travels, np.clip(minutes, 1, 180), 0)


def _smoking(age: Column, education: Column) -> Column:
    """Chance of smoking: none below sixteen, highest in middle age, lower with a degree."""
    chance = np.interp(age, [16, 25, 50, 70, 90], [0.10, 0.24, 0.25, 0.14, 0.05])
    return np.where(age < 16, 0.0, chance * np.where(education == "degree", 0.55, 1.1))
