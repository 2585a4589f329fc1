"""Randomised response, survey designs, the random record and the statistical-query oracle, all outputs enumerated."""

import math
from fractions import Fraction

import numpy as np
import pytest
from claims_reference import attained, kept, largest_loss, product, response, steps, worse

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import STAT, RandomizedResponse, RandomRecord, Warner, YesBiased

EPSILONS = [0.1, 1, 4]


def truth(epsilon, categories):
    return math.exp(epsilon) / (math.exp(epsilon) + categories - 1)


@pytest.mark.parametrize("categories", [2, 3, 4, 5])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomised_response_is_exact(categories, epsilon):
    loss = RandomizedResponse(epsilon=epsilon, categories=categories).loss
    p, q = (response(truth(epsilon, categories), categories, answer) for answer in (0, 1))
    assert attained(loss, p, q, steps(epsilon))


@pytest.mark.parametrize("categories", [2, 3, 4, 5])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_check_catches_a_truth_told_too_often(categories, epsilon):
    loss = RandomizedResponse(epsilon=epsilon, categories=categories).loss
    p, q = (response(truth(epsilon / 0.99, categories), categories, answer) for answer in (0, 1))
    assert not kept(loss, p, q, steps(epsilon))


def test_other_respondents_answers_cost_nothing():
    mechanism = RandomizedResponse(epsilon=1, categories=3)
    others = response(truth(1, 3), 3, 2)
    p, q = (product(others, response(truth(1, 3), 3, answer), others) for answer in (0, 1))
    assert attained(mechanism.loss, p, q, steps(1))


@pytest.mark.parametrize("p", [0.75, 0.2, 0.999, Fraction(2, 3)])
def test_warner_is_exact(p):
    loss = Warner(truth=p).loss
    epsilon = abs(math.log(p / (1 - p)))
    laws = [response(float(p), 2, answer) for answer in (0, 1)]
    assert attained(loss, *laws, steps(epsilon)[:-2])
    assert math.isclose(loss.epsilon(), epsilon, rel_tol=1e-14)
    assert largest_loss(*laws) <= loss.epsilon() * (1 + 1e-14)


def test_the_check_catches_half_of_warners_epsilon():
    laws = [response(0.75, 2, answer) for answer in (0, 1)]
    assert not kept(PrivacyLoss.randomized_response(math.log(3) / 2), *laws, steps(1))


@pytest.mark.parametrize("forced", [0.5, 0.1, Fraction(9, 10)])
def test_the_yes_biased_survey_is_all_or_nothing(forced):
    loss = YesBiased(forced=forced).loss
    true_no = np.log([1 - float(forced), float(forced)])
    true_yes = np.array([-math.inf, 0.0])
    assert attained(loss, true_no, true_yes, [0, 0.1, 1, 10, 100])
    assert not kept(PrivacyLoss.approximate(100, 0.99 * (1 - float(forced))), true_no, true_yes, [100])
    assert not kept(PrivacyLoss.pure(100), true_no, true_yes, [100])


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_random_record_is_all_or_nothing(size):
    loss = RandomRecord(size=size).loss
    with np.errstate(divide="ignore"):
        before, after = (np.log(np.array([size - ones, ones]) / size) for ones in (0, 1))
    assert attained(loss, before, after, [0, 1, 100])
    assert worse(before, after, 50) > 0.99 / (size + 0.5)


def test_the_random_record_has_exactly_its_delta():
    """Rounding the delta up to a float must not lose the epsilon at the exact one."""
    assert RandomRecord(size=1000).loss.epsilon(Fraction(1, 1000)) == 0
    assert RandomRecord(size=1000).loss.epsilon(Fraction(1, 1001)) == math.inf


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_the_oracle_is_laplace_noise_for_one_record_in_all(size):
    oracle = STAT(query=float, size=size, epsilon=0.5)
    beta = 0.25
    scale = oracle.error(beta) / math.log(1 / beta)
    assert math.isclose(scale, 1 / (0.5 * size), rel_tol=1e-5)
    assert oracle.loss == PrivacyLoss.laplace(0.5).under("replace_one")


def test_the_check_catches_an_oracle_for_one_record_more():
    claimed = STAT(query=float, size=10, epsilon=0.5).loss
    shift = Fraction(1, 9) / (Fraction(1, 10) / Fraction(1, 2))
    assert PrivacyLoss.laplace(shift).delta(0.5) > claimed.delta(0.5) == 0
