"""Mixtures of Gaussians against quadrature, and groups in a Poisson sample against vectors drawn at random."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm

from discreet.accounting import PrivacyLoss
from discreet.accounting.numerical import Composition
from discreet.accounting.numerical.mixture import MixturePair
from discreet.accounting.terms.gaussian_mixture import binomial_mixture, seen_at_least
from discreet.errors import InvalidParameter, NoTheorem

MIXTURES = [
    ([0, 1], [0.75, 0.25]),
    ([0, 1, 2], [0.81, 0.18, 0.01]),
    ([0.5, 3], [0.5, 0.5]),
    ([2], [1]),
    ([0, 0.1, 5], [0.5, 0.499, 0.001]),
]


def exact(parts):
    """Weights as rationals that add up to 1."""
    found = [Fraction(str(part)) for part in parts]
    assert sum(found) == 1
    return found


GRID = np.linspace(-12, 20, 320_001)


def density(x):
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def quadrature(shifts, weights, epsilon, mixed_first):
    mixed = sum(w * density(GRID - m) for m, w in zip(shifts, weights, strict=True))
    p, q = (mixed, density(GRID)) if mixed_first else (density(GRID), mixed)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * (GRID[1] - GRID[0]))


@pytest.mark.parametrize(("shifts", "weights"), MIXTURES)
@pytest.mark.parametrize("epsilon", [0, 0.2, 1.3])
def test_delta_is_the_larger_of_both_directions(shifts, weights, epsilon):
    loss = PrivacyLoss.gaussian_mixture(shifts, exact(weights))
    true = max(quadrature(shifts, weights, epsilon, way) for way in (True, False))
    assert loss.delta(epsilon) == pytest.approx(true, rel=1e-6, abs=1e-8)


def test_one_shift_is_gaussian_noise():
    loss, noise = PrivacyLoss.gaussian_mixture([2], [1]), PrivacyLoss.gaussian(2)
    for epsilon in (0, 1, 5, 30):
        assert loss.delta(epsilon) == pytest.approx(noise.delta(epsilon), rel=1e-12)
    assert loss.renyi(3) == pytest.approx(noise.renyi(3))
    assert (5 * loss).epsilon(1e-6) == pytest.approx((5 * noise).epsilon(1e-6), rel=1e-4)


@pytest.mark.parametrize("rate", [0.004, 0.25, 0.9])
def test_two_shifts_are_a_poisson_sample(rate):
    share = Fraction(rate)
    loss, sampled = PrivacyLoss.gaussian_mixture([0, 1], [1 - share, share]), PrivacyLoss.gaussian(1).sampled(rate)
    for epsilon in (0, 0.001, 0.1, 1, 4):
        assert loss.delta(epsilon) == pytest.approx(sampled.delta(epsilon), rel=1e-9, abs=1e-300)
    for count in (10, 500):
        low, high = (count * loss).bounds(1e-6)
        assert low <= (count * sampled).epsilon(1e-6)
        assert (count * sampled).bounds(1e-6)[0] <= high
        assert high == pytest.approx((count * sampled).epsilon(1e-6), rel=1e-5)
    assert PrivacyLoss.gaussian_mixture([1], [1]).sampled(rate) == loss.under("add_remove")
    twice = PrivacyLoss.gaussian_mixture([0, 1], [0.5, 0.5]).sampled(rate)
    assert twice == PrivacyLoss.gaussian_mixture([0, 1], [1 - share / 2, share / 2]).under("add_remove")


@pytest.mark.parametrize(("shifts", "weights"), MIXTURES)
def test_cells_are_found_to_the_last_digits(shifts, weights):
    """The loss at the edge that was inverted is the edge; masses are those of the normal laws."""
    pair = MixturePair(tuple(map(float, shifts)), tuple(weights))
    low = max(pair.support[0], -6.0)
    edges = np.concatenate([[low], low + np.geomspace(1e-9, 12, 200)])
    p, q = pair.cells(edges)
    for edge in edges[1:]:
        assert pair.loss(pair.place(edge)) == pytest.approx(edge, abs=1e-13, rel=1e-13)
    x = np.array([pair.place(edge) for edge in edges])
    assert q == pytest.approx(np.diff(norm.cdf(x)), abs=1e-14)
    assert p == pytest.approx(
        sum(w * np.diff(norm.cdf(x - m)) for m, w in zip(shifts, weights, strict=True)), abs=1e-14
    )
    back = pair.reversed()
    assert [mass[::-1] for mass in back.cells(-edges[::-1])] == [pytest.approx(q), pytest.approx(p)]
    assert back.reversed() == pair


@pytest.mark.parametrize(("shifts", "weights"), MIXTURES)
@pytest.mark.parametrize("alpha", [1.5, 2, 5])
def test_renyi_divergences_are_not_below_quadrature(shifts, weights, alpha):
    loss = PrivacyLoss.gaussian_mixture(shifts, exact(weights))
    x = np.linspace(-20, 60, 80_001)
    log_p = np.logaddexp.reduce([math.log(w) - (x - m) ** 2 / 2 for m, w in zip(shifts, weights, strict=True)], axis=0)
    for a, b in ((log_p, -(x**2) / 2), (-(x**2) / 2, log_p)):
        moment = np.sum(np.exp(alpha * a + (1 - alpha) * b)) * (x[1] - x[0]) / math.sqrt(2 * math.pi)
        assert math.log(moment) / (alpha - 1) <= loss.renyi(alpha) * (1 + 1e-9)
        assert math.log(moment) / (alpha - 1) <= alpha * loss.rho * (1 + 1e-9)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_vectors_of_a_group_are_dominated(size, rate):
    """Shifts in the plane, in any directions: the likelihood ratio under the noise, on a grid of the plane."""
    grid = np.linspace(-8, 8, 161)
    x, y = np.meshgrid(grid, grid)
    plain = density(x) * density(y) * (grid[1] - grid[0]) ** 2
    loss = PrivacyLoss.gaussian(1).sampled(rate).group(size, one_way=True)
    claims = {epsilon: loss.delta(epsilon) for epsilon in (0, 0.1, 0.5)}
    generator = np.random.default_rng(1)
    for _ in range(4):
        angles = generator.random(size) * 2 * math.pi
        lengths = generator.random(size)
        steps = np.column_stack([lengths * np.cos(angles), lengths * np.sin(angles)])
        mixed = np.zeros_like(plain)
        for kept in np.ndindex(*[2] * size):
            shift = np.array(kept) @ steps
            chance = math.prod(rate if bit else 1 - rate for bit in kept)
            mixed += chance * density(x - shift[0]) * density(y - shift[1]) * (grid[1] - grid[0]) ** 2
        for epsilon, claimed in claims.items():
            true = max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((mixed, plain), (plain, mixed)))
            assert true <= claimed + 1e-5
    straight = max(quadrature(range(size + 1), binom(size, rate).pmf(range(size + 1)), 0.1, way) for way in (0, 1))
    assert loss.delta(0.1) == pytest.approx(straight, rel=1e-6)
    assert straight > 1.3 * PrivacyLoss.gaussian(1).sampled(rate).delta(0.1)


def test_groups_of_a_training_run():
    run = 500 * PrivacyLoss.gaussian(mu=0.8).sampled(0.01)
    one, two = run.epsilon(1e-6), run.group(2, one_way=True).epsilon(1e-6)
    assert one < two < run.group(2).epsilon(1e-6)
    assert run.group(1, one_way=True) == run
    assert run.group(3, one_way=True).bounds(1e-6)[0] > two
    assert PrivacyLoss.laplace(1).under("add_remove").group(2, one_way=True) == PrivacyLoss.laplace(2).under(
        "add_remove"
    )


def test_binomial_weights_are_exact_or_rounded_to_the_worse():
    assert seen_at_least(3, Fraction(1, 2)) == [1, Fraction(7, 8), Fraction(1, 2), Fraction(1, 8)]
    rate = Fraction(0.0137)
    exactly = [sum(math.comb(40, j) * rate**j * (1 - rate) ** (40 - j) for j in range(k, 41)) for k in range(41)]
    rounded = seen_at_least(40, rate)
    assert all(
        a <= b <= a * (1 + Fraction(1, 2**50)) + Fraction(1, 2**200) for a, b in zip(exactly, rounded, strict=True)
    )
    assert sum(binomial_mixture(Fraction(1), 40, rate).weights) == 1


def test_the_composition_is_certified():
    loss = 100 * PrivacyLoss.gaussian_mixture([0, 1, 2], exact([0.81, 0.18, 0.01]))
    low, high = loss.bounds(1e-5)
    assert 0 < low <= high <= low * (1 + 1e-3)
    pair = loss.terms[0][0].pair()
    assert Composition(((pair, 100),)).epsilon(1e-5) == pytest.approx(high)


def test_records():
    loss = PrivacyLoss.gaussian_mixture([0, Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)], mu_squared=2)
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert eval(repr(loss), {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}) == loss
    assert PrivacyLoss.gaussian_mixture([0], [1]) == PrivacyLoss()
    assert loss.group(1) == loss
    with pytest.raises(NoTheorem):
        loss.group(2)


@pytest.mark.parametrize(
    ("shifts", "weights"),
    [([], []), ([1], [0.5]), ([-1, 0], [0.5, 0.5]), ([1, 1], [0.5, 0.5]), ([0, 1], [1, 0]), ([0], [0.5, 0.5])],
)
def test_bad_mixtures_are_refused(shifts, weights):
    with pytest.raises(InvalidParameter):
        PrivacyLoss.gaussian_mixture(shifts, weights)
