"""Each kind of term against the definition: its curve in 200-bit balls, its Renyi divergence by quadrature."""

import math
from fractions import Fraction

import pytest
from accounting_reference import ball, in_balls, renyi
from flint import arb
from scipy.special import logsumexp

from discreet.accounting import PrivacyLoss
from discreet.accounting.terms import KINDS

EPSILONS = [Fraction(1, 10**6), Fraction(1, 3), 0.1, 1, 7]
AT = [0, Fraction(1, 10**7), Fraction(1, 7), 0.99, 5]
ORDERS = [1.01, 1.5, 2, 8]


def truth(kind, size, at):
    """The hockey-stick divergence by its formula, in balls."""
    e0, e = ball(size), ball(at)
    if kind == "gaussian":
        root = arb(2).sqrt()
        return ((e / e0 - e0 / 2) / root).erfc() / 2 - e.exp() * ((e / e0 + e0 / 2) / root).erfc() / 2
    if Fraction(at) >= Fraction(size):
        return arb(0)
    if kind == "laplace":
        return 1 - ((e - e0) / 2).exp()
    return (e0.exp() - e.exp()) / (1 + e0.exp())


@pytest.mark.parametrize("kind", ["pure", "laplace", "gaussian", "randomized_response"])
@pytest.mark.parametrize("size", EPSILONS)
@pytest.mark.parametrize("at", AT)
def test_deltas_are_rounded_outward_and_hardly_so(kind, size, at):
    claimed = getattr(PrivacyLoss, kind)(size).delta(at)
    true = in_balls(lambda: truth(kind, size, at))
    assert in_balls(lambda: not arb(claimed) < true)
    assert claimed <= float(true) * (1 + 1e-14) + 5e-324


@pytest.mark.parametrize("size", EPSILONS)
def test_pure_ends_are_rounded_outward(size):
    assert Fraction(PrivacyLoss.laplace(size).epsilon()) >= Fraction(size)
    assert Fraction((3 * PrivacyLoss.pure(size)).epsilon()) >= 3 * Fraction(size)


def discrete_renyi(log_p, log_q, alpha, reach):
    return logsumexp([alpha * log_p(z) + (1 - alpha) * log_q(z) for z in range(-reach, reach + 1)]) / (alpha - 1)


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("size", [0.2, 1, 3])
def test_renyi_of_real_noise(alpha, size):
    edges = [-60, -10, -1, 0, size, size + 1, size + 10, 60]
    found = renyi(lambda x: -abs(x) - math.log(2), lambda x: -abs(x - size) - math.log(2), alpha, edges)
    assert PrivacyLoss.laplace(size).renyi(alpha) == pytest.approx(found, rel=1e-7)
    half = math.log(2 * math.pi) / 2
    found = renyi(lambda x: -x * x / 2 - half, lambda x: -((x - size) ** 2) / 2 - half, alpha, edges)
    assert PrivacyLoss.gaussian(size).renyi(alpha) == pytest.approx(found, rel=1e-7)


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("shift", [1, 2, 3])
@pytest.mark.parametrize("scale", [0.5, 2])
def test_renyi_of_whole_noise(alpha, shift, scale):
    norm = math.log(math.tanh(1 / (2 * scale)))
    found = discrete_renyi(lambda z: norm - abs(z) / scale, lambda z: norm - abs(z - shift) / scale, alpha, 200)
    loss = PrivacyLoss.discrete_laplace(sensitivity=shift, scale=scale)
    assert loss.renyi(alpha) == pytest.approx(found, rel=1e-9)
    total = math.log(math.fsum(math.exp(-(z**2) / (2 * scale**2)) for z in range(-100, 101)))

    def law(z):
        return -(z**2) / (2 * scale**2) - total

    found = discrete_renyi(law, lambda z: law(z - shift), alpha, 100)
    loss = PrivacyLoss.discrete_gaussian(squared_sensitivity=shift**2, sigma_squared=Fraction(scale) ** 2)
    assert found <= loss.renyi(alpha) * (1 + 1e-9)
    if alpha in (2, 8):
        assert loss.renyi(alpha) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
@pytest.mark.parametrize("categories", [2, 3, 7])
def test_renyi_of_responses(alpha, epsilon, categories):
    total = math.exp(epsilon) + categories - 1
    p = [math.exp(epsilon) / total, *[1 / total] * (categories - 1)]
    q = [p[1], p[0], *p[2:]]
    found = math.log(math.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (alpha - 1)
    assert PrivacyLoss.randomized_response(epsilon, categories).renyi(alpha) == pytest.approx(found, rel=1e-9)
    if categories == 2:
        assert PrivacyLoss.pure(epsilon).renyi(alpha) == pytest.approx(found, rel=1e-9)
        assert PrivacyLoss.approximate(epsilon, 0).renyi(alpha) == pytest.approx(found, rel=1e-9)


def test_renyi_of_the_opaque():
    assert PrivacyLoss.zcdp(0.5).renyi(3) == 1.5
    assert PrivacyLoss.approximate(1, 1e-9).renyi(3) == math.inf


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2, 10])
def test_every_pure_loss_has_the_zcdp_of_randomised_response(epsilon):
    rho = PrivacyLoss.pure(epsilon).rho
    assert rho == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-14)
    for make in (PrivacyLoss.pure, PrivacyLoss.laplace, PrivacyLoss.randomized_response):
        assert make(epsilon).rho <= rho
        for alpha in (1.0001, 1.5, 2, 10, 1000):
            assert make(epsilon).renyi(alpha) <= alpha * rho * (1 + 1e-9)
    assert PrivacyLoss.pure(epsilon).renyi(1 + 1e-6) / (1 + 1e-6) == pytest.approx(rho, rel=1e-4)


@pytest.mark.parametrize("rho", [1e-4, 0.1, 2])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_zcdp_costs_between_the_gaussian_and_the_textbook(rho, delta):
    zcdp = PrivacyLoss.zcdp(rho).epsilon(delta)
    assert PrivacyLoss.gaussian(mu_squared=2 * Fraction(rho)).epsilon(delta) <= zcdp
    assert zcdp <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_a_group_of_approximate_losses_is_the_sum_of_its_chain():
    grouped = PrivacyLoss.approximate(0.5, 1e-6).group(3)
    assert grouped.delta(1.5) == pytest.approx(1e-6 * (1 + math.exp(0.5) + math.exp(1)), rel=1e-12)
    assert PrivacyLoss.approximate(0, 0.4).group(2).delta(0) == 0.8
    assert PrivacyLoss.approximate(0, 0.4).group(3).delta(9) == 1


@pytest.mark.parametrize("sigma", [0.5, 3])
def test_large_sensitivities_fall_back_to_a_bound_that_holds(sigma):
    """Beyond what is enumerated the zCDP bound takes over; it must lie above the scalar's exact sum."""
    for shift in (5, 20):
        square = Fraction(sigma) ** 2 * shift**2
        vector, scalar = (
            PrivacyLoss.discrete_gaussian(squared_sensitivity=shift**2, sigma_squared=square, scalar=one)
            for one in (False, True)
        )
        for at in (0.1, 1, 3):
            assert vector.delta(at) >= scalar.delta(at)


def test_kinds_are_never_removed():
    assert sorted(KINDS) == [
        "approximate",
        "bounded_range",
        "discrete_gaussian",
        "discrete_laplace",
        "gaussian",
        "gaussian_mixture",
        "laplace",
        "one_of",
        "one_of_each",
        "overflow",
        "pair",
        "pure",
        "randomized_response",
        "renyi_curve",
        "sampled",
        "sampled_symmetric",
        "shuffled",
        "zcdp",
    ]
