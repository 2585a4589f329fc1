"""The constants of the papers: worked values, and the same integrals done another way."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from discreet.learn.convex import theorems


def test_output_perturbation_worked_value():
    noise = theorems.output_noise(n=1000, strength=0.01, epsilon=1)
    assert noise.beta == pytest.approx(5.0, rel=1e-12)
    assert noise.expected_norm(10) == pytest.approx(2.0, rel=1e-12)


def test_objective_perturbation_worked_value():
    noise = theorems.objective_noise(n=1000, strength=0.01, epsilon=1, smoothness=0.25)
    assert noise.epsilon == pytest.approx(0.950614774819257, rel=1e-12)
    assert noise.beta == pytest.approx(0.4753073874096285, rel=1e-12)
    assert noise.extra == 0


def test_objective_perturbation_with_too_little_regularisation():
    n, c, epsilon = 100, 0.25, 0.1
    noise = theorems.objective_noise(n=n, strength=1e-4, epsilon=epsilon, smoothness=c)
    assert noise.epsilon == epsilon / 2
    assert noise.extra == pytest.approx(c / (n * (math.exp(epsilon / 4) - 1)) - 1e-4, rel=1e-12)
    assert 2 * math.log1p(c / (n * (1e-4 + noise.extra))) == pytest.approx(epsilon / 2, rel=1e-12)  # the other half


def test_approximate_minima_worked_value():
    made = theorems.approximate_minima(
        n=1000,
        lipschitz=1,
        smoothness=0.25,
        rank=2,
        epsilons=(0.99, 0.01, 0.6),
        deltas=(5e-6, 5e-6),
        gradient=1e-6,
    )
    assert made.least_strength == pytest.approx(1.2820512820512822, rel=1e-10)
    assert made.sigma_objective == pytest.approx(0.01980288277433382, rel=1e-10)
    assert made.sigma_output == pytest.approx(0.9267749138388227, rel=1e-10)  # twice what is printed


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.1, 0.15, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("mu", [0.1, 0.3, 1.0])
def test_delta_of_a_tilted_objective_is_that_of_its_loss(epsilon, mu):
    """The loss is at most ``J + mu^2 / 2 + mu |Z|``: integrate its hockey-stick divergence."""
    j = 0.1
    base = j + mu**2 / 2

    def excess(z):
        return max(0.0, -math.expm1(epsilon - base - mu * z)) * 2 * norm.pdf(z)

    turn = max(0.0, (epsilon - base) / mu)
    expected = quad(excess, turn, turn + 12, epsabs=1e-13)[0]
    found = theorems.objective_delta(Fraction(epsilon), mu=Fraction(mu), jacobian=Fraction(j))
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("alpha", [1.5, 2, 8, 32])
def test_renyi_divergence_of_a_tilted_objective(alpha):
    mu, j = 0.3, 0.1
    moment = quad(lambda z: math.exp((alpha - 1) * mu * z) * 2 * norm.pdf(z), 0, 40)[0]
    expected = j + mu**2 / 2 + math.log(moment) / (alpha - 1)
    assert theorems.objective_renyi(alpha, mu=mu, jacobian=j) == pytest.approx(expected, rel=1e-8)


def test_the_determinant_grows_by_no_more_than_the_jacobian_says():
    rng = np.random.default_rng(5)
    for _ in range(200):
        strength, smoothness = rng.uniform(0.05, 3, 2)
        rows = rng.normal(size=(4, 3))
        common = rows.T @ rows + strength * np.eye(3)
        one, other = (np.outer(x, x) / (x @ x) * smoothness * rng.uniform() for x in rng.normal(size=(2, 3)))
        bound = float(theorems.jacobian(Fraction(smoothness), Fraction(strength)))
        with_one, with_other = np.linalg.slogdet(common + one)[1], np.linalg.slogdet(common + other)[1]
        assert 0 <= with_one - np.linalg.slogdet(common)[1] <= bound + 1e-12  # a record comes or goes
        assert abs(with_one - with_other) <= bound + 1e-12  # a record is replaced


def test_sigma_is_the_least():
    sigma = theorems.objective_sigma(1, 1e-5, lipschitz=Fraction(2), jacobian=Fraction(1, 20))
    assert theorems.objective_delta(1, mu=2 / Fraction(sigma), jacobian=Fraction(1, 20)) <= 1e-5
    assert theorems.objective_delta(1, mu=2 / Fraction(sigma * 0.999), jacobian=Fraction(1, 20)) > 1e-5
    assert math.isinf(theorems.objective_sigma(0.1, 1e-5, lipschitz=Fraction(1), jacobian=Fraction(1, 2)))
