"""Largest remainders: the sum is right, and nothing whole is closer."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.synthetic.rounding import largest_remainder

VALUES = st.lists(st.floats(0, 6), min_size=1, max_size=5)


@given(VALUES, st.integers(0, 40))
def test_the_sum_is_kept_whatever_it_is(values, total):
    whole = largest_remainder(values, total)
    assert whole.sum() == total
    assert whole.min() >= 0


@given(VALUES)
def test_nothing_whole_is_closer(values):
    v = np.array(values)
    total = round(v.sum())
    v = v * (total / v.sum()) if v.sum() > 0 else v
    whole = largest_remainder(v, total)
    assert np.all(np.abs(whole - v) < 1 + 1e-6)
    near = [x for x in itertools.product(*(range(max(0, int(a) - 1), int(a) + 3) for a in v)) if sum(x) == total]
    for p in (1, 2):
        least = min((np.abs(np.array(x) - v) ** p).sum() for x in near)
        assert (np.abs(whole - v) ** p).sum() <= least + 1e-6


def test_lines_of_an_array():
    random = np.random.default_rng(1)
    values, totals = random.uniform(0, 9, (7, 4, 5)), random.integers(0, 50, (7, 5))
    whole = largest_remainder(values, totals, axis=1)
    assert np.array_equal(whole.sum(axis=1), totals)
    assert whole[3, :, 2].tolist() == largest_remainder(values[3, :, 2], totals[3, 2]).tolist()


def test_floats_that_should_be_whole_are():
    assert largest_remainder([0.1 * 3 * 10, 3.0], 6).tolist() == [3, 3]
    assert largest_remainder([2.9999999999, 1.5, 1.5], 6).tolist() == [3, 2, 1]


@pytest.mark.parametrize(
    ("values", "total"), [([1.0], -1), ([1.0], 1.5), ([-1.0, 2.0], 1), ([np.nan], 1), ([np.inf], 1), ([], 0)]
)
def test_what_has_no_answer_is_refused(values, total):
    with pytest.raises(InvalidParameter):
        largest_remainder(values, total)
