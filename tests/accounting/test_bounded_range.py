"""A bounded range against brute force over all mechanisms with two losses, alone, composed and from below."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from accounting_reference import divergence

from discreet.accounting import PrivacyLoss
from discreet.accounting.numerical.bounded_range import BoundedRangePair, two_losses

EPSILONS = [0.01, 0.5, 1, 4]
SHARES = np.linspace(0, 1, 2001)


def laws(epsilon, share):
    """The laws with the losses ``t`` and ``t - epsilon``, from the two equations that fix them."""
    t = share * epsilon
    p = (math.exp(epsilon) - math.exp(t)) / (math.exp(epsilon) - 1)
    return np.array([p, 1 - p]), np.array([p * math.exp(-t), (1 - p) * math.exp(epsilon - t)])


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("at", [0, 0.3, 0.7, 0.95])
def test_the_profile_is_the_worst_of_all_mechanisms(epsilon, at):
    worst = max(divergence(*laws(epsilon, share), at * epsilon) for share in SHARES)
    claimed = PrivacyLoss.bounded_range(epsilon).delta(at * epsilon)
    assert worst <= claimed * (1 + 1e-9)
    assert claimed == pytest.approx(worst, rel=1e-3)
    assert divergence(*laws(1.1 * epsilon, 0.5 + at / 2), at * epsilon) > claimed


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("alpha", [1.1, 2, 8, 50])
def test_renyi_divergences_are_the_worst_of_all_mechanisms(epsilon, alpha):
    pairs = [laws(epsilon, share) for share in SHARES[1:-1]]
    worst = max(math.log(np.sum(p**alpha * q ** (1 - alpha))) / (alpha - 1) for p, q in pairs)
    loss = PrivacyLoss.bounded_range(epsilon)
    assert worst <= loss.renyi(alpha) * (1 + 1e-8)
    assert loss.renyi(alpha) == pytest.approx(worst, rel=1e-4)
    assert loss.renyi(alpha) <= alpha * loss.rho * (1 + 1e-12)
    assert loss.rho == pytest.approx(epsilon**2 / 8)
    assert worst > PrivacyLoss.bounded_range(epsilon / 1.1).renyi(alpha)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_pair_has_the_profile(epsilon):
    pair = BoundedRangePair(epsilon)
    for at in (-0.9, -0.2, 0.0, 0.4, 0.99):
        p, q = pair.cells(np.array([at * epsilon, epsilon]))
        x = math.exp(at * epsilon)
        found = (math.exp(epsilon / 2) - math.sqrt(x)) ** 2 / math.expm1(epsilon)
        assert p[0] - x * q[0] == pytest.approx(found, rel=1e-9)
    whole = pair.cells(np.linspace(-epsilon, epsilon, 50))
    assert [mass.sum() for mass in whole] == pytest.approx([1, 1])


@pytest.mark.parametrize(("epsilon", "count"), [(0.5, 2), (1, 3), (0.2, 8)])
def test_no_composition_of_mechanisms_costs_more(epsilon, count):
    """Also where each release uses another t, and the two data sets change places."""
    loss = count * PrivacyLoss.bounded_range(epsilon)
    generator = np.random.default_rng(0)
    for shares in [*product((0.5,), repeat=count)] + [generator.random(count) for _ in range(20)]:
        p, q = np.ones(1), np.ones(1)
        for share in shares:
            a, b = laws(epsilon, float(share))
            p, q = np.outer(p, a).ravel(), np.outer(q, b).ravel()
        for at in (0, 0.2, 0.5):
            assert divergence(p, q, at * count * epsilon) <= loss.delta(at * count * epsilon)


def test_the_bounds_hold_the_truth_between_them():
    """A hundred equal mechanisms are a binomial law; the bound from below finds one, that from above covers all."""
    epsilon, count, delta = 0.1, 100, 1e-6
    low, high = (count * PrivacyLoss.bounded_range(epsilon)).bounds(delta)
    k = np.arange(count + 1)
    log_binomial = np.array([math.lgamma(count + 1) - math.lgamma(i + 1) - math.lgamma(count - i + 1) for i in k])

    def true(at, share):
        chance = float(laws(epsilon, share)[0][0])
        p = np.exp(log_binomial + k * math.log(chance) + (count - k) * math.log(1 - chance))
        losses = k * epsilon + count * (share - 1) * epsilon
        return float(np.sum(p * -np.expm1(np.minimum(at - losses, 0))))

    shares = np.linspace(0.05, 0.95, 181)
    assert max(true(low * (1 - 1e-9), share) for share in shares) >= delta
    assert max(true(high, share) for share in shares) <= delta
    assert high < 1.08 * low
    assert high < 0.51 * (count * PrivacyLoss.pure(epsilon)).epsilon(delta)
    assert max(true(high, share) for share in shares) > (count * PrivacyLoss.bounded_range(epsilon / 1.2)).delta(high)


def test_a_mechanism_with_two_losses():
    for share in (0.5, 0.85):
        found, (p, q) = two_losses(1.0, share), laws(1.0, share)
        assert found.p[::-1] == pytest.approx(p)
        assert found.q[::-1] == pytest.approx(q)


def test_the_better_of_two_routes_is_taken():
    for count in (2, 30, 1000):
        loss = count * PrivacyLoss.bounded_range(0.1)
        by_rho = PrivacyLoss.zcdp(Fraction(loss.rho)).epsilon(1e-6)
        assert loss.epsilon(1e-6) <= min(by_rho * (1 + 1e-9), (count * PrivacyLoss.pure(0.1)).epsilon(1e-6))
        at = loss.epsilon(1e-6)
        assert loss.delta(at * (1 + 1e-9)) <= 1e-6 * (1 + 1e-6)
    with_noise = 100 * PrivacyLoss.bounded_range(0.1) + PrivacyLoss.gaussian(0.5)
    assert with_noise.epsilon(1e-6) <= (100 * PrivacyLoss.pure(0.1) + PrivacyLoss.gaussian(0.5)).epsilon(1e-6)


def test_groups_and_records():
    loss = PrivacyLoss.bounded_range(Fraction(1, 3))
    assert loss.group(3) == PrivacyLoss.bounded_range(1)
    assert loss.epsilon() >= 1 / 3
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert eval(repr(loss), {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}) == loss
    assert PrivacyLoss.bounded_range(0) == PrivacyLoss()
