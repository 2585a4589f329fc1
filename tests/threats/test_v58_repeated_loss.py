"""A loss times k is the loss k times.

An accountant that keeps a count beside each event may read the event and forget the count: Google's dp-accounting
0.6.0 told 0.5001 for twenty randomised responses of epsilon 0.5 each, which cost 9.9868 at delta 1e-6.

Defence: a multiple of a loss is the same value as the sum, for every kind of loss, in JSON too.
Source: dp-accounting 0.6.0, measured beside this library.
"""

from fractions import Fraction

import pytest

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import RandomizedResponse, compose, repeat

LOSSES = [
    PrivacyLoss.pure(0.5),
    PrivacyLoss.approximate(0.5, 1e-9),
    PrivacyLoss.zcdp(0.1),
    PrivacyLoss.gaussian(0.5),
    PrivacyLoss.laplace(0.5),
    PrivacyLoss.discrete_laplace(sensitivity=1, scale=2),
    PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=4),
    PrivacyLoss.randomized_response(0.5),
    PrivacyLoss.randomized_response(0.5, 4),
    PrivacyLoss.laplace(0.5) + PrivacyLoss.gaussian(0.5),
    PrivacyLoss.bounded_range(0.5),
    PrivacyLoss.renyi_curve([(2, 0.1), (8, 0.4)]),
    PrivacyLoss.gaussian(0.5).sampled(0.1, scheme="without_replacement"),
    PrivacyLoss.gaussian_mixture([0, 1], [0.75, 0.25]),
    PrivacyLoss.shuffled(0.5, 20),
]
TWENTY = 9.98680


def added(loss, count):
    return sum([loss] * count, PrivacyLoss())


def agrees(repeated, loss, count):
    """Whether a way to repeat costs what adding does, and more than a single one."""
    one_by_one = added(loss, count)
    return all(
        ask(repeated) == ask(one_by_one) > ask(loss)
        for ask in (
            lambda x: x.epsilon(1e-6),
            lambda x: x.delta(Fraction(1, 10)),
            lambda x: x.renyi(2),
            lambda x: x.renyi(9),
        )
        if ask(one_by_one) != float("inf")
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("count", [2, 20])
def test_a_multiple_is_a_sum(loss, count):
    assert count * loss == added(loss, count)
    assert agrees(count * loss, loss, count)
    assert agrees(PrivacyLoss.from_json((count * loss).to_json()), loss, count)


@pytest.mark.parametrize("make", [PrivacyLoss.pure, PrivacyLoss.randomized_response])
def test_twenty_randomised_responses(make):
    assert (20 * make(0.5)).epsilon(1e-6) == pytest.approx(TWENTY, abs=5e-6)
    assert added(make(0.5), 20).epsilon(1e-6) == pytest.approx(TWENTY, abs=5e-6)


def test_twenty_mechanisms():
    one = RandomizedResponse(epsilon=0.5)
    assert repeat(one, 20).loss == compose(*[one] * 20).loss
    assert repeat(one, 20).loss.epsilon(1e-6) == pytest.approx(TWENTY, abs=5e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_check_catches_a_forgotten_count(loss):
    assert not agrees(loss, loss, 20)
    assert not agrees(19 * loss, loss, 20)
