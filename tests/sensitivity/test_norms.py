import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, InvalidParameter
from discreet.sensitivity import norm

vectors = st.lists(st.fractions(min_value=-100, max_value=100), max_size=5)


@pytest.mark.parametrize(
    ("vector", "p", "expected"),
    [
        ([], 2, 0),
        ([0, 0], 3, 0),
        ([3, -4], 1, 7),
        ([3, -4], 2, 5),
        ([3, -4], math.inf, 4),
        ([0, Fraction(-1, 3), 0], 2.5, Fraction(1, 3)),
        ([5e-324, 1e308], math.inf, Fraction(1e308)),
    ],
)
def test_known_norms(vector, p, expected):
    assert norm(vector, p) == expected


@given(vector=vectors, p=st.sampled_from([2, 3, 4, 7]))
def test_whole_norms_are_rounded_up_and_hardly(vector, p):
    power = sum(abs(x) ** p for x in vector)
    claimed = Fraction(norm(vector, p))
    assert power <= claimed**p <= power * (1 + Fraction(1, 10**14))


@given(vector=vectors, p=st.floats(1, 50))
def test_real_norms_lie_between_the_largest_entry_and_the_sum(vector, p):
    assert norm(vector, math.inf) <= norm(vector, p)
    assert Fraction(norm(vector, p)) <= norm(vector, 1) * (1 + Fraction(1, 10**14))


def test_norms_of_extreme_order_and_size():
    assert norm([1, 2], 1e300) >= 2
    assert norm([5e-324, 5e-324], 2) >= 5e-324
    assert norm([1e308] * 9, 2) == math.inf
    assert norm([1] * 10**5, 2) == pytest.approx(math.sqrt(10**5))


def test_numpy_vectors_do_not_wrap_around():
    assert norm(np.array([2**62, 2**62, 2**62]), 1) == 3 * 2**62
    assert norm(np.array([-128], dtype=np.int8), 2) == 128


@pytest.mark.parametrize("p", [0, 0.5, -1, math.nan, -math.inf, "2", None, True, 1j])
def test_other_orders_are_refused(p):
    with pytest.raises(InvalidParameter, match="the norm p must"):
        norm([1, 2], p)


@pytest.mark.parametrize("entry", [math.nan, math.inf, None])
def test_vectors_must_be_finite(entry):
    with pytest.raises(InvalidInput, match="finite"):
        norm([1, entry], 1)
