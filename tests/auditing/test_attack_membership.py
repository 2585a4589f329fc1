"""Exact means of many attributes tell members; means with noise tell no more than their loss allows."""

import math
import warnings

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.auditing.attacks.membership import trace_means
from discreet.auditing.attacks.rates import GRID, best_guess, most_power, rate_of, roc_of
from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.testing import seeded


def attacked(**settings):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("tracing"):
        return trace_means(**{"trials": 2000, "generator": np.random.default_rng(1), **settings})


@pytest.fixture(scope="module")
def found():
    return attacked()


def test_exact_means_tell(found):
    assert found.exact.at(0.01).low > 0.6
    assert found.exact.balanced_accuracy > 0.9


def test_the_score_behaves_as_theory_says(found):
    """Members lean by the sum of variances over n, and everybody spreads by its root over the root of n."""
    expected = math.sqrt(found.attributes / found.people)
    separation = found.exact.advantage
    assert separation == pytest.approx(math.erf(expected / 2 / math.sqrt(2)), abs=0.05)


def test_noise_keeps_every_threshold_within_the_bound(found):
    for rate, power, bound in zip(GRID, found.protected.found, found.bound, strict=True):
        slack = 5 * math.sqrt((bound * (1 - bound) + math.exp(1) ** 2 * rate * (1 - rate)) / 2000) + 1 / 2000
        assert power <= bound + slack
    assert found.protected.advantage < 0.12
    assert all(a <= b + 1e-9 for a, b in zip(found.bound, found.weaker_bound, strict=True))


def test_the_check_can_fail():
    """A hundred times the epsilon is caught by the bound of the first."""
    loud = attacked(epsilon=100, trials=500)
    assert loud.protected.at(0.01).low > most_power(PrivacyLoss.approximate(1, 1e-5), [0.01])[0]


def test_rates_and_bounds_by_hand():
    assert most_power(PrivacyLoss.approximate(1, 1e-5), [0.01])[0] == pytest.approx(0.027192818284590452, abs=1e-12)
    assert PrivacyLoss.approximate(1, 1e-5).advantage() == pytest.approx(0.4621225360884372, abs=1e-12)
    assert best_guess(PrivacyLoss.pure(1)) == pytest.approx(math.e / (1 + math.e))
    half = rate_of(5, 10)
    assert (half.low, half.high) == (pytest.approx(0.187086, abs=1e-6), pytest.approx(0.812914, abs=1e-6))
    assert (rate_of(0, 10).low, rate_of(10, 10).high) == (0, 1)


def test_a_roc_by_hand():
    roc = roc_of([4.0, 3.0, 1.0, 0.0], [3.5, 2.0, 0.5, 0.5])
    assert roc.at(0.001).value == 0.25  # only the 4 lies above all others
    assert roc.found[GRID.index(0.25)] == 0.5
    assert roc.advantage == 0.25
    same = roc_of([1.0] * 10, [1.0] * 10)
    assert (same.at(0.5).value, same.advantage) == (0, 0)


def test_what_is_said(found):
    assert "1,000 attributes" in str(found)
    assert found.plot().to_dict()
    with pytest.raises(InvalidParameter):
        trace_means(1)
