"""The whole story on invented people: five questions and their published answers."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._version import __version__
from discreet.accounting import PrivacyLoss
from discreet.datasets.population import DISTRICTS, population
from discreet.mechanisms import Geometric, Laplace, Quantile
from discreet.noise import source
from discreet.report import Release
from discreet.report.release import Value
from discreet.report.words import number
from discreet.sensitivity import Histogram, Mean
from discreet.units import Relation

__all__ = ["AGES", "BETA", "COUNT", "COUNTS", "INCOMES", "OFTEN", "Demo", "perform", "record"]

RELATION: Relation = "replace_one"
INCOMES = (0, 200_000)
AGES = (0, 100)
BETA = 0.05
OFTEN = "in 19 of 20 releases"

COUNT = Geometric(sensitivity=1, epsilon=0.125)
COUNTS = Geometric(sensitivity=2, epsilon=0.25)
MEDIAN = Quantile(probability=0.5, bounds=AGES, epsilon=0.25, relation=RELATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What the demo published, and the exact answers that only invented people allow to show."""

    size: int
    releases: tuple[Release, ...]
    exact: Mapping[str, Value]
    loss: PrivacyLoss

    @property
    def epsilon(self) -> float:
        """The cost of all releases together."""
        return self.loss.epsilon()

    @property
    def private(self) -> bool:
        """Whether every release used the secure source."""
        return all(release.private for release in self.releases)


def perform(size: int) -> Demo:
    """Ask the five questions of a town of this size, which is public: the relation is replace_one."""
    town = population(size)
    answers = (
        _count("Smokers", "How many people smoke?", int(town["smoker"].sum())),
        _count("People aged 65+", "How many people are 65 or older?", int((town["age"] >= 65).sum())),
        _districts(town["region"].tolist()),
        _income(town["income"].tolist()),
        _age(town["age"]),
    )
    return Demo(
        size=size,
        releases=tuple(release for release, _, _ in answers),
        exact={release.title: exact for release, exact, _ in answers},
        loss=sum((loss for _, _, loss in answers), PrivacyLoss()),
    )


Answer = tuple[Release, Value, PrivacyLoss]


def _count(title: str, question: str, exact: int) -> Answer:
    error = f"within ±{number(COUNT.error(BETA))} {OFTEN}"
    return _answer(COUNT, int(COUNT.release(exact)), exact, title=title, question=question, error=error, unit="people")


def _districts(regions: list[str]) -> Answer:
    exact = Histogram(bins=tuple(DISTRICTS))(regions)
    return _answer(
        COUNTS,
        dict(zip(DISTRICTS, map(int, COUNTS.release(exact)), strict=True)),
        dict(zip(DISTRICTS, map(int, exact), strict=True)),
        title="People per district",
        question="How many people live in each district?",
        error=f"within ±{number(COUNTS.error(BETA, queries=len(DISTRICTS)))}, all eight at once, {OFTEN}",
        unit="people",
    )


def _income(incomes: list[int]) -> Answer:
    mean = Mean(bounds=INCOMES, size=len(incomes))
    mechanism = Laplace(sensitivity=mean.sensitivity(relation=RELATION), epsilon=0.25)
    exact, top = mean(incomes), number(INCOMES[1])
    return _answer(
        mechanism,
        round(float(mechanism.release(exact))),
        round(exact),
        title="Mean income",
        question=f"What is the mean yearly income, with incomes above {top} counted as {top}?",
        error=f"within ±{number(math.ceil(mechanism.error(BETA) + 0.5))} {OFTEN}",
        unit="a year",
    )


def _age(ages: npt.NDArray[np.int64]) -> Answer:
    """Ages are whole numbers, so every gap between two of them is a year or more: this makes the error a theorem."""
    year = Fraction(1, AGES[1] - AGES[0])
    people = math.ceil(MEDIAN.error(BETA, share=year))
    younger = np.searchsorted(np.sort(ages), np.arange(AGES[1] + 1))
    return _answer(
        MEDIAN,
        math.ceil(MEDIAN.release(ages)),
        int(np.argmin(np.abs(2 * younger - len(ages)))),
        title="Median age",
        question="What is the median age: half of the people are younger than what?",
        error=f"within {number(people)} people of the most even split, {OFTEN}",
        unit="years",
    )


def _answer(
    mechanism: Geometric | Laplace | Quantile,
    value: Value,
    exact: Value,
    *,
    title: str,
    question: str,
    error: str,
    unit: str,
) -> Answer:
    loss = mechanism.loss.under(RELATION)
    release = Release(
        title=title,
        question=question,
        value=value,
        error=error,
        mechanism=repr(mechanism),
        relation=RELATION,
        epsilon=loss.epsilon(),
        private=source().private,
        unit=unit,
    )
    return release, exact, loss


def record(demo: Demo, *, report: str) -> dict[str, Any]:
    """Return what was published as plain data for JSON."""
    return {
        "discreet": __version__,
        "private": demo.private,
        "relation": RELATION,
        "size": demo.size,
        "total": {"epsilon": demo.epsilon, "delta": 0.0},
        "releases": [asdict(release) for release in demo.releases],
        "exact_for_this_demo_only": dict(demo.exact),
        "report": report,
    }
