"""Composition formulas are cross-checked: three routes to the same number, on random compositions of all kinds.

One library lost a logarithm, another treated an epsilon as a rho. Whatever is charged here must lie
between a certified bound from below and what every classical theorem proves, and where a closed form exists, on it.

Defence: what is charged lies between a certified bound from below and every classical theorem, and on closed forms.
Source: OpenDP SmartNoise issue 621; OpenDP issue 2911.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss, theorems
from discreet.accounting.numerical import Composition

DELTAS = (1e-3, 1e-6)


def random_loss(seed):
    """One to four kinds of releases, each a few times."""
    generator = np.random.default_rng(seed)

    def size(low=0.02, high=0.6):
        return float(np.round(generator.uniform(low, high), 3))

    kinds = [
        lambda: PrivacyLoss.pure(size()),
        lambda: PrivacyLoss.laplace(size()),
        lambda: PrivacyLoss.gaussian(size()),
        lambda: PrivacyLoss.zcdp(size(0.001, 0.1)),
        lambda: PrivacyLoss.randomized_response(size(), int(generator.integers(2, 6))),
        lambda: PrivacyLoss.discrete_laplace(sensitivity=1, scale=1 / size()),
        lambda: PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=Fraction(1 / size()) ** 2),
        lambda: PrivacyLoss.bounded_range(size()),
        lambda: PrivacyLoss.approximate(size(), 1e-8),
        lambda: PrivacyLoss.laplace(size(0.5, 2)).sampled(size(0.01, 0.3), scheme="symmetric"),
        lambda: PrivacyLoss.gaussian(size(0.5, 1)).sampled(size(0.01, 0.3), scheme="symmetric"),
        lambda: PrivacyLoss.gaussian_mixture([0, 1], [0.75, 0.25], mu_squared=size(0.1, 1)),
        lambda: PrivacyLoss.shuffled(size(0.5, 1), 200),
        lambda: PrivacyLoss.renyi_curve([(order, order * size(0.001, 0.05)) for order in (2, 4, 8, 16, 32)]),
        lambda: PrivacyLoss.overflow(1e-9),
    ]
    chosen = generator.choice(len(kinds), size=generator.integers(1, 5), replace=False)
    parts = [(int(generator.integers(1, 20)), kinds[i]()) for i in chosen]
    return sum((count * PrivacyLoss(loss.terms) for count, loss in parts), PrivacyLoss())


def within(epsilon, loss, delta, tolerance=3e-4):
    """Whether an epsilon is no smaller than is certain, and no larger than any theorem proves."""
    low = loss.bounds(delta)[0]
    proven = [route.epsilon for route in loss.routes(delta) if route.valid and route.name != "discreet"]
    return low * (1 - 1e-12) <= epsilon <= min(proven, default=math.inf) * (1 + tolerance)


@pytest.mark.parametrize("seed", range(40))
def test_random_compositions_lie_between_their_bounds(seed):
    loss = random_loss(seed)
    delta = DELTAS[seed % 2]
    epsilon = loss.epsilon(delta)
    assert within(epsilon, loss, delta), loss
    if math.isfinite(epsilon):
        assert loss.delta(epsilon * (1 + 1e-6) + 1e-9) <= delta * (1 + 1e-4)


def test_some_of_them_are_of_every_kind():
    seen = {term.kind for seed in range(40) for term, _ in random_loss(seed).terms}
    assert len(seen) >= 12


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 30), (0.5, 7), (0.05, 300)])
@pytest.mark.parametrize("delta", DELTAS)
def test_three_routes_to_repeated_randomised_response(epsilon, count, delta):
    """The binomial sum by itself, the numerical accountant on the same pair, and Renyi divergences above both."""
    k = np.arange(count + 1)
    logs = np.array([math.lgamma(count + 1) - math.lgamma(i + 1) - math.lgamma(count - i + 1) for i in k])
    law = np.exp(logs + k * epsilon - count * math.log1p(math.exp(epsilon)))
    losses = (2 * k - count) * epsilon

    def true(at):
        return float(np.sum(law * -np.expm1(np.minimum(at - losses, 0))))

    loss = count * PrivacyLoss.pure(epsilon)
    charged = loss.epsilon(delta)
    assert true(charged) <= delta * (1 + 1e-9)
    assert true(charged * (1 - 1e-6)) >= delta * (1 - 1e-4)
    numerical = Composition(((loss.terms[0][0].pair(), count),))
    assert charged == pytest.approx(numerical.epsilon(delta), rel=1e-3)
    assert theorems.renyi_epsilon(loss.renyi, delta).epsilon >= charged * (1 - 1e-12)


@pytest.mark.parametrize("delta", DELTAS)
def test_three_routes_to_gaussian_noise(delta):
    loss = 16 * PrivacyLoss.gaussian(0.25)
    exact = theorems.gdp_epsilon(1, delta)
    assert loss.epsilon(delta) == pytest.approx(exact, rel=1e-9)
    one = PrivacyLoss.gaussian(0.25).terms[0][0].pair()
    assert Composition(((one, 16),)).epsilon(delta) == pytest.approx(exact, rel=1e-4)
    assert theorems.zcdp_epsilon(0.5, delta) >= exact


SLIPS = {
    "an epsilon taken for a rho": lambda loss: PrivacyLoss.zcdp(loss.rho**2).epsilon(1e-6),
    "a lost logarithm": lambda loss: loss.rho + 2 * math.sqrt(loss.rho),
    "a forgotten count": lambda loss: PrivacyLoss(((loss.terms[0][0], 1),)).epsilon(1e-6),
    "epsilons that add where they need not": lambda loss: 2 * loss.epsilon(),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_the_check_catches_slips(slip):
    loss = 40 * PrivacyLoss.laplace(0.1)
    assert within(loss.epsilon(1e-6), loss, 1e-6)
    assert not within(SLIPS[slip](loss), loss, 1e-6)
