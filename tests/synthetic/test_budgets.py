"""The largest rho of a budget: it fits, and hardly more would."""

import pytest

from discreet import InvalidParameter
from discreet.accounting import PrivacyLoss
from discreet.synthetic.budgets import largest_rho


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (1, 1e-6), (30, 1e-3), (300, 1e-12)])
def test_it_fits_and_little_more_would(epsilon, delta):
    rho = largest_rho(PrivacyLoss.laplace, epsilon, delta)
    assert PrivacyLoss.laplace(rho).epsilon(delta) <= epsilon
    assert PrivacyLoss.laplace(rho * 1.005).epsilon(delta) > epsilon


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 1e-6), (1, 0), (1, 2), (float("nan"), 1e-6)])
def test_odd_budgets_are_refused(epsilon, delta):
    with pytest.raises(InvalidParameter):
        largest_rho(PrivacyLoss.laplace, epsilon, delta)
