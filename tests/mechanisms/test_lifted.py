"""A mechanism of a query either cannot be built, with the reason, or releases."""

from itertools import product

import pytest

import discreet.mechanisms
from discreet import sensitivity
from discreet.errors import DiscreetError, InvalidInput, InvalidParameter
from discreet.mechanisms import (
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Shift,
    TopK,
)
from discreet.sensitivity import Count, Counts, Histogram, Mean, Restricted, Sum, Variance
from discreet.sensitivity.smooth import Function, Median, PopulationVariance, TheilSen, TrimmedMean, WeightedQuantile

RELATIONS = ("add_remove", "replace_one")
RECORDS = [1, 2, 3]
LIFTED = [
    Geometric(sensitivity=100, epsilon=1),
    Laplace(sensitivity=100, epsilon=1),
    Gaussian(sensitivity=100, sigma=100),
    DiscreteGaussian(sensitivity=100, sigma=100),
    Exponential(epsilon=1, sensitivity=100),
    Exponential(epsilon=1, sensitivity=100, monotone=True),
    PermuteAndFlip(epsilon=1, sensitivity=100),
    NoisyMax(epsilon=1, sensitivity=100, noise="laplace"),
    BoundedCount(size=3, epsilon=1),
    TopK(k=1, epsilon=1, sensitivity=100),
]
QUERIES = [
    Count(),
    Counts(wheres=(lambda x: x > 1, lambda x: x > 2)),
    Histogram(bins=(1, 2, 3)),
    Sum(bounds=(0, 3)),
    Sum(bounds=(0, 3), grid=1),
    Mean(bounds=(0, 3), size=3),
    Variance(bounds=(0, 3), size=3),
    Restricted(len, hypothesis=((1, 2, 3), (1, 2)), relation="add_remove"),
    Median(bounds=(0, 3)),
    TrimmedMean(trim=0, bounds=(0, 3)),
    PopulationVariance(bounds=(0, 3)),
    TheilSen(bounds=(0, 3)),
    WeightedQuantile(bounds=(0, 3), relation="add_remove"),
    "count",
    None,
    3,
]


def test_everything_that_can_be_lifted_is_here():
    shipped = (getattr(discreet.mechanisms, name) for name in discreet.mechanisms.__all__)
    here = {type(one) for one in LIFTED}
    values = {one for one in shipped if isinstance(one, type) and issubclass(one, tuple(here))}
    assert values == here
    assert all(isinstance(one.domain, Shift) for one in LIFTED)
    queries = {name for name in sensitivity.__all__ if isinstance(getattr(sensitivity, name), type)}
    assert queries <= {type(query).__name__ for query in QUERIES}


@pytest.mark.parametrize("mechanism", LIFTED, ids=lambda one: repr(one)[:40])
def test_what_can_be_built_releases(mechanism):
    built = 0
    for query, relation in product(QUERIES, RELATIONS):
        try:
            lifted = mechanism.of(query, relation=relation)
        except DiscreetError:
            continue
        built += 1
        assert lifted.loss.relation == relation
        lifted.release(RECORDS)
    assert built >= 1


@pytest.mark.parametrize("query", [query for query in QUERIES if isinstance(query, Function)], ids=repr)
def test_functions_with_a_local_sensitivity_are_refused_with_the_way_to_release_them(query):
    for mechanism in LIFTED:
        with pytest.raises(InvalidParameter, match=r"smooth_noise\("):
            mechanism.of(query, relation="add_remove")


def test_the_refusals_say_what_to_write():
    with pytest.raises(InvalidParameter, match=r"releases whole ones\. Use Laplace"):
        Geometric(sensitivity=3, epsilon=1).of(Sum(bounds=(0, 3)), relation="add_remove")
    with pytest.raises(InvalidParameter, match=r"chooses among several\. Use Counts"):
        Exponential(epsilon=1).of(Count(), relation="add_remove")
    with pytest.raises(InvalidParameter, match=r"takes one\. Use Count"):
        BoundedCount(size=3, epsilon=1).of(Histogram(bins=(1, 2)), relation="add_remove")
    with pytest.raises(InvalidParameter, match="a query is a function of records"):
        Laplace(sensitivity=1, epsilon=1).of("COUNT(*)", relation="add_remove")


def test_scores_of_an_own_query_must_be_several():
    for mechanism in LIFTED[4:8]:
        with pytest.raises(InvalidInput, match="scores must be a vector"):
            mechanism.of(len, relation="add_remove" if mechanism.monotone else "replace_one").release(RECORDS)
