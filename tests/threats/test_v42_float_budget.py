"""A budget is an exact sum: ten tenths are one, and no spend is too small to count.

In floats ten times 0.1 is 0.9999999999999999, so an eleventh query may slip in or the tenth be refused; and after a
large spend a tiny one disappears in the rounding, so that it can be made as often as one likes for nothing. Losses are
sums of rationals. A float is the rational it is, and what is told as a float is rounded up.

Defence: losses are sums of rationals, and what is told as a float is rounded up.
Source: openmed issue 2457.
"""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss

KINDS = [PrivacyLoss.pure, PrivacyLoss.laplace, PrivacyLoss.randomized_response]
TENTH = Fraction(1, 10)


def total(losses):
    return sum(losses, PrivacyLoss())


@pytest.mark.parametrize("make", KINDS)
def test_ten_tenths_are_one(make):
    assert total([make(TENTH)] * 10).epsilon() == 1
    assert total([make(TENTH)] * 10).delta(1) == 0
    assert total([make(TENTH)] * 11).epsilon() > 1


def test_ten_tenths_are_one_in_every_currency():
    assert 10 * PrivacyLoss.zcdp(TENTH) == PrivacyLoss.zcdp(1)
    assert 10 * PrivacyLoss.gaussian(mu_squared=TENTH) == PrivacyLoss.gaussian(1)
    assert total([PrivacyLoss.zcdp(TENTH)] * 10).rho == 1


@pytest.mark.parametrize("make", KINDS)
def test_a_float_is_the_rational_it_is_and_told_rounded_up(make):
    loss = total([make(0.1)] * 10)
    exact = 10 * Fraction(0.1)
    assert exact > 1
    assert Fraction(loss.epsilon()) >= exact
    assert loss.epsilon() == math.nextafter(1, 2)
    assert loss.delta(exact) == 0
    assert loss.delta(1) > 0


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("tiny", [1e-300, 1e-30, 2.0**-53, Fraction(1, 10**40)])
def test_tiny_spends_are_not_lost_after_large_ones(make, tiny):
    large = make(1000)
    assert large + make(tiny) != large
    assert (large + make(tiny)).epsilon() > 1000
    assert (10**6 * make(tiny) + large).epsilon() >= 1000 + 10**6 * tiny


def test_tiny_rhos_and_deltas_are_not_lost():
    assert (PrivacyLoss.zcdp(1) + PrivacyLoss.zcdp(1e-30)).rho > 1
    assert (PrivacyLoss.approximate(0, 0.5) + PrivacyLoss.approximate(0, 1e-30)).delta(0) > 0.5


@given(st.lists(st.floats(1e-200, 1e6) | st.fractions(0, 1000), max_size=12), st.randoms())
def test_the_sum_of_the_parts_is_the_whole_in_any_order(parts, random):
    losses = [PrivacyLoss.laplace(part) for part in parts]
    shuffled = random.sample(losses, len(losses))
    assert total(losses) == total(shuffled)
    exact = sum(map(Fraction, parts), Fraction(0))
    told = Fraction(total(losses).epsilon())
    assert exact <= told <= exact * (1 + Fraction(1, 2**52)) or not exact


def test_the_check_catches_floats():
    assert sum([0.1] * 10) < 1
    assert 1000 + 1e-30 == 1000
    assert sum([0.1] * 10) < 10 * Fraction(0.1)
