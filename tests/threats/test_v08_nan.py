"""One NaN must not decide an answer.

NaN compares false with everything, so a clamp written with comparisons lets it through, and whatever it is added to,
averaged with or sorted among becomes NaN or comes out in another order. One person is then seen through any noise.

Defence: a missing value counts as the lower bound, before anything is compared, sorted or added.
Source: Wilson et al., Differentially Private SQL with Bounded User Contribution, PETS 2020.
"""

import math
import statistics
import warnings

import numpy as np
import pytest

from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.mechanisms import STAT, Geometric, Laplace, Quantile, parallel
from discreet.sensitivity import Count, Counts, Histogram, Mean, Sum, Variance, brute_force
from discreet.testing import seeded

RELATIONS = ("add_remove", "replace_one")
VALUES = [math.nan, 0.0, 0.5, 1.0, float("nan")]
ANY_SIZE = [
    Sum(bounds=(-1, 1)),
    Sum(bounds=(0, 1), center=True),
    Count(),
    Count(where=lambda x: x > 0.25),
    Counts(wheres=(lambda x: x > 0.25, lambda x: x <= 0.25)),
    Histogram(bins=(0.0, 0.5, 1.0)),
]
OF_SIZE = [Mean(bounds=(-1, 1), size=3), Variance(bounds=(-1, 1), size=3)]
CASES = [(query, relation) for query in ANY_SIZE for relation in RELATIONS] + [(q, "replace_one") for q in OF_SIZE]

HEADS = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
RELEASES = [
    Laplace(sensitivity=1, epsilon=1).of(ANY_SIZE[0], relation="add_remove"),
    Laplace(sensitivity=1, epsilon=1).of(OF_SIZE[0], relation="replace_one"),
    Quantile(bounds=(-1, 1), epsilon=1, relation="replace_one"),
    STAT(query=lambda x: x, size=3, epsilon=1),
    parallel({0.5: HEADS}, by=lambda x: x, relation="add_remove"),
]


def holds(query, claimed, relation):
    """Tell whether the claim survives every pair of neighbours over values with NaN among them."""
    try:
        return brute_force(query, VALUES, 3, relation) <= claimed
    except ValueError:  # an answer was NaN
        return False


def repeated(release, data):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("V08"):
        return release(data)


@pytest.mark.parametrize(("query", "relation"), CASES)
def test_nan_counts_for_no_more_than_another_value(query, relation):
    assert holds(query, query.sensitivity(relation=relation), relation)
    assert holds(lambda rows: query(np.array(rows, dtype=np.float32)), query.sensitivity(relation=relation), relation)


def test_nan_is_no_bin():
    """It would be found by its identity: the same records would be counted in a list, and not in an array."""
    with pytest.raises(InvalidParameter, match="NaN"):
        Histogram(bins=(0.0, 0.5, math.nan))


@pytest.mark.parametrize("mechanism", RELEASES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("place", range(3))
def test_releases_stay_numbers(mechanism, place):
    rows = [0.5, 0.5]
    rows.insert(place, math.nan)
    released = repeated(mechanism.release, rows)
    assert all(math.isfinite(x) for x in (released.values() if isinstance(released, dict) else [released]))


@pytest.mark.parametrize("make", [list, lambda rows: np.array(rows, dtype=np.float16), lambda rows: [None, *rows[1:]]])
def test_nan_is_the_lower_bound_for_quantiles(make):
    median = Quantile(bounds=(-1, 1), epsilon=1, relation="replace_one", grid=0.25)
    rows, clean = make([math.nan, 0.5, 0.75]), [-1, 0.5, 0.75]
    for output in np.arange(-1, 1.25, 0.25):
        assert median.log_probability(rows, output) == median.log_probability(clean, output)
    assert repeated(median.release, rows) == repeated(median.release, clean)


@pytest.mark.parametrize(
    "naive",
    [
        lambda rows: np.clip(rows, -1, 1).sum(),
        lambda rows: np.mean(rows) if rows else 0,
        lambda rows: statistics.median(rows) if rows else 0,
        lambda rows: sum(x if -1 <= x <= 1 else 10 for x in rows),
        lambda rows: sum(10 if x < -1 or x > 1 else x for x in rows),
    ],
)
def test_the_check_catches_naive_aggregates(naive):
    assert not any(holds(naive, 2, relation) for relation in RELATIONS)
