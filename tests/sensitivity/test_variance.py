import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter, RelationMismatch, UnboundedSensitivity
from discreet.sensitivity import Variance, brute_force


@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("bounds", [(0, 10), (-5, 10), (0.1, 0.9)])
def test_the_formula_is_attained(p, n, bounds):
    query = Variance(bounds=bounds, size=n)
    domain = [bounds[0], 0.5, 3, bounds[1]]
    assert query.sensitivity(p, relation="replace_one") == brute_force(query, domain, n, "replace_one", p)


def test_the_formula_is_the_textbook_one():
    assert Variance(bounds=(-5, 10), size=10).sensitivity(relation="replace_one") == Fraction(15**2 * 9, 100)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("n", range(1, 8))
def test_it_holds_when_the_data_have_another_size(size, n):
    query = Variance(bounds=(0, 4), size=size)
    assert brute_force(query, [0, 1, 4], n, "replace_one") <= query.sensitivity(relation="replace_one")


@given(data=st.lists(st.fractions(0, 1, max_denominator=50).map(lambda x: round(x * 1024) / 1024), min_size=2))
def test_it_is_the_population_variance(data):
    exact = statistics.pvariance([Fraction(x) for x in data])
    assert Variance(bounds=(0, 1), size=len(data))(data) == exact


@given(data=st.lists(st.floats(), min_size=2, max_size=8), random=st.randoms())
def test_neither_order_nor_container_matters(data, random):
    query = Variance(bounds=(-1, 1), size=len(data))
    shuffled = random.sample(data, len(data))
    assert query(data) == query(shuffled) == query(np.array(data))
    assert 0 <= query(data) <= 1


def test_variances_of_any_size_are_exact():
    assert Variance(bounds=(0, 2**60), size=2)(np.array([0, 2**60])) == 2**118
    assert Variance(bounds=(0, 10), size=3)([]) == 0
    assert Variance(bounds=(2**50, 2**50 + 2), size=2)(np.array([2**50, 2**50 + 2])) == 1


def test_wrong_questions_are_refused():
    with pytest.raises(UnboundedSensitivity, match="the variance has no bounds"):
        Variance(size=3)
    with pytest.raises(RelationMismatch, match="noisy sums of the values and squares"):
        Variance(bounds=(0, 1), size=3).sensitivity(relation="add_remove")
    with pytest.raises(InvalidParameter, match="at least 2"):
        Variance(bounds=(0, 1), size=1)
