"""What costs nothing must not depend on the data.

A length or a number of missing values was called public and released exactly, at no charge, again and again. It came
from the data all the same: a cast that fails for one record makes one more value missing.

Defence: every mechanism that reads data has a loss above zero; public sizes are declared and never counted.
Source: OpenDP issue 2938.
"""

import inspect

import pytest

from discreet import mechanisms
from discreet.accounting import PrivacyLoss
from discreet.mechanisms import (
    STAT,
    BoundedCount,
    BoundedLocal,
    CandidateQuantile,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    GaussianThreshold,
    Geometric,
    GridQuantile,
    InverseSensitivity,
    KnownBins,
    Laplace,
    LaplaceThreshold,
    Mode,
    NoisyMax,
    OptimalSelection,
    PermuteAndFlip,
    PrivTree,
    ProposeTestRelease,
    Quantile,
    QuantileTree,
    RandomizedResponse,
    RandomRecord,
    Records,
    SampleAndAggregate,
    SmoothInterval,
    SmoothNoise,
    SmoothQuantile,
    SparseVector,
    StabilityHistogram,
    StableValue,
    TestedQuantile,
    TopK,
    TreeCDF,
    Warner,
    YesBiased,
    compose,
    group,
    parallel,
    repeat,
)
from discreet.mechanisms.admissible import PowerLaw
from discreet.sensitivity import Count, Counts, Histogram, Mean, Sum, Variance
from discreet.sensitivity.smooth import Median

COUNT = Geometric(sensitivity=1, epsilon=1)
HEADS = COUNT.of(Count(), relation="add_remove")
MIDDLE = Median(bounds=(0, 10))
FITTED = SmoothQuantile(bounds=(0, 10), epsilon=1e-3, relation="add_remove")
EXAMPLES = [
    STAT(query=float, size=3, epsilon=1e-3),
    BoundedCount(size=0, epsilon=1e-3),
    DiscreteGaussian(sensitivity=1, sigma=1000),
    Exponential(epsilon=1e-3),
    Gaussian(sensitivity=1, sigma=1000),
    COUNT,
    Laplace(sensitivity=1, epsilon=1e-3),
    HEADS,
    NoisyMax(epsilon=1e-3),
    PermuteAndFlip(epsilon=1e-3),
    Quantile(bounds=(0, 1), epsilon=1e-3, relation="add_remove"),
    RandomRecord(size=3),
    OptimalSelection(epsilon=1, delta=0.05),
    LaplaceThreshold(epsilon=1, delta=0.05),
    GaussianThreshold(sigma=1, delta=0.05),
    GridQuantile(bounds=(0, 10), epsilon=1, relation="add_remove"),
    QuantileTree(branching=2, levels=2, epsilon=1, relation="add_remove"),
    TopK(k=1, epsilon=1),
    BoundedLocal(function=MIDDLE, sensitivity=10, epsilon=1e-3, delta=1e-6),
    CandidateQuantile(candidates=(0, 1), epsilon=1e-3, relation="add_remove"),
    InverseSensitivity(bounds=(0, 10), epsilon=1e-3),
    KnownBins(labels=(0, 1), epsilon=1e-3, relation="add_remove"),
    Mode(epsilon=1e-3, delta=1e-6, relation="add_remove"),
    PrivTree(bounds=((0, 1),), epsilon=1e-3, relation="add_remove"),
    ProposeTestRelease(function=MIDDLE, bound=1, epsilon=1e-3, delta=1e-6),
    SampleAndAggregate(function=max, blocks=2, bounds=(0, 1), relation="add_remove", epsilon=1e-3),
    SmoothNoise(function=MIDDLE, noise=PowerLaw(epsilon=1e-3, beta=1e-4)),
    FITTED,
    SmoothInterval(quantile=FITTED, epsilon=1e-3),
    SparseVector(threshold=1, epsilon=1e-3, relation="add_remove"),
    StabilityHistogram(epsilon=1e-3, delta=1e-6, relation="add_remove"),
    StableValue(value=max, distance=len, epsilon=1e-3, delta=1e-6, relation="add_remove"),
    TestedQuantile(bounds=(0, 10), epsilon=1e-3, delta=1e-6, relation="add_remove"),
    TreeCDF(bounds=(0, 1), size=16, epsilon=1e-3, relation="add_remove"),
    RandomizedResponse(epsilon=1e-3),
    Warner(truth=0.501),
    YesBiased(),
    compose(HEADS),
    repeat(HEADS, 1),
    group(HEADS, 1),
    parallel({1: HEADS}, by=lambda x: x, relation="add_remove"),
    parallel({}, by=lambda x: x, relation="add_remove"),
    HEADS.then(lambda x: x),
    HEADS.clamped(0, 10),
]
NEIGHBOURS = ([1.0, 2.0, None], [1.0, 2.0])


class FreeCount:
    """How many records could be read, called public: what must not exist."""

    domain = Records(relation="add_remove")
    loss = PrivacyLoss()

    def release(self, records):
        return len(records)


def tells_for_nothing(mechanism):
    """Whether a loss of zero comes with answers that differ between neighbours."""
    if mechanism.loss.delta(0) > 0:
        return False
    a, b = (mechanism.release(data) for data in NEIGHBOURS)
    return a != b


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: type(m).__name__)
def test_nothing_is_told_for_nothing(mechanism):
    assert not tells_for_nothing(mechanism)


def test_every_mechanism_is_among_the_examples():
    made = {type(example) for example in EXAMPLES}
    named = {x for name in mechanisms.__all__ if inspect.isclass(x := getattr(mechanisms, name)) and hasattr(x, "loss")}
    assert named - {mechanisms.Mechanism, mechanisms.Dialogue} <= made


def test_the_only_loss_of_zero_is_that_of_no_answer():
    free = [example for example in EXAMPLES if example.loss.delta(0) == 0]
    assert [type(example).__name__ for example in free] == ["Parallel"]
    assert free[0].release([1, 2, 3]) == free[0].release([]) == {}


def test_the_check_catches_a_free_count():
    assert tells_for_nothing(FreeCount())


@pytest.mark.parametrize("query", [Mean(bounds=(0, 1), size=5), Variance(bounds=(0, 1), size=5)])
def test_a_public_size_is_the_declared_one(query):
    mechanism = Laplace(sensitivity=1, epsilon=1).of(query, relation="replace_one")
    mechanism.release([1.0] * 9)
    assert mechanism.domain.size == query.size == 5


@pytest.mark.parametrize("make", [Mean, Variance])
def test_a_size_that_is_not_declared_is_not_looked_up(make):
    with pytest.raises(TypeError, match="size"):
        make(bounds=(0, 1))


@pytest.mark.parametrize(
    "query",
    [Sum(bounds=(0, 1)), Count(), Counts(wheres=(bool,)), Histogram(bins=(1, 2))],
    ids=lambda q: type(q).__name__,
)
def test_other_queries_know_no_size(query):
    query([1, 2, 3])
    assert getattr(query, "size", None) is None
