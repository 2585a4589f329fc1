"""No data at all, or one record, are data sets like any other.

Under add_remove the empty data set is a neighbour of one record. A mean that divides by zero, a median of nothing or a
sum that is exactly 0 without any noise tells the two apart with certainty, whatever epsilon was promised.

Defence: every query and every mechanism answers the empty data set, with the same noise, and the exact laws of no
record and of one keep the promise.
Source: Casacuberta, Shoemate, Vadhan and Wagaman, CCS 2022.
"""

import math
import statistics
import warnings

import numpy as np
import pytest

from discreet.errors import NotPrivateWarning
from discreet.mechanisms import STAT, Geometric, Laplace, Quantile, RandomizedResponse, Warner, YesBiased, parallel
from discreet.sensitivity import Count, Counts, Histogram, Mean, Sum, Variance, brute_force
from discreet.testing import seeded

EMPTY = [[], (), np.array([]), np.array([], dtype=object), np.array([], dtype=np.int8), iter(())]
HEADS = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
ADDITIVE = [
    (Laplace(sensitivity=1, epsilon=1, grid=0.5), Sum(bounds=(-1, 1))),
    (Laplace(sensitivity=1, epsilon=1, grid=0.5), Sum(bounds=(0, 1), center=True)),
    (Geometric(sensitivity=1, epsilon=1), Count()),
    (Geometric(sensitivity=1, epsilon=1), Count(where=bool)),
]
RELEASES = [
    *(mechanism.of(query, relation="add_remove") for mechanism, query in ADDITIVE),
    Laplace(sensitivity=1, epsilon=1).of(Mean(bounds=(0, 1), size=1), relation="replace_one"),
    Laplace(sensitivity=1, epsilon=1).of(Variance(bounds=(0, 1), size=2), relation="replace_one"),
    Geometric(sensitivity=2, epsilon=1).of(Counts(wheres=(bool, callable)), relation="add_remove"),
    Geometric(sensitivity=1, epsilon=1).of(Histogram(bins=(1, 2)), relation="add_remove"),
    Quantile(bounds=(0, 1), epsilon=1, relation="add_remove"),
    STAT(query=float, size=1, epsilon=1),
    parallel({1: HEADS, 2: HEADS}, by=lambda x: x, relation="add_remove"),
]


def keeps(law, loss, one):
    """Tell whether the laws for no record and for one record lie within a loss, both ways."""
    p, q = law([]), law([one])
    return all(
        np.maximum(a - math.exp(e) * b, 0).sum() <= loss.delta(e) + 1e-9
        for e in (0, 0.25, 0.5, 1)
        for a, b in ((p, q), (q, p))
    )


@pytest.mark.parametrize("mechanism", RELEASES)
def test_nothing_is_answered_like_something(mechanism):
    one = np.asarray(list(_values(mechanism.release([1]))))
    for data in EMPTY:
        released = np.asarray(list(_values(mechanism.release(data))))
        assert released.shape == one.shape
        assert released.dtype == one.dtype
        assert np.isfinite(released).all()


def _values(released):
    return released.values() if isinstance(released, dict) else np.ravel(released).tolist()


@pytest.mark.parametrize("mechanism", RELEASES)
def test_nothing_is_answered_with_noise(mechanism):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("V19"):
        assert len({tuple(_values(mechanism.release([]))) for _ in range(20)}) > 1


@pytest.mark.parametrize(("mechanism", "query"), ADDITIVE)
@pytest.mark.parametrize("one", [-1, 0, 1])
def test_the_laws_of_nothing_and_of_one_record_keep_the_promise(mechanism, query, one):
    outputs = np.arange(-30, 30.5, 0.5 if isinstance(mechanism, Laplace) else 1)

    def law(data):
        return np.exp([mechanism.log_probability(query(data), y) for y in outputs])

    assert keeps(law, mechanism.loss, one)


@pytest.mark.parametrize("one", [-math.inf, 0, 0.3, 1, math.nan])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_the_median_of_nothing_keeps_the_promise(one, share):
    quantile = Quantile(bounds=(0, 1), epsilon=1, relation="add_remove", probability=share, grid=1 / 16)

    def law(data):
        return np.exp([quantile.log_probability(data, y) for y in np.arange(0, 17) / 16])

    assert law([]).sum() == pytest.approx(1)
    assert keeps(law, quantile.loss, one)


@pytest.mark.parametrize("survey", [RandomizedResponse(epsilon=1), Warner(truth=0.75), YesBiased()])
def test_a_survey_of_nobody_has_no_answers(survey):
    assert survey.release([]).shape == (0,)


@pytest.mark.parametrize("query", [Sum(bounds=(0, 1)), Count(), Histogram(bins=(1, 2))])
def test_sensitivities_include_the_empty_data_set(query):
    assert brute_force(query, [0, 1, 2], 1, "add_remove") <= query.sensitivity(relation="add_remove")


def answers(naive):
    """Tell whether a query gives the empty data set a number, as it does to one record."""
    try:
        return all(math.isfinite(naive(data)) for data in ([], [1]))
    except (ValueError, ZeroDivisionError, statistics.StatisticsError):
        return False


@pytest.mark.parametrize(
    "naive",
    [
        lambda rows: sum(rows) / len(rows),
        statistics.median,
        max,
        lambda rows: np.max(rows),
        lambda rows: np.true_divide(np.sum(rows), np.float64(len(rows))),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_the_check_catches_queries_that_need_a_record(naive):
    assert not answers(naive)
    assert all(answers(query) for query in (Sum(bounds=(0, 1)), Mean(bounds=(0, 1), size=1), Count()))


def test_the_check_catches_an_exact_zero():
    """A sum that is forced into the range which its number of records allows is exactly 0 for none of them."""
    mechanism = Laplace(sensitivity=1, epsilon=1, grid=0.5)
    outputs = np.arange(-30, 30.5, 0.5)

    def law(data):
        free = np.exp([mechanism.log_probability(sum(data), y) for y in outputs])
        inside = np.clip(outputs, 0, len(data))
        return np.array([free[inside == y].sum() for y in outputs])

    assert not keeps(law, mechanism.loss, 1)
