import math
from fractions import Fraction

import pytest

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.mechanisms.margin import Margin, least_tail


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(1000)])
@pytest.mark.parametrize("delta", [0.49, 0.3, 1e-3, 1e-12, 1e-300])
def test_the_threshold_is_the_least(scale, delta):
    t, a = least_tail(scale, Fraction(delta)), math.exp(-1 / scale)

    def tail(k):
        return -(k + 1) / float(scale) - math.log1p(a)

    assert tail(t) <= math.log(delta) + 1e-12
    assert t == 0 or tail(t - 1) > math.log(delta) - 1e-12


def test_probabilities_add_up():
    test = Margin(epsilon=0.7, delta=0.01)
    for margin in (0, 1, test.threshold, test.threshold + 1, 100):
        both = [math.exp(test.log_probability(margin, passed)) for passed in (True, False)]
        assert math.fsum(both) == pytest.approx(1)
    assert math.exp(test.log_probability(0, True)) == pytest.approx(float(test.failure))
    assert test.log_probability(None, True) == 0
    assert test.log_probability(None, False) == -math.inf
    assert test.loss == PrivacyLoss.discrete_laplace(sensitivity=1, scale=1 / Fraction(0.7))


def test_passing_follows_its_probability():
    test, draws = Margin(epsilon=1, delta=0.05), 4000
    for margin in (0, 2, 4):
        p = math.exp(test.log_probability(margin, True))
        passed = sum(test.passes(margin) for _ in range(draws))
        assert abs(passed - draws * p) < 7 * math.sqrt(draws * p * (1 - p)) + 10
    assert all(test.passes(None) for _ in range(100))


@pytest.mark.parametrize("delta", [0, 0.5, 0.7, 1, -1, math.nan, "small"])
def test_delta_must_be_below_a_half(delta):
    with pytest.raises(InvalidParameter, match="delta"):
        Margin(epsilon=1, delta=delta)


def test_so_much_noise_that_nothing_passes():
    with pytest.raises(InvalidParameter, match="noise"):
        _ = Margin(epsilon=1e-30, delta=1e-6).threshold
