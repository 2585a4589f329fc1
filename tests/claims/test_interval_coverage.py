"""Intervals of every aggregate by every method hold as often as they say, on data of every awkward shape.

Many groups hold the same rows, so one release is as many independent ones. A count of misses beyond the quantile of the
binomial law fails: with probability ``ALARM`` for each shape, if intervals hold exactly as often as they say. There
are 60 releases in `make test`, and 2,000 in the slow tier, or 500 of trees, for replaced rows and for persons.
"""

import warnings
from functools import lru_cache
from typing import get_args

import numpy as np
import pytest
from coverage_reference import ALARM, SHAPES, TRUTHS, UNITS, allowed, cases, missed, session

import discreet as dp
from discreet.session.boxes import Box
from discreet.session.ranks import Choice
from discreet.tables import aggregates

FEW, SOME, MANY = 60, 500, 2000
EPSILONS = (1, 100)
CASES = list(cases())


@pytest.fixture(scope="module")
def few():
    return opened(FEW, "rows")


@pytest.fixture(scope="module")
def many():
    return lru_cache(opened)


def opened(copies, unit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.NotDurableWarning)
        return session(copies, unit)


def wrong(opened, case, copies, epsilon, noise="auto"):
    """Return the shapes of which more intervals missed than the level allows."""
    found = missed(opened, case, copies, epsilon, noise)
    return {shape: counts for shape, counts in found.items() if counts[1] > allowed(counts[0])}


def noises(case):
    return ("auto",) if case.aggregate.function in RANKED else ("laplace", "gaussian")


RANKED = ("min", "max", "quantiles", "top_k")


def test_every_aggregate_and_every_method_is_here():
    assert set(TRUTHS) == set(get_args(aggregates.AggregateName)) == {case.aggregate.function for case in CASES}
    quantiles = [case.aggregate for case in CASES if case.aggregate.function == "quantiles"]
    assert {one.method for one in quantiles} == set(get_args(aggregates.QuantileMethod)) == set(aggregates.METHODS)
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_intervals_hold(few, case):
    for noise in noises(case):
        assert not wrong(few, case, FEW, 5, noise)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("unit", UNITS)
def test_intervals_hold_in_thousands_of_releases(many, case, epsilon, unit):
    tree = case.aggregate.function in ("min", "max") or case.aggregate.method == "tree"
    copies = MANY if unit == "rows" and not tree else SOME
    for noise in noises(case):
        assert not wrong(many(copies, unit), case, copies, epsilon, noise)


def named(name):
    return next(case for case in CASES if case.name == name)


def test_an_aim_without_room_for_its_own_error_would_be_caught(few, monkeypatch):
    monkeypatch.setattr(Choice, "miss", lambda self, probability, ends: 0)
    assert {"one row", "two rows"} & set(wrong(few, named("exponential 0.5 of real"), FEW, 1))


def test_intervals_of_half_the_width_would_be_caught(few, monkeypatch):
    around = Box.around.__func__
    monkeypatch.setattr(Box, "around", classmethod(lambda cls, value, error: around(cls, value, error / 4)))
    assert set(wrong(few, named("mean of real"), FEW, 100)) >= {"continuous", "constant"}


def test_the_alarm_is_rare_and_half_of_the_level_is_not_missed():
    """With intervals that hold half as often as they say, the fast sample fails but one time in a million."""
    from scipy import stats

    for count in (FEW, SOME, MANY):
        assert stats.binom.sf(allowed(count), count, 0.05) <= ALARM
        assert stats.binom.cdf(allowed(count), count, 0.525) < 1e-3
    assert all(np.isfinite(values).all() for values in SHAPES.values())
