"""The least noise for a budget: enough, hardly more, and found quickly."""

import math

import pytest

from discreet.accounting import PrivacyLoss, calibrate, noise_multiplier
from discreet.errors import InvalidParameter

CASES = {
    "laplace": (lambda s: 10 * PrivacyLoss.laplace(1 / s), 2, 0),
    "gaussian": (lambda s: PrivacyLoss.gaussian(mu=1 / s), 1, 1e-5),
    "large": (lambda s: PrivacyLoss.gaussian(mu=1 / s), 10, 1e-5),
    "small": (lambda s: PrivacyLoss.gaussian(mu=1 / s), 0.01, 1e-9),
    "mixed": (lambda s: 50 * PrivacyLoss.laplace(1 / s) + PrivacyLoss.gaussian(mu=1 / s), 1, 1e-6),
    "sampled": (lambda s: 1000 * PrivacyLoss.gaussian(mu=1 / s).sampled(0.01), 2, 1e-5),
    "far": (lambda s: PrivacyLoss.laplace(1e6 / s), 1e-3, 0),
    "near": (lambda s: PrivacyLoss.laplace(1e-6 / s), 1e3, 0),
}


@pytest.mark.parametrize(("make", "epsilon", "delta"), CASES.values(), ids=CASES)
def test_it_is_enough_hardly_more_and_soon_found(make, epsilon, delta):
    asked = []
    noise = calibrate(lambda s: asked.append(s) or make(s), epsilon, delta)
    assert make(noise).epsilon(delta) <= epsilon
    assert make(noise * (1 - 2e-6)).epsilon(delta) > epsilon
    assert len(asked) <= 12


@pytest.mark.parametrize("threshold", [1e-9, 0.3, 3.3, 1e9])
@pytest.mark.parametrize("below", [5, math.inf])
@pytest.mark.parametrize("above", [0, 0.5, 1])
def test_jumps_are_found(threshold, below, above):
    """An epsilon that is infinite, 0 or constant says nothing about where to look."""

    def make(noise):
        if noise < threshold:
            return PrivacyLoss.gaussian(mu=1) if math.isinf(below) else PrivacyLoss.pure(below)
        return PrivacyLoss.pure(above)

    assert threshold <= calibrate(make, 1) <= threshold * (1 + 2e-6)


def test_the_known_values():
    assert calibrate(lambda s: PrivacyLoss.gaussian(mu=1 / s), 0.5, 1e-6) == pytest.approx(8.057618480725043, rel=2e-6)
    assert noise_multiplier(rate=1, steps=1000, epsilon=1, delta=1e-6) == pytest.approx(133.59607673, rel=2e-6)


def test_budgets_that_nothing_fits_and_that_everything_fits():
    with pytest.raises(InvalidParameter, match="no amount of noise"):
        calibrate(lambda s: PrivacyLoss.gaussian(mu=1 / s), 1)
    assert calibrate(lambda s: PrivacyLoss.pure(0.5), 1) <= 2.0**-59
    with pytest.raises(InvalidParameter, match="steps"):
        noise_multiplier(rate=0.1, steps=0, epsilon=1, delta=1e-5)
