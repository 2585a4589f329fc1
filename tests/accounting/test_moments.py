"""Moments of the privacy loss, against sums and quadrature."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem

KINDS = {
    "gaussian": PrivacyLoss.gaussian(mu=0.8),
    "laplace": PrivacyLoss.laplace(1.3),
    "small": PrivacyLoss.laplace(1e-4),
    "response": PrivacyLoss.randomized_response(1.1, 4),
    "pure": PrivacyLoss.pure(0.7),
    "geometric": PrivacyLoss.discrete_laplace(sensitivity=3, scale=2),
    "discrete gaussian": PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=2),
    "sampled gaussian": PrivacyLoss.gaussian(mu=1.5).sampled(0.1),
    "sampled laplace": PrivacyLoss.laplace(2).sampled(0.2),
    "sampled response": PrivacyLoss.randomized_response(2, 3).sampled(0.3),
    "range": PrivacyLoss.bounded_range(1.2),
    "pair": PrivacyLoss.from_pair([0.5, 0.3, 0.2], [0.2, 0.2, 0.6]),
    "many": 20 * PrivacyLoss.laplace(0.1) + 3 * PrivacyLoss.gaussian(mu=0.2),
}


@pytest.mark.parametrize("loss", KINDS.values(), ids=KINDS)
def test_the_moment_generating_function_is_1_where_it_must_be(loss):
    assert loss.mgf(0) == 1
    assert loss.mgf(-1) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "small", "response", "pure", "geometric", "many"])
@pytest.mark.parametrize("t", [0.5, 1, 3, 10])
def test_it_is_the_renyi_divergence(name, t):
    loss = KINDS[name]
    assert math.log(loss.mgf(t)) == pytest.approx(t * loss.renyi(1 + t), rel=1e-6, abs=1e-15)


def test_it_is_the_renyi_divergence_of_a_sampled_gaussian_the_worse_way():
    """For Poisson samples of Gaussian noise the mixture against the plain law is the worse direction."""
    loss = KINDS["sampled gaussian"]
    assert loss.mgf(4) == pytest.approx(math.exp(4 * loss.renyi(5)), rel=1e-6)


@pytest.mark.parametrize("loss", KINDS.values(), ids=KINDS)
def test_moments_are_derivatives_at_0(loss):
    h = 1e-3 / max(loss.moments(2)[1] ** 0.5, 1e-3)
    mean, square = loss.moments(2)
    left, right = loss.mgf(-h), loss.mgf(h)
    assert (right - left) / (2 * h) == pytest.approx(mean, rel=1e-4, abs=1e-9)
    assert (right - 2 + left) / h**2 == pytest.approx(square, rel=1e-4, abs=1e-9)


def quadrature(log_p, log_q, edges, k):
    def integrand(x):
        return math.exp(log_p(x)) * (log_p(x) - log_q(x)) ** k

    return math.fsum(integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-10, limit=300)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_moments_of_laplace_noise_by_quadrature(k):
    e = 1.3
    true = quadrature(lambda x: -abs(x) - math.log(2), lambda x: -abs(x - e) - math.log(2), [-60, -20, 0, e, 20, 60], k)
    assert PrivacyLoss.laplace(e).moments(4)[k - 1] == pytest.approx(true, rel=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_moments_of_a_sampled_gaussian_by_quadrature(k):
    q, mu = 0.1, 1.5
    true = quadrature(
        lambda x: math.log((1 - q) * stats.norm.pdf(x) + q * stats.norm.pdf(x - mu)),
        lambda x: stats.norm.logpdf(x),
        [-30, -8, -2, 0, 2, 4, 8, 30],
        k,
    )
    assert KINDS["sampled gaussian"].moments(4)[k - 1] == pytest.approx(true, rel=1e-6)


def test_moments_of_lists_are_sums():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    loss = np.log(p / q)
    assert PrivacyLoss.from_pair(p, q).moments(3) == pytest.approx([p @ loss, p @ loss**2, p @ loss**3])
    twice = np.log(np.outer(p, p) / np.outer(q, q))
    found = (2 * PrivacyLoss.from_pair(p, q)).moments(3)
    assert found == pytest.approx([(np.outer(p, p) * twice**k).sum() for k in (1, 2, 3)])


def test_moments_of_gaussian_noise_are_exact():
    assert PrivacyLoss.gaussian(mu=1).moments(4) == (0.5, 1.25, 1.625, 4.5625)
    assert (7 * PrivacyLoss.gaussian(mu=1)).moments(2) == PrivacyLoss.gaussian(mu_squared=7).moments(2)


def test_means_and_variances_add():
    a, b = PrivacyLoss.laplace(0.4), PrivacyLoss.randomized_response(1.1)
    whole, parts = (25 * a + 2 * b).moments(2), [(25, a.moments(2)), (2, b.moments(2))]
    assert whole[0] == pytest.approx(sum(k * m[0] for k, m in parts))
    assert whole[1] - whole[0] ** 2 == pytest.approx(sum(k * (m[1] - m[0] ** 2) for k, m in parts))


def test_what_gives_everything_away_has_infinite_moments():
    failing = PrivacyLoss.laplace(1) + PrivacyLoss.approximate(1, 1e-6)
    assert failing.moments(2) == (math.inf, math.inf)
    assert failing.mgf(0.1) == math.inf
    assert failing.mgf(-1) == pytest.approx(1 - 1e-6, rel=1e-12)
    revealing = PrivacyLoss.from_pair([0.5, 0.5, 0], [0.5, 0, 0.5])
    assert revealing.moments(1) == (math.inf,)
    assert revealing.mgf(1) == math.inf
    assert revealing.mgf(-1) == pytest.approx(0.5)
    hidden = PrivacyLoss.from_pair([0.5, 0.5, 0], [0.25, 0.25, 0.5])
    assert hidden.moments(1) == pytest.approx((math.log(2),))


def test_what_has_no_law_has_no_moments():
    with pytest.raises(NoTheorem, match="renyi"):
        PrivacyLoss.zcdp(1).moments(1)
    with pytest.raises(NoTheorem, match="renyi"):
        PrivacyLoss.zcdp(1).mgf(1)
    for bad in (0, -1, 1.0, True, 1000):
        with pytest.raises(InvalidParameter):
            PrivacyLoss.laplace(1).moments(bad)
    assert PrivacyLoss.gaussian(mu=100).mgf(10) == math.inf
    assert PrivacyLoss.gaussian(mu=1).sampled(0.1).mgf(10**4) == math.inf
