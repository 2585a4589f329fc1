"""The numerical accountant at the edges of its range, and with thousands of different releases."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.accounting.numerical import Atoms, Composition, GaussianPair, LaplacePair, Sampled
from discreet.accounting.numerical.lattice import Grid, upper
from discreet.accounting.numerical.many import upper_many
from discreet.accounting.terms.pure import response_pair


def response_curve(epsilons):
    """Return the exact law of the summed loss of different randomised responses, by enumeration in float64."""
    losses, mass = np.zeros(1), np.ones(1)
    for e in epsilons:
        truth = 1 / (1 + math.exp(-e))
        losses = np.concatenate([losses + e, losses - e])
        mass = np.concatenate([mass * truth, mass * (1 - truth)])
    return losses, mass


def test_different_responses_by_enumeration():
    epsilons = [0.11 + 0.017 * i for i in range(16)]
    losses, mass = response_curve(epsilons)
    composition = Composition(tuple((response_pair(Fraction(e), 2), 1) for e in epsilons))
    for epsilon in (0.0, 0.7, 1.9, 3.0):
        exact = float(np.dot(mass, -np.expm1(np.minimum(epsilon - losses, 0))))
        low, high = composition.delta(epsilon, "lower"), composition.delta(epsilon)
        assert low <= exact * (1 + 1e-10)
        assert exact <= high * (1 + 1e-10)
        assert high <= exact * 1.001
        assert low >= exact * 0.95
        assert composition.epsilon(exact, "lower") <= epsilon + 1e-9
        assert composition.epsilon(exact) >= epsilon - 1e-9


def test_many_pairs_at_once_are_the_same_as_one_by_one():
    generator = random.Random(5)
    pairs = [LaplacePair(generator.uniform(0.001, 0.3)) for _ in range(40)]
    pairs += [response_pair(Fraction(generator.uniform(0.001, 0.3)), 2 + i % 4) for i in range(40)]
    pairs += [GaussianPair(0.1)]
    grids = [Grid(0.0017) for _ in pairs]
    for together, pair, grid in zip(upper_many(pairs, grids, 1e-20), pairs, grids, strict=True):
        alone = upper(pair, grid, 1e-20)
        for epsilon in np.linspace(-0.3, 0.3, 31):
            first, second = (
                float(np.dot(one.mass, -np.expm1(np.minimum(epsilon - one.anchor - one.places * one.step, 0))))
                for one in (together, alone)
            )
            assert first == pytest.approx(second, abs=1e-13)


def test_thousands_of_different_releases():
    """Randomised responses and Laplace noises, against the same number of equal ones on both sides."""
    epsilons = [0.02 + 1e-6 * i for i in range(2000)]
    mixed = tuple((LaplacePair(e) if i % 2 else response_pair(Fraction(e), 2), 1) for i, e in enumerate(epsilons))
    found = Composition(mixed).epsilon(1e-6)
    for e, side in ((min(epsilons), "lower"), (max(epsilons), "upper")):
        equal = Composition(((LaplacePair(e), 1000), (response_pair(Fraction(e), 2), 1000)))
        bound = equal.epsilon(1e-6, side)
        assert found >= bound if side == "lower" else found <= bound * (1 + 1e-4)


def test_huge_noise_and_tiny_noise():
    for sigma, rate, copies in ((0.05, 0.01, 10), (0.05, 0.5, 100), (1e4, 0.1, 1000), (0.3, 0.2, 50)):
        composition = Composition(((Sampled(GaussianPair(1 / sigma), rate), copies),))
        low, high = composition.epsilon(1e-6, "lower"), composition.epsilon(1e-6)
        assert 0 < low <= high < math.inf
        assert high - low <= 2e-3 * high


def test_ten_million_steps():
    """As many steps at a small rate are nearly one Gaussian of mu = rate sqrt(T (e^(1/sigma^2) - 1)), and no less."""
    composition = Composition(((Sampled(GaussianPair(0.1), 1e-3), 10**7),))
    low, high = composition.epsilon(1e-6, "lower"), composition.epsilon(1e-6)
    assert high - low <= 5e-4 * high
    mu = 1e-3 * math.sqrt(1e7 * math.expm1(0.01))
    middle = (low + high) / 2
    limit = ndtr(mu / 2 - middle / mu) - math.exp(middle) * ndtr(-mu / 2 - middle / mu)
    assert limit == pytest.approx(1e-6, rel=0.05)


@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-30])
def test_rare_records(delta):
    """A record that hardly ever takes part: the loss is rare and large, and the tilt must not run away with it."""
    for rate, sigma, copies in ((1e-5, 1.0, 10**6), (1e-4, 0.5, 10**4), (1e-6, 0.7, 100)):
        composition = Composition(((Sampled(GaussianPair(1 / sigma), rate), copies),))
        low, high = composition.epsilon(delta, "lower"), composition.epsilon(delta)
        assert 0 <= low <= high < math.inf
        assert high - low <= 0.1 * high + 1e-9 or delta < 1e-9  # a million transforms are not told apart so far out


def test_the_summed_profile_is_a_polygon_between_lattice_points():
    """Delta is asked between lattice points too: there it lies on the chord, hardly above the truth."""
    pair = Atoms(np.array([-1.0, 1.0]), *(np.array(m) for m in ([1 / (1 + math.e), math.e / (1 + math.e)],) * 2))
    pair = Atoms(pair.losses, pair.p, pair.p[::-1])
    composition = Composition(((pair, 5),))
    for epsilon in np.linspace(0, 4.9, 29):
        exact = sum(
            math.comb(5, k) * math.e ** (5 - k) / (1 + math.e) ** 5 * -math.expm1(min(epsilon - (5 - 2 * k), 0))
            for k in range(6)
        )
        assert composition.delta(epsilon, "lower") <= exact * (1 + 1e-9)
        assert exact <= composition.delta(epsilon) * (1 + 1e-9)
        assert composition.delta(epsilon) <= exact * (1 + 1e-5)
