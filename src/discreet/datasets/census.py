"""A census file of an invented town as an office might hand it out: no names, and much that a neighbour knows.

It extends ``population`` by what makes people findable: the date of birth, a postcode, an occupation. Sweeney ("Simple
Demographics Often Identify People Uniquely", 2000) found that sex, date of birth and postcode single out most people.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.datasets.population import DISTRICTS, population
from discreet.datasets.size import SEED, whole

__all__ = ["census"]

YEAR = 2024
SECTORS = 12
"""Postcodes in each district."""

OCCUPATIONS = 60
CONDITIONS = ("none", "asthma", "diabetes", "depression", "heart disease", "cancer", "hiv")

Column = NDArray[Any]


def census(size: int = 20_000) -> dict[str, Column]:
    """Return the file as a dict from column name to numpy array; ``condition`` is what nobody should learn.

    >>> list(census(100))
    ['birth_date', 'sex', 'postcode', 'occupation', 'household_size', 'education', 'income', 'condition']
    """
    n = whole(size, "size", 1)
    town = population(n)
    random = np.random.RandomState(SEED + 6)
    day_of_year = (365 * random.random_sample(n)).astype(np.int64)
    born = np.array([f"{YEAR - age}-01-01" for age in town["age"].tolist()], dtype="datetime64[D]") + day_of_year
    district = np.searchsorted(np.array(sorted(DISTRICTS)), town["region"])
    sector = (SECTORS * random.random_sample(n) ** 1.3).astype(np.int64)
    job = (OCCUPATIONS * random.random_sample(n) ** 1.7).astype(np.int64)
    works = np.isin(town["employment"], ("employed", "self-employed"))
    occupation = np.where(works, np.char.add("job ", job.astype(str)), town["employment"])
    chances = np.cumsum([0.35, 0.2, 0.15, 0.14, 0.12, 0.04])
    ill = 1 + np.minimum(np.searchsorted(chances, random.random_sample(n)), 5)
    condition = np.where(town["chronic_condition"], ill, 0)
    return {
        "birth_date": born.astype(str),
        "sex": town["sex"],
        "postcode": np.char.add("DT", (20 * (district + 1) + sector).astype(str)),
        "occupation": occupation,
        "household_size": town["household_size"],
        "education": town["education"],
        "income": town["income"],
        "condition": np.array(CONDITIONS)[condition],
    }
