"""No approximation without a direction is ever charged.

Opacus's Gaussian-DP accountant tells the central limit of a training run as if it were a bound. On the plans below that
lies under an epsilon that is certified to be exceeded. Here it is shown, labelled, and never chosen.

Defence: central limits are shown with a label, marked as no bound, and never chosen.
Source: The Gaussian-DP accountant of Opacus, measured beside this library.
"""

import pytest

from discreet.accounting import PrivacyLoss
from discreet.accounting.routes import NO_DIRECTION, Routes
from discreet.accounting.theorems import sampled_gaussian_limit

PLANS = [(0.01, 1.1, 1000, 1e-5), (0.004, 0.8, 2000, 1e-6), (0.02, 0.7, 300, 1e-5)]


def plan(rate, noise, steps):
    return steps * PrivacyLoss.gaussian(mu=1 / noise).sampled(rate)


@pytest.mark.parametrize(("rate", "noise", "steps", "delta"), PLANS)
def test_the_limit_lies_below_what_is_certain(rate, noise, steps, delta):
    about = sampled_gaussian_limit(rate=rate, noise_multiplier=noise, steps=steps).epsilon(delta)
    low, high = plan(rate, noise, steps).bounds(delta)
    assert about < 0.95 * low
    assert low <= plan(rate, noise, steps).epsilon(delta) == high


def test_it_is_shown_with_its_label_and_never_chosen():
    rate, noise, steps, delta = PLANS[0]
    loss = plan(rate, noise, steps)
    found = loss.routes(delta)
    (about,) = (route for route in found if route.name == "central limit")
    assert not about.valid
    assert about.note.startswith(NO_DIRECTION)
    assert about.epsilon == min(route.epsilon for route in found)
    assert found.best.valid
    assert found.best.epsilon > about.epsilon
    assert about.epsilon < loss.bounds(delta)[0] <= loss.epsilon(delta)
    assert all(route.epsilon >= loss.bounds(delta)[0] for route in found if route.valid)


def test_the_check_would_catch_one_that_is_taken_for_valid():
    rate, noise, steps, delta = PLANS[0]
    loss = plan(rate, noise, steps)
    found = loss.routes(delta)
    from dataclasses import replace

    lying = Routes(tuple(replace(route, valid=True) for route in found), loss, found.delta)
    assert lying.best.name == "central limit"
    assert lying.best.epsilon < loss.bounds(delta)[0]
