"""Naming patients from the newspaper: a story tells what a discharge record tells, and a name.

Sweeney, "Matching Known Patients to Health Records in Washington State Data", 2013: of 81 stories about people taken to
hospital, 35 matched exactly one record in the file that the state sold; then all of the record is known. A story
matches each record that contradicts none of its details. Coarser details match more records, and so name fewer people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import plots
from discreet.auditing.attacks.percent import percent
from discreet.auditing.attacks.protection import Protection, protect
from discreet.auditing.attacks.rates import Rate, rate_of
from discreet.datasets.hospital import CAUSES, DETAILS, DIAGNOSES, Stays, Stories, stays, stories
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric

__all__ = ["Detail", "StoriesAttack", "link_stories"]

AGE, SEX, AREA, HOSPITAL, MONTH, CAUSE = range(len(DETAILS))

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What a release tells: each detail divided by a width, 1 leaving it as it is; what is not named is left out."""

    name: str
    widths: Mapping[str, int]


LEVELS = (
    Detail(name="all six details", widths=dict.fromkeys(DETAILS, 1)),
    Detail(name="no hospital", widths={name: 1 for name in DETAILS if name != "hospital"}),
    Detail(name="ages in tens", widths=dict.fromkeys(DETAILS, 1) | {"age": 10}),
    Detail(name="ages in tens, areas in tens", widths=dict.fromkeys(DETAILS, 1) | {"age": 10, "area": 10}),
    Detail(
        name="ages and areas in tens, quarters", widths=dict.fromkeys(DETAILS, 1) | {"age": 10, "area": 10, "month": 3}
    ),
    Detail(name="age in tens, sex and cause", widths={"age": 10, "sex": 1, "cause": 1}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoriesAttack:
    """How many stories match exactly one record (``unique``), and how many of all match just the right one (``right``).

    ``guessed`` is how often the diagnosis is guessed right from protected counts, ``guessed_without`` how often it is
    when the person's own record was taken out before: the difference is all that the record gave away.
    """

    records: int
    stories: int
    unique: dict[str, Rate]
    right: dict[str, Rate]
    guessed: float
    guessed_without: float
    protection: Protection

    @property
    def verdict(self) -> str:
        """What the attack found, in a few sentences."""
        name, unique = next(iter(self.unique.items()))
        return (
            f"{percent(unique.value)} of {self.stories} news stories match exactly one of {self.records:,} hospital "
            f"records that tell {name}; {percent(self.right[name].value)} match the right one: the patient is named "
            f"and the diagnosis known. From counts with noise the patients' diagnoses were guessed right in "
            f"{percent(self.guessed)} of cases; with their records taken out beforehand, in "
            f"{percent(self.guessed_without)}."
        )

    def __str__(self) -> str:
        return f"{self.verdict} {self.protection}"

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of stories that match exactly one record, for each amount of detail."""
        rates = list(self.unique.values())
        values, lows, highs = (
            [round(100 * getattr(rate, end), 1) for rate in rates] for end in ("value", "low", "high")
        )
        return plots.bars_with_error(
            list(self.unique),
            values,
            lows,
            highs,
            "Stories that match exactly one record",
            "percent of stories",
            subtitle=f"{self.stories} stories, {self.records:,} records; whiskers: 95% confidence",
        )


def link_stories(
    year: Stays | None = None,
    told: Stories | None = None,
    *,
    levels: Sequence[Detail] = LEVELS,
    epsilon: float = 1.0,
) -> StoriesAttack:
    """Match stories with hospital records at several amounts of detail.

    >>> year = stays(20_000)
    >>> found = link_stories(year, stories(year, 40))
    >>> found.unique["all six details"].value > found.unique["age in tens, sex and cause"].value
    True
    """
    records = stays() if year is None else year
    news = stories(records) if told is None else told
    unknown = {name for level in levels for name in level.widths} - set(DETAILS)
    if not levels or unknown or any(width < 1 for level in levels for width in level.widths.values()):
        raise InvalidParameter(f"a level names some of {', '.join(DETAILS)}, each with a width of at least 1.")
    unique, right = {}, {}
    for level in levels:
        found = _match(records.details, news.details, level.widths)
        unique[level.name] = rate_of(int((found >= 0).sum()), len(found))
        right[level.name] = rate_of(int((found == news.about).sum()), len(found))
    counts = Geometric(sensitivity=1, epsilon=epsilon)
    return StoriesAttack(
        records=len(records.details),
        stories=len(news.about),
        unique=unique,
        right=right,
        guessed=_guess(records, news, counts, without=False),
        guessed_without=_guess(records, news, counts, without=True),
        protection=protect(counts, _table(records), [1], release="how many patients of each cause had each diagnosis"),
    )


def _match(details: Ints, told: Ints, widths: Mapping[str, int]) -> Ints:
    """Return the one record that contradicts nothing told, or -1 if there is none or another one."""
    columns = [(DETAILS.index(name), width) for name, width in widths.items()]
    released = {place: details[:, place] // width for place, width in columns}
    found = np.full(len(told), -1)
    for row, story in enumerate(told):
        fits = np.arange(len(details))
        for place, width in columns:
            if story[place] >= 0:
                fits = fits[released[place][fits] == story[place] // width]
        if len(fits) == 1:
            found[row] = fits[0]
    return found


def _table(records: Stays) -> Ints:
    """Return how many stays of each cause have each diagnosis."""
    keys = records.details[:, CAUSE] * len(DIAGNOSES) + records.diagnosis
    return np.bincount(keys, minlength=len(CAUSES) * len(DIAGNOSES)).reshape(-1, len(DIAGNOSES))


def _guess(records: Stays, news: Stories, counts: Geometric, *, without: bool) -> float:
    """Return how often the commonest diagnosis of the story's cause, from counts with noise, is the patient's."""
    cause, mine = records.details[:, CAUSE], news.about
    tables = np.tile(_table(records), (len(mine), 1, 1))
    tables[np.arange(len(mine)), cause[mine], records.diagnosis[mine]] -= without
    noisy = np.asarray(counts.release(tables))
    told = news.details[:, CAUSE]
    seen = np.where((told >= 0)[:, None], noisy[np.arange(len(mine)), told], noisy.sum(axis=1))
    return float((seen.argmax(axis=1) == records.diagnosis[mine]).mean())
