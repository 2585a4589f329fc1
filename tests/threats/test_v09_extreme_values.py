"""One infinite, missing, signed-zero, denormal or enormous value must count for no more than any other.

One NaN turns a float sum into NaN, and clipping does not help, because NaN passes through a clip; one
infinity or two values of 1e308 overflow it. Then the presence of one person is visible through any noise.
Values are therefore cleaned and clamped before anything is added, and infinite bounds are refused.

Defence: values are cleaned and clamped before anything is added; bounds that bound nothing are refused.
Source: Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity, CCS 2022.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.sensitivity import Mean, Sum, Variance, brute_force

EXTREMES = [math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, -2.2e-308, 1e308, -1e308, 2.0**53 + 2, 0.5]
QUERIES = [
    Sum(bounds=(-1, 2)),
    Sum(bounds=(-1, 2), center=True),
    Sum(bounds=(0, 2**60)),
    Mean(bounds=(-1, 2), size=3),
    Variance(bounds=(-1, 2), size=3),
]


def holds(query, sensitivity):
    """Tell whether the claim survives every neighbouring pair of extreme data sets."""
    try:
        return brute_force(query, EXTREMES, 3, "replace_one") <= sensitivity
    except ValueError:  # an answer was infinite or NaN
        return False


def as_array(query):
    return lambda rows: query(np.array(rows, dtype=float))


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_extreme_values_count_for_no_more_than_others(query):
    assert holds(query, query.sensitivity(relation="replace_one"))
    assert holds(as_array(query), query.sensitivity(relation="replace_one"))


@pytest.mark.parametrize("naive", [np.sum, lambda rows: np.clip(rows, -1, 2).sum()])
def test_the_check_catches_naive_sums(naive):
    with np.errstate(all="ignore"):
        assert not holds(naive, Fraction(3))


def test_the_check_catches_clamping_against_a_comparison():
    def careless(rows):
        return sum(Fraction(min(max(x, -1), 2)) if x == x else Fraction(10) for x in rows)

    assert not holds(careless, Fraction(3))


@pytest.mark.parametrize("bounds", [(0, math.inf), (-math.inf, 0), (math.nan, 1), (0, math.nan), (0, 1e308)])
@pytest.mark.parametrize(
    "build", [lambda b: Sum(bounds=b), lambda b: Mean(bounds=b, size=3), lambda b: Variance(bounds=b, size=3)]
)
def test_bounds_that_bound_nothing_are_refused(build, bounds):
    with pytest.raises(InvalidParameter):
        build(bounds)


def test_the_sign_of_zero_and_denormals_leave_no_trace():
    query = Sum(bounds=(-1, 2))
    assert query([-0.0]) == query([0.0]) == query([5e-324]) == query([-5e-324]) == query([]) == 0
