"""Choices must survive scores of any size.

``exp(epsilon * score / 2)`` overflows from a score of about 1,420 on and underflows as far below; the quotient is then
NaN, and what a sampler makes of NaN is no longer private, or it crashes for some data and not for others, which tells
them apart. A quantile of another library worked with 1,491 rows and crashed with 1,492.

Defence: a race with Gumbel noise between exact scores, decided in ball arithmetic where floats leave a doubt.
Source: Ilvento, Implementing the Exponential Mechanism with Base-2 DP, CCS 2020; OpenDP SmartNoise issue 572.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms import Exponential, NoisyMax, PermuteAndFlip, Quantile

CHOICES = [
    Exponential(epsilon=1),
    Exponential(epsilon=1, monotone=True),
    PermuteAndFlip(epsilon=1),
    *(NoisyMax(epsilon=1, noise=noise) for noise in ("laplace", "exponential", "gumbel")),
]
SIZES = [1e3, 1e6, 1e16, 1e100, 1e300, 1e308]


@pytest.mark.parametrize("mechanism", CHOICES)
@pytest.mark.parametrize("size", SIZES)
def test_the_far_best_wins(mechanism, size):
    assert mechanism.release([-size, size, 0.0]) == 1
    assert mechanism.release([-size, -2000.0 if size == 1e3 else -size, 0.0]) == 2
    assert mechanism.release(np.array([0.0, -size])) == 0


@pytest.mark.parametrize("mechanism", CHOICES)
@pytest.mark.parametrize("size", [0, *SIZES, *(-s for s in SIZES), 10**400, -(10**400)])
def test_ties_of_any_size_are_broken_by_all(mechanism, size):
    assert {mechanism.release([size] * 3) for _ in range(80)} == {0, 1, 2}


@pytest.mark.parametrize("mechanism", CHOICES)
def test_integers_beyond_floats_are_told_apart(mechanism):
    big = 2**53
    assert float(big) == float(big + 1)
    far = [2**100, 2**100 + 10**4]
    assert mechanism.release(far) == 1
    assert mechanism.release([10**400, 10**400 + 10**4]) == 1
    close = [mechanism.release([big, big + 6]) for _ in range(60)]
    assert close.count(1) > 40
    sharp = type(mechanism)(epsilon=1, sensitivity=Fraction(1, 10**4))
    assert sharp.release([big, big + 1]) == 1


@pytest.mark.parametrize("mechanism", [Exponential(epsilon=1), PermuteAndFlip(epsilon=1)])
@pytest.mark.parametrize("size", SIZES)
def test_log_probabilities_are_numbers(mechanism, size):
    for scores in ([-size, size], [size] * 4, [0.0, size, -size]):
        logs = [mechanism.log_probability(scores, i) for i in range(len(scores))]
        assert not any(map(math.isnan, logs))
        assert math.fsum(map(math.exp, logs)) == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-10, 1e10, 1e300])
@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip, NoisyMax])
def test_extreme_epsilons(make, epsilon):
    mechanism = make(epsilon=epsilon)
    for scores in ([1e308, -1e308], [5e-324, 0.0], [0, 0], [1, 2, 3]):
        assert mechanism.release(scores) in range(len(scores))
    if epsilon > 1:
        assert mechanism.release([1e308, -1e308]) == 0


@pytest.mark.parametrize("rows", [1491, 1492, 5000, 100_000])
@pytest.mark.parametrize("epsilon", [1, 50])
def test_quantiles_of_many_rows(rows, epsilon):
    median = Quantile(bounds=(0, 1), epsilon=epsilon, relation="replace_one")
    assert 0.4 < median.release(np.linspace(0, 1, rows)) < 0.6
    assert 0 <= median.release(np.full(rows, 0.5)) <= 1


def naive_softmax(scores, rate):
    with np.errstate(all="ignore"):
        weights = np.exp(rate * np.asarray(scores, dtype=float))
        return weights / weights.sum()


@pytest.mark.parametrize("scores", [[2e3, 0.0], [-2e3, -2e3], [1e308, 1e308]])
def test_the_check_catches_the_naive_formula(scores):
    assert np.isnan(naive_softmax(scores, 0.5)).any()
    assert not any(math.isnan(Exponential(epsilon=1).log_probability(scores, i)) for i in range(2))


def test_the_check_catches_floats_for_integers():
    assert np.ptp(naive_softmax([2**53 - 2**53, (2**53 + 1) * 1.0 - 2**53], 10)) == 0
