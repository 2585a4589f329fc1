import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import BoundedCount, Exponential, InvalidInput, InvalidParameter, NoisyMax, PermuteAndFlip

CHOOSERS = [Exponential, PermuteAndFlip, NoisyMax]


@pytest.mark.parametrize("cls", CHOOSERS)
@pytest.mark.parametrize("scores", [[], np.zeros((2, 2)), ["a"], [math.nan], [math.inf], None, [True, False]])
def test_bad_scores_are_refused(cls, scores):
    with pytest.raises((InvalidInput, TypeError)):
        cls(epsilon=1).release(scores)


@pytest.mark.parametrize("cls", CHOOSERS)
@pytest.mark.parametrize(
    "scores", [[0], [1e308, -1e308], [2**60, 2**60 + 10**6], [Fraction(1, 3), -(10**30)], [5.0] * 3]
)
def test_any_finite_score_can_be_compared(cls, scores):
    assert 0 <= cls(epsilon=1).release(scores) < len(scores)


@pytest.mark.parametrize("cls", CHOOSERS)
def test_a_far_better_candidate_wins(cls):
    assert {cls(epsilon=1).release([0, 10**6, 5]) for _ in range(50)} == {1}


def test_monotone_scores_need_half_the_noise():
    assert Exponential(epsilon=1, monotone=True).rate == 2 * Exponential(epsilon=1).rate


def test_noise_of_an_unknown_kind_is_refused():
    with pytest.raises(InvalidParameter, match="noise must be one of"):
        NoisyMax(epsilon=1, noise="cauchy")


def test_the_choice_is_rarely_bad():
    mechanism, scores, beta = Exponential(epsilon=1), np.arange(100.0), 0.05
    limit = mechanism.error(beta, candidates=100)
    law = np.exp([mechanism.log_probability(scores, r) for r in range(100)])
    assert law[scores <= 99 - limit].sum() <= beta


def test_counts_are_forced_into_their_range_before_and_after():
    mechanism = BoundedCount(size=3, epsilon=1)
    assert {mechanism.release(count) for count in (-5, 0, 2, 3, 10**20) for _ in range(40)} <= {0, 1, 2, 3}
    with pytest.raises(InvalidInput):
        mechanism.release(1.5)
    with pytest.raises(InvalidParameter):
        BoundedCount(size=-1, epsilon=1)
