import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter, RelationMismatch, UnboundedSensitivity
from discreet.sensitivity import Sum, brute_force

RELATIONS = ["add_remove", "replace_one"]
PAIRS = [
    (0, 10),
    (-5, 10),
    (-10, 5),
    (3, 4),
    (-4, -3),
    (0.1, 0.9),
    (Fraction(-1, 3), Fraction(2, 7)),
    (0, 2**60),
]
finite_floats = st.floats(allow_nan=False, allow_infinity=False)
sample = st.lists(st.one_of(finite_floats, st.sampled_from([2.0**53, 2.0**53 + 2, 5e-324, -0.0, 1e308])), max_size=8)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("bounds", PAIRS)
def test_the_formula_is_attained(relation, p, center, bounds):
    query = Sum(bounds=bounds, center=center)
    domain = [
        -math.inf,
        math.nan,
        bounds[0],
        (Fraction(bounds[0]) + Fraction(bounds[1])) / 2,
        bounds[1],
        1e308,
    ]
    claimed = query.sensitivity(p, relation=relation)
    assert isinstance(claimed, Fraction)
    assert claimed == brute_force(query, domain, 2, relation, p)


def test_the_formula_is_the_textbook_one():
    query = Sum(bounds=(-5, 10))
    assert query.sensitivity(relation="add_remove") == 10
    assert query.sensitivity(relation="replace_one") == 15
    centred = Sum(bounds=(-5, 10), center=True)
    assert centred.sensitivity(relation="add_remove") == Fraction(15, 2)
    assert centred.sensitivity(relation="replace_one") == 15


def test_centred_sums_stay_on_the_grid():
    query = Sum(bounds=(0, 3), grid=1, center=True)
    assert query([3, 0]) == 1
    assert query.sensitivity(relation="add_remove") == 2
    assert query.step == query.origin == 1
    assert query([3, 0]) + 2 * query.origin == Sum(bounds=(0, 3), grid=1)([3, 0])


@given(data=sample, record=finite_floats, other=finite_floats, bounds=st.sampled_from(PAIRS))
def test_random_neighbours_stay_within_it(data, record, other, bounds):
    for center in (False, True):
        query = Sum(bounds=bounds, center=center)
        with_record, with_other = query([*data, record]), query([*data, other])
        assert abs(with_record - query(data)) <= query.sensitivity(relation="add_remove")
        assert abs(with_record - with_other) <= query.sensitivity(relation="replace_one")


@given(data=sample, random=st.randoms(), bounds=st.sampled_from(PAIRS))
def test_neither_order_nor_container_matters(data, random, bounds):
    query = Sum(bounds=bounds)
    shuffled = random.sample(data, len(data))
    assert query(data) == query(shuffled) == query(np.array(data)) == query(np.array(data, dtype=object))


@given(data=st.lists(st.integers(-100, 100)))
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float16, np.float32, float])
def test_whole_numbers_add_up(dtype, data):
    assert Sum(bounds=(-100, 100))(np.array(data, dtype=dtype)) == sum(data)


def test_short_floats_keep_their_value():
    value = np.float32(0.1)
    query = Sum(bounds=(0, 1), grid=2.0**-40)
    assert query(np.full(1000, value)) == 1000 * Fraction(float(value))


def test_sums_of_any_size_are_exact():
    assert Sum(bounds=(0, 2**62))(np.full(10, 2**62)) == 10 * 2**62
    assert Sum(bounds=(0, 10**40))([10**40] * 3) == 3 * 10**40
    assert Sum(bounds=(0, 2**53), grid=1)(np.full(2000, 2**53 - 1)) == 2000 * (2**53 - 1)


def test_empty_data_sum_to_nothing():
    assert Sum(bounds=(3, 4))([]) == Sum(bounds=(3, 4), center=True)([]) == 0


def test_missing_values_count_as_the_lower_bound():
    assert Sum(bounds=(-3, 4))([math.nan, 4, None]) == -2


def test_wrong_questions_are_refused():
    with pytest.raises(UnboundedSensitivity, match=r"the sum has no bounds.*Sum\(bounds=\(0, 500000\)\)"):
        Sum()
    with pytest.raises(RelationMismatch):
        Sum(bounds=(0, 1)).sensitivity(relation="either")
    with pytest.raises(InvalidParameter, match="center"):
        Sum(bounds=(0, 1), center="yes")
    with pytest.raises(InvalidParameter, match="the norm p"):
        Sum(bounds=(0, 1)).sensitivity(0, relation="add_remove")
