"""Bounds in words are never kinder than the bounds themselves."""

import math

import pytest

from discreet.report import words


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1 / 3, 1.0, math.pi, 12.3456])
def test_costs_are_rounded_up(epsilon):
    assert epsilon <= float(words.bound(epsilon)) <= epsilon * 1.011
    assert float(words.multiple(epsilon)) >= math.exp(epsilon)


@pytest.mark.parametrize("prior", [1e-6, 0.01, 0.5, 0.99])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 30.0, 2000.0])
def test_beliefs_move_by_the_odds_at_most(prior, epsilon):
    low, high = words.posterior(prior, epsilon)
    assert 0 <= low <= prior * (1 + 1e-12)
    assert prior * (1 - 1e-12) <= high <= 1
    if epsilon <= 30:
        grown = prior * math.exp(epsilon)
        assert high == pytest.approx(grown / (grown + 1 - prior))
    assert float(words.percent_above(high)[:-1]) >= 100 * high - 1e-9
    assert float(words.percent_below(low)[:-1]) <= 100 * low + 1e-9


def test_the_power_of_a_test_is_bounded_from_both_sides():
    assert words.power(0.05, 0.0, 0.0) == pytest.approx(0.05)
    assert words.power(0.5, 1.0, 0.0) == pytest.approx(1 - 0.5 * math.exp(-1))
    assert words.power(0.05, 800.0, 0.0) == 1
    assert words.power(0.05, 0.0, 0.1) == pytest.approx(0.15)


def test_numbers_that_are_none():
    assert words.number(float("nan")) == "nan"
    assert words.number(float("inf")) == "inf"
