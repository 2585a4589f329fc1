"""A year of invented hospital stays, and what an invented newspaper wrote about some of them.

The columns are those of the state discharge files that Sweeney matched with news stories ("Matching Known Patients to
Health Records in Washington State Data", 2013). A story gives what stories give: mostly the age, the sex, the town and
the cause, often the month and the hospital, now and then something wrong.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.datasets.size import SEED, whole
from discreet.errors import InvalidParameter

__all__ = ["CAUSES", "DETAILS", "DIAGNOSES", "Stays", "Stories", "stays", "stories"]

HOSPITALS, AREAS = 90, 500
CAUSES = ("illness", "fall", "car crash", "motorcycle crash", "assault", "drowning", "fire")
DIAGNOSES = (
    "circulation",
    "birth",
    "digestion",
    "injury",
    "breathing",
    "cancer",
    "mental health",
    "infection",
    "other",
)
DETAILS = ("age", "sex", "area", "hospital", "month", "cause")
"""What a record and a story have in common."""

GIVEN = (0.9, 0.98, 0.55, 0.45, 0.95, 0.75)
"""How often a story tells each detail."""

WRONG = 0.04
"""How often a told detail is wrong."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Stays:
    """One row for each stay: the details, coded as whole numbers, and the diagnosis, which nobody should learn."""

    details: Ints
    diagnosis: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Stories:
    """One row for each story: the details told, -1 where the story is silent, and the row of the stay it is about."""

    details: Ints
    about: Ints


def stays(size: int = 600_000) -> Stays:
    """Return the stays of a year.

    >>> year = stays(1_000)
    >>> year.details.shape, len(year.diagnosis)
    ((1000, 6), 1000)
    """
    n = whole(size, "size", 100)
    random = np.random.RandomState(SEED + 4)
    age = np.clip(np.where(random.random_sample(n) < 0.1, 0, 55 + 24 * random.standard_normal(n)), 0, 99).astype(
        np.int64
    )
    sex = (random.random_sample(n) < np.where((age >= 18) & (age < 40), 0.65, 0.5)).astype(np.int64)
    area = (AREAS * random.random_sample(n) ** 1.8).astype(np.int64)
    near = (area * 7 + (random.random_sample(n) ** 2 * 4).astype(np.int64)) % HOSPITALS
    far = (HOSPITALS * random.random_sample(n) ** 2).astype(np.int64)
    hospital = np.where(random.random_sample(n) < 0.75, near, far)
    month = (12 * random.random_sample(n)).astype(np.int64)
    young = np.interp(age, [0, 16, 30, 60, 99], [0.3, 0.8, 0.6, 0.15, 0.02])
    accident = random.random_sample(n) < 0.09
    kind = np.where(random.random_sample(n) < young, 2 + (5 * random.random_sample(n) ** 1.6).astype(np.int64), 1)
    cause = np.where(accident, kind, 0)
    shares = np.cumsum([0.2, 0.12, 0.12, 0.07, 0.1, 0.08, 0.07, 0.09, 0.15])
    diagnosis = np.minimum(np.searchsorted(shares, random.random_sample(n)), len(DIAGNOSES) - 1)
    diagnosis = np.where(accident & (random.random_sample(n) < 0.6), DIAGNOSES.index("injury"), diagnosis)
    return Stays(np.stack([age, sex, area, hospital, month, cause], axis=1), diagnosis.astype(np.int64))


def stories(year: Stays, count: int = 81) -> Stories:
    """Return stories about accidents among the stays, with details missing and some wrong.

    >>> year = stays(10_000)
    >>> told = stories(year, 50)
    >>> told.details.shape, bool((year.details[told.about, 5] > 0).all())
    ((50, 6), True)
    """
    accidents = np.flatnonzero(year.details[:, DETAILS.index("cause")] > 1)
    k = whole(count, "count", 1)
    if k > len(accidents):
        raise InvalidParameter(f"only {len(accidents)} stays are newsworthy. Ask for at most as many stories.")
    random = np.random.RandomState(SEED + 5)
    about = accidents[np.argsort(random.random_sample(len(accidents)))[:k]]
    told = year.details[about].copy()
    others = year.details[(random.random_sample((k, len(DETAILS))) * len(year.details)).astype(np.int64), range(6)]
    told = np.where(random.random_sample(told.shape) < WRONG, others, told)
    return Stories(np.where(random.random_sample(told.shape) < np.array(GIVEN), told, -1), about)
