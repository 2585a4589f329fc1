"""Composition against enumeration: exact where it says so, never below the truth elsewhere."""

import math
from fractions import Fraction

import numpy as np
import pytest
from accounting_reference import divergence, responses

from discreet.accounting import PrivacyLoss

STEPS = (0, 0.1, 0.35, 0.6, 0.9)


@pytest.mark.parametrize("make", [PrivacyLoss.pure, PrivacyLoss.randomized_response])
@pytest.mark.parametrize(("count", "epsilon"), [(1, 1), (2, 0.7), (3, 2), (8, 0.25), (12, 0.1)])
def test_equal_pure_losses_compose_as_randomised_response(make, count, epsilon):
    p, q = responses(*[epsilon] * count)
    for share in STEPS:
        at = share * count * epsilon
        assert (count * make(epsilon)).delta(at) == pytest.approx(divergence(p, q, at), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("epsilons", [(1, 0.5), (0.1, 0.2, 0.3), (2, 0.1, 0.1), (0.5, 1, 1.5, 0.25)])
@pytest.mark.parametrize("failure", [0, 0.01])
def test_different_losses_are_never_undercharged(epsilons, failure):
    p, q = responses(*epsilons)
    loss = sum((PrivacyLoss.approximate(e, failure) for e in epsilons), PrivacyLoss())
    lost = 1 - (1 - failure) ** len(epsilons)
    for share in STEPS:
        at = share * sum(epsilons)
        true = lost + (1 - lost) * divergence(p, q, at)
        assert true * (1 - 1e-12) <= loss.delta(at)
    assert loss.epsilon(lost + 1e-12) <= sum(map(Fraction, epsilons)) * (1 + Fraction(1, 10**12))


def test_the_comparison_can_fail():
    p, q = responses(0.5, 0.5)
    assert divergence(p, q, 0.3) > PrivacyLoss.pure(0.5).delta(0.3) * 1.1


@pytest.mark.parametrize("kinds", [("laplace", "pure"), ("laplace", "laplace"), ("gaussian", "pure")])
def test_mixtures_of_kinds_are_never_undercharged(kinds):
    """Densities are cut into cells, which can only bring two laws closer; the claim must lie above even so."""
    edges = np.concatenate([[-np.inf], np.linspace(-12, 13, 401), [np.inf]])

    def cells(kind, shift):
        if kind == "pure":
            return responses(1)[shift]
        from scipy import stats

        law = stats.laplace if kind == "laplace" else stats.norm
        return np.diff(law.cdf(edges - shift))

    loss = sum((getattr(PrivacyLoss, kind)(1) for kind in kinds), PrivacyLoss())
    p, q = (np.multiply.outer(*(cells(kind, shift) for kind in kinds)).ravel() for shift in (0, 1))
    for at in (0, 0.5, 1, 1.5):
        assert divergence(p, q, at) <= loss.delta(at)


def test_gaussians_and_zcdp_add_exactly():
    third = PrivacyLoss.gaussian(mu_squared=Fraction(1, 3))
    assert 3 * third == PrivacyLoss.gaussian(1)
    assert 3 * PrivacyLoss.zcdp(Fraction(1, 3)) == PrivacyLoss.zcdp(1)


@pytest.mark.parametrize("count", [2000, 2001, 10**5])
def test_beyond_exact_sums_the_charge_stays_close(count):
    loss = count * PrivacyLoss.pure(0.01)
    central = PrivacyLoss.gaussian(mu_squared=Fraction(count, 10**4)).epsilon(1e-6)
    assert 0.9 * central < loss.epsilon(1e-6) < 1.2 * central


@pytest.mark.parametrize("count", [999, 1000, 10**6])
def test_many_failures_add_up(count):
    loss = count * PrivacyLoss.approximate(0, 1e-9)
    assert 1 - (1 - 1e-9) ** count <= loss.delta(0) * (1 + 1e-6)
    assert loss.delta(0) <= count * 1e-9 * (1 + 1e-9)
    assert loss.epsilon(count * 1e-9 * 1.01) == 0
    assert loss.epsilon(count * 1e-9 * 0.9) == math.inf
