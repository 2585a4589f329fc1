from fractions import Fraction

import numpy as np
import pytest
import torch

from discreet.errors import InvalidParameter
from discreet.learn.sgd.rounding import largest_batch, share


def test_the_bound_holds_for_matrix_products():
    """Rows of norm 1, all alike, make errors that add up: the worst there is."""
    torch.manual_seed(0)
    worst = 0.0
    for rows in (16, 64, 255):
        for _ in range(20):
            g = torch.rand(rows, 50) + 0.5
            g /= g.double().norm(dim=1, keepdim=True).float() * 1.001
            exact = g.double().sum(0)
            found = (torch.ones(rows) @ g).double()
            error = float((found - exact).norm())
            assert error <= float(share(rows)) / 4
            worst = max(worst, error)
    assert worst > 0


def test_largest_batch_is_the_largest():
    for rounding in (2.0**-6, 2.0**-10, 0.5):
        rows = largest_batch(rounding)
        assert share(rows) <= rounding < share(rows + 1)
    with pytest.raises(InvalidParameter):
        largest_batch(1e-12)
    with pytest.raises(InvalidParameter):
        share(2**24)


def test_shares_are_exact():
    unit = Fraction(1, 2**24)
    assert share(10) == 4 * 10 * (10 * unit / (1 - 10 * unit))
    assert float(share(1000, "float64")) < 1e-9
    assert np.isclose(float(share(255)), 4 * 255**2 * 2.0**-24, rtol=1e-4)
