"""What is released has the law that is claimed: goodness of fit on seeded noise."""

import math

import numpy as np
import pytest
from claims_reference import (
    cells,
    discrete_gaussian,
    gaussian_survival,
    geometric,
    laplace_survival,
    noisy_max,
    permute_and_flip,
    quantile_cells,
    response,
    softmax,
)
from scipy import stats

from discreet.mechanisms import (
    STAT,
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    RandomRecord,
    Warner,
    YesBiased,
)

ALARM = 1e-9
MANY, FEW = 200_000, 4_000
SCORES = [3, 1, 0, 3, -2]


def fit(outputs, log_law):
    """Return the chi-square p-value of outputs coded 0, 1, ... against their law; rare outputs are joined."""
    expected = np.exp(log_law) * len(outputs)
    counted = np.bincount(np.asarray(outputs), minlength=expected.size)
    assert counted.size == expected.size
    assert not counted[expected == 0].any()
    common = expected >= 10
    if not common.all():
        counted = np.append(counted[common], counted[~common].sum())
        expected = np.append(expected[common], expected[~common].sum())
    counted, expected = counted[expected > 0], expected[expected > 0]
    return float(stats.chisquare(counted, expected * counted.sum() / expected.sum()).pvalue)


@pytest.mark.parametrize("size", [0.4, 1, 7.3])
@pytest.mark.parametrize(
    ("make", "name", "law"), [(Geometric, "scale", geometric), (DiscreteGaussian, "sigma", discrete_gaussian)]
)
def test_whole_noise(make, name, law, size, repeatable):
    released = make(sensitivity=1, **{name: size}).release(np.full(MANY, 5))
    assert fit(np.clip(released, -300, 300) + 300, law(size, 5, 300)) > ALARM


@pytest.mark.parametrize("grid", [1, 0.25])
@pytest.mark.parametrize(
    ("make", "name", "survival"), [(Laplace, "scale", laplace_survival), (Gaussian, "sigma", gaussian_survival)]
)
def test_real_noise(make, name, survival, grid, repeatable):
    released = make(sensitivity=1, grid=grid, **{name: 1.5}).release(np.full(MANY, 0.3))
    steps = np.rint(released / grid).astype(int)
    assert (steps * grid == released).all()
    assert fit(np.clip(steps, -120, 120) + 120, cells(survival, 1.5, 0.3, grid, 120)) > ALARM


CHOICES = {
    "exponential": (Exponential(epsilon=1), softmax(SCORES, 0.5)),
    "monotone": (Exponential(epsilon=1, monotone=True), softmax(SCORES, 1)),
    "sensitivity": (Exponential(epsilon=1, sensitivity=2), softmax(SCORES, 0.25)),
    "permute and flip": (PermuteAndFlip(epsilon=1), permute_and_flip(SCORES, 0.5)),
    **{
        noise: (NoisyMax(epsilon=1, noise=noise), noisy_max(noise, SCORES, 0.5))
        for noise in ("laplace", "exponential", "gumbel")
    },
}


@pytest.mark.parametrize("name", CHOICES)
def test_choices(name, repeatable):
    mechanism, law = CHOICES[name]
    assert fit([mechanism.release(SCORES) for _ in range(FEW)], law) > ALARM


def test_bounded_counts(repeatable):
    mechanism = BoundedCount(size=5, epsilon=1)
    law = softmax([-abs(a - 2) for a in range(6)], 0.5)
    assert fit([mechanism.release(2) for _ in range(FEW)], law) > ALARM


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("probability", [0.5, 0.25])
@pytest.mark.parametrize("data", [(), (0.25,), (0.25, 0.25), (0.25, 0.375, 0.375), (0, 1, 1)])
def test_quantiles(relation, probability, data, repeatable):
    mechanism = Quantile(bounds=(0, 1), epsilon=3, relation=relation, probability=probability)
    edges = np.array([0, 0.125, 0.25, 0.375, 0.6, 1])
    rate = 1.5 / (1 if relation == "replace_one" else max(probability, 1 - probability))
    released = np.array([mechanism.release(data) for _ in range(FEW // 4)])
    assert released.min() >= 0
    assert released.max() <= 1
    found = np.clip(np.searchsorted(edges, released) - 1, 0, 4)
    assert fit(found, quantile_cells(data, edges, rate, probability)) > ALARM


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_responses(categories, repeatable):
    released = RandomizedResponse(epsilon=1, categories=categories).release(np.full(MANY, 1))
    assert fit(released, response(math.e / (math.e + categories - 1), categories, 1)) > ALARM


def test_survey_designs(repeatable):
    assert fit(Warner(truth=0.2).release(np.ones(MANY, dtype=int)), response(0.2, 2, 1)) > ALARM
    assert fit(YesBiased(forced=0.3).release(np.zeros(MANY, dtype=int)), np.log([0.7, 0.3])) > ALARM
    assert (YesBiased(forced=0.3).release(np.ones(1000, dtype=int)) == 1).all()


def test_random_records(repeatable):
    mechanism = RandomRecord(size=7)
    assert fit([mechanism.release(range(7)) for _ in range(FEW)], np.full(7, -math.log(7))) > ALARM


def test_the_oracle(repeatable):
    oracle = STAT(query=lambda x: x, size=4, epsilon=2)
    released = np.array([oracle.release([0, 1, 1, 7]) for _ in range(FEW)])
    steps = np.rint(released * 8).astype(int)
    assert fit(np.clip(steps, -80, 80) + 80, cells(laplace_survival, 1 / 8, 0.75, 1 / 8, 80)) > ALARM


@pytest.mark.parametrize("wrong", [0.97, 1.03])
def test_the_fit_catches_noise_that_is_a_little_off(wrong, repeatable):
    released = Geometric(sensitivity=1, scale=7.3 * wrong).release(np.full(5 * MANY, 5))
    assert fit(np.clip(released, -300, 300) + 300, geometric(7.3, 5, 300)) < ALARM


def test_the_fit_catches_a_missing_two(repeatable):
    released = [Exponential(epsilon=1, monotone=True).release(SCORES) for _ in range(FEW)]
    assert fit(released, softmax(SCORES, 0.5)) < ALARM
