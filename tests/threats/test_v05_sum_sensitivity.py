"""The sensitivity of a sum must hold for the arithmetic that runs, not for the real numbers of the textbook.

Libraries claimed that one value in [lower, upper] moves a sum by at most ``upper - lower``, and then added
floats. Each addition rounds, and what one record does to the partial sums decides how all later additions
round, so the computed sums of neighbours differ by more than was claimed and the noise is too small.

Defence: values become whole numbers of steps of a public grid, and integers are added without rounding.
Source: Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity, CCS 2022.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.sensitivity import Mean, Sum, Variance

FLOATS = [np.float32, np.float64]


def neighbours(dtype):
    """Return two data sets, one record apart, whose float sums round a thousand times in the same direction.

    Next to a record of 2^53 (2^24 for short floats) the gap between floats is 2, so a value just above 1 adds
    2.
    """
    big = 2.0 ** (np.finfo(dtype).nmant + 1)
    rest = np.full(1000, 1 + np.finfo(dtype).eps, dtype=dtype)
    with_big, without = (np.concatenate([np.array([first], dtype=dtype), rest]) for first in (big, 0))
    return with_big, without, big


def excess(query, a, b, claimed):
    """Return by how much two answers differ beyond the claim, without rounding."""
    return abs(Fraction(query(a)) - Fraction(query(b))) - claimed


def float_sum(values):
    return float(np.add.accumulate(values)[-1])


@pytest.mark.parametrize("dtype", FLOATS)
def test_exact_sums_keep_the_claim(dtype):
    a, b, big = neighbours(dtype)
    query = Sum(bounds=(0, big))
    assert excess(query, a, b, query.sensitivity(relation="replace_one")) <= 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_check_catches_float_sums(dtype):
    a, b, big = neighbours(dtype)
    assert excess(float_sum, a, b, Fraction(big)) > 900


def test_the_check_catches_even_small_float_sums():
    assert excess(float_sum, [0.1, 0.1, 0.1], [0.1, 0.1], Fraction(0.1)) > 0
    query = Sum(bounds=(0, 0.1))
    assert excess(query, [0.1, 0.1, 0.1], [0.1, 0.1], query.sensitivity(relation="add_remove")) == 0


awkward = st.sampled_from([2.0**53, 2.0**53 - 1, 2.0**24 + 2, 1 + 2.0**-52, 0.1, 5e-324, 2.2e-308, 1e308, -1e308])
values = awkward | st.floats()


@given(
    rest=st.lists(values, max_size=10),
    record=values,
    other=values,
    upper=st.sampled_from([0.1, 1, 2.0**24, 2.0**53, 1e100]),
    dtype=st.sampled_from(FLOATS),
)
def test_random_neighbours_keep_the_claim(rest, record, other, upper, dtype):
    with np.errstate(over="ignore"):
        shorter, a, b = (np.array(rows, dtype=dtype) for rows in (rest, [*rest, record], [*rest, other]))
    bounds, size = (-upper, upper), max(len(a), 2)
    for query in (Sum(bounds=bounds), Mean(bounds=bounds, size=size), Variance(bounds=bounds, size=size)):
        assert excess(query, a, b, query.sensitivity(relation="replace_one")) <= 0
    query = Sum(bounds=bounds)
    assert excess(query, a, shorter, query.sensitivity(relation="add_remove")) <= 0
