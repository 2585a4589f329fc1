"""Losses known by a list of Renyi divergences: bounds between the orders hold for laws that have them."""

import math
from fractions import Fraction

import pytest

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem

ORDERS = [1.5, 2, 4, 8, 32]


def listed(loss, orders=ORDERS):
    return PrivacyLoss.renyi_curve([(order, loss.renyi(order)) for order in orders])


@pytest.mark.parametrize(
    "loss", [PrivacyLoss.gaussian(0.5), PrivacyLoss.laplace(1), PrivacyLoss.pure(2), PrivacyLoss.bounded_range(2)]
)
def test_between_the_orders_the_truth_is_never_above(loss):
    curve = listed(loss)
    for order in (1.1, 1.49, 1.7, 2, 2.9, 5, 7.5, 20, 32):
        assert loss.renyi(order) <= curve.renyi(order) * (1 + 1e-12)
    assert curve.renyi(4) == pytest.approx(loss.renyi(4), rel=1e-14)
    assert curve.renyi(33) == math.inf


def test_between_the_orders_it_is_the_chord():
    """Of ``(a - 1) D_a``: for a Gaussian that is a parabola, which a chord overshoots by a known amount."""
    curve = listed(PrivacyLoss.gaussian(1), [2, 4])
    assert curve.renyi(3) == pytest.approx((1 * 1 + 3 * 2) / 2 / 2)
    assert curve.renyi(1.2) == pytest.approx(1)


def test_a_larger_order_bounds_a_smaller_one():
    curve = PrivacyLoss.renyi_curve([(2, 5), (8, Fraction(1, 2))])
    assert curve.renyi(2) == 0.5
    assert curve.renyi(1.5) == 0.5


def test_releases_compose_by_order_and_convert_at_the_best():
    curve = listed(PrivacyLoss.gaussian(0.3), [2, 3, 5, 8, 13, 21, 34])
    loss = 10 * curve
    best = min(
        10 * order * 0.045 + math.log((order - 1) / order) - (math.log(1e-6) + math.log(order)) / (order - 1)
        for order in (2, 3, 5, 8, 13, 21, 34)
    )
    assert loss.epsilon(1e-6) <= best * (1 + 1e-9)
    assert loss.epsilon(1e-6) > 0.97 * best
    assert (10 * PrivacyLoss.gaussian(0.3)).epsilon(1e-6) <= loss.epsilon(1e-6)
    assert loss.bounds(1e-6)[0] == 0
    assert loss.epsilon(0) == math.inf
    assert (loss + PrivacyLoss.laplace(0.1)).epsilon(1e-6) > loss.epsilon(1e-6)


def test_the_check_catches_halved_divergences():
    halved = PrivacyLoss.renyi_curve([(order, PrivacyLoss.gaussian(1).renyi(order) / 2) for order in ORDERS])
    assert halved.epsilon(1e-6) < PrivacyLoss.gaussian(1).epsilon(1e-6)


def test_on_a_sample():
    base, rate = PrivacyLoss.gaussian(0.5), Fraction(1, 10)
    sampled = listed(base, range(2, 65)).sampled(rate)
    assert base.sampled(rate).epsilon(1e-6) <= sampled.epsilon(1e-6) < base.epsilon(1e-6) / 2
    assert base.sampled(rate).renyi(8) <= sampled.renyi(8)
    drawn = listed(base, range(2, 65)).sampled(rate, scheme="without_replacement")
    assert base.sampled(rate, scheme="without_replacement").epsilon(1e-6) <= drawn.epsilon(1e-6)


def test_records():
    loss = listed(PrivacyLoss.gaussian(0.5)).under("add_remove")
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert eval(repr(loss), {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}) == loss
    assert loss.group(1) == loss
    with pytest.raises(NoTheorem):
        loss.group(2)


@pytest.mark.parametrize("points", [[], [(1, 1)], [(0.5, 1)], [(2, -1)], [(2, 1), (2, 2)], [(math.nan, 1)]])
def test_bad_curves_are_refused(points):
    with pytest.raises(InvalidParameter):
        PrivacyLoss.renyi_curve(points)
