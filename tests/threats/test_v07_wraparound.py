"""Integer sums must not wrap around: one person's 1 must never move the sum by 2^32.

A sum held in the type of the column, or in any fixed width, jumps from the largest integer to the smallest
when one more record arrives. The claimed sensitivity is then wrong by the whole range of the type, and the
two neighbours can be told apart with certainty.

Defence: sums are Python integers wherever 64 bits could be too few, whatever the type of the column.
Source: Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity, CCS 2022.
"""

import numpy as np
import pytest

from discreet.sensitivity import Mean, Sum, Variance

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def neighbours(dtype):
    """Return a data set that sums to the largest integer of a type, one with a further 1, and bounds."""
    half = int(np.iinfo(dtype).max) // 2 + 1
    full = np.array([half, half - 1], dtype=dtype)
    return full, np.append(full, np.ones(1, dtype=dtype)), (0, half)


def moves(query, a, b):
    return abs(query(a) - query(b))


def narrow_sum(values):
    with np.errstate(over="ignore"):
        return int(values.sum(dtype=values.dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_one_more_moves_the_sum_by_one(dtype):
    shorter, longer, bounds = neighbours(dtype)
    query = Sum(bounds=bounds, grid=1)
    assert moves(query, shorter, longer) == 1 <= query.sensitivity(relation="add_remove")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_check_catches_narrow_sums(dtype):
    shorter, longer, bounds = neighbours(dtype)
    sensitivity = Sum(bounds=bounds, grid=1).sensitivity(relation="add_remove")
    assert moves(narrow_sum, shorter, longer) > sensitivity


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("end", ["min", "max"])
def test_many_extreme_values_are_added_exactly(dtype, end):
    value = int(getattr(np.iinfo(dtype), end))
    rows = np.full(1000, value, dtype=dtype)
    bounds = (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    assert Sum(bounds=bounds)(rows) == 1000 * value
    assert Mean(bounds=bounds, size=1000)(rows) == value
    assert Variance(bounds=bounds, size=1000)(rows) == 0


@pytest.mark.parametrize("dtype", INTEGERS)
def test_values_beyond_the_bounds_are_clamped_and_not_cast(dtype):
    rows = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype=dtype)
    lower = max(int(np.iinfo(dtype).min), -1000)
    upper = min(int(np.iinfo(dtype).max), 1000)
    assert Sum(bounds=(-1000, 1000))(rows) == lower + upper


def test_variances_do_not_overflow():
    rows = np.array([-(2**62), 2**62])
    assert Variance(bounds=(-(2**62), 2**62), size=2)(rows) == 2**124
