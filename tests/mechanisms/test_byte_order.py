"""Whole numbers mean the same in whatever order their bytes are stored."""

import numpy as np
import pytest

from discreet.mechanisms import Geometric
from discreet.synthetic.coded import codes_of_rows
from discreet.synthetic.operators.whole import clamped

HUGE = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize("order", ["<u8", ">u8"])
def test_large_numbers_are_large_in_both_orders(order):
    stored = np.array(HUGE, dtype=order)
    assert clamped(stored, 0, 100, otherwise="").tolist() == [0, 1, 100, 100, 100]
    assert codes_of_rows(stored.reshape(-1, 1), 1, 9).reshape(-1).tolist() == [0, 1, 9, 9, 9]
    noisy = Geometric(sensitivity=1, epsilon=1000).release(stored)
    assert (np.diff(noisy.astype(object)) >= 0).all()


@pytest.mark.parametrize("order", ["<u8", ">u8"])
def test_neighbours_beyond_the_sign_stay_neighbours(order):
    one, other = (np.array([value], dtype=order) for value in (2**63 - 1, 2**63))
    near, far = (int(clamped(value, -(2**62), 2**62, otherwise="")[0]) for value in (one, other))
    assert abs(near - far) <= 1
