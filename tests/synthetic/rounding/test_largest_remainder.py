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


@given(
    st.lists(st.floats(0, 1e300) | st.floats(2.0**50, 2.0**66), min_size=1, max_size=5),
    st.integers(0, 2**63 - 1) | st.integers(2**63 - 9, 2**63 - 1) | st.integers(0, 9),
)
def test_sums_are_exact_however_large(values, total):
    whole = largest_remainder(values, total)
    assert whole.dtype == np.int64
    assert sum(whole.tolist()) == total
    assert whole.min() >= 0


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint32, np.uint64, np.int64])
def test_totals_of_every_kind(kind):
    assert largest_remainder([1.5, 2.5], kind(5)).tolist() == [2, 3]
    assert largest_remainder([1.5, 2.5], kind(3)).tolist() == [1, 2]
    assert largest_remainder([[1.5, 2.5], [9.0, 0.0]], np.array([5, 0], dtype=kind)).tolist() == [[2, 3], [0, 0]]


def test_large_lines_of_an_array():
    whole = largest_remainder([[1e19, 1e19], [0.5, 0.5]], np.array([2**63 - 1, 1], dtype=np.uint64))
    assert [sum(line) for line in whole.tolist()] == [2**63 - 1, 1]
    assert whole[1].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([1.0], -1),
        ([1.0], 1.5),
        ([-1.0, 2.0], 1),
        ([np.nan], 1),
        ([np.inf], 1),
        ([], 0),
        ([1.0], 2**63),
        ([1.0], 2**64),
        ([1.0, 2.0], [1, 2]),
    ],
)
def test_what_has_no_answer_is_refused(values, total):
    with pytest.raises(InvalidParameter):
        largest_remainder(values, total)
