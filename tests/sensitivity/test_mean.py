import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter, RelationMismatch, UnboundedSensitivity
from discreet.sensitivity import Mean, brute_force

PAIRS = [(0, 10), (-5, 10), (0.1, 0.9), (Fraction(1, 3), 2)]


@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("bounds", PAIRS)
def test_the_formula_is_attained(p, n, bounds):
    query = Mean(bounds=bounds, size=n)
    domain = [bounds[0], math.nan, 1, bounds[1], math.inf]
    assert query.sensitivity(p, relation="replace_one") == brute_force(query, domain, n, "replace_one", p)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_it_holds_when_the_data_have_another_size(n):
    query = Mean(bounds=(-5, 10), size=4)
    assert brute_force(query, [-5, 0, 10], n, "replace_one") == query.sensitivity(relation="replace_one")


def test_the_formula_is_the_textbook_one():
    assert Mean(bounds=(0, 500000), size=1000).sensitivity(relation="replace_one") == 500


@given(data=st.lists(st.floats(), min_size=1, max_size=8), random=st.randoms())
def test_neither_order_nor_container_matters(data, random):
    query = Mean(bounds=(-1, 1), size=len(data))
    shuffled = random.sample(data, len(data))
    assert query(data) == query(shuffled) == query(np.array(data))
    assert -1 <= query(data) <= 1


def test_means_are_exact_and_total():
    assert Mean(bounds=(0, 10), size=3)([1, 2, 2]) == Fraction(5, 3)
    assert Mean(bounds=(0, 10), size=3)([]) == 0
    assert Mean(bounds=(0, 10), size=2)([1, 2, 99]) == Fraction(13, 2)
    assert Mean(bounds=(0, 10), size=np.int8(100))(np.full(100, 10, dtype=np.int8)) == 10


def test_wrong_questions_are_refused():
    with pytest.raises(
        UnboundedSensitivity, match=r"the mean has no bounds, so one person could move it without limit"
    ):
        Mean(size=3)
    with pytest.raises(RelationMismatch, match=r"a noisy sum \(Sum\) and a noisy count \(Count\)"):
        Mean(bounds=(0, 1), size=3).sensitivity(relation="add_remove")
    with pytest.raises(InvalidParameter, match="public number of records"):
        Mean(bounds=(0, 1), size=0)
    with pytest.raises(TypeError, match="size"):
        Mean(bounds=(0, 1))
