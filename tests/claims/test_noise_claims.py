"""Additive noise: the claimed curve is the exact divergence on the worst neighbours, and no larger anywhere."""

import math

import numpy as np
import pytest
from claims_reference import (
    attained,
    cells,
    discrete_gaussian,
    gaussian_survival,
    geometric,
    ideal_divergence,
    kept,
    laplace_survival,
    product,
    steps,
    worse,
)

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace

SCALES = [0.3, 1, 2.5, 10]
SHIFTS = [1, 2, 3]
LESS = 0.99


def pair(law, size, shift, reach):
    return law(size, 0, reach), law(size, shift, reach)


# --- integers, one number ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_geometric_is_exact(scale, shift):
    loss = Geometric(sensitivity=shift, scale=scale).loss
    assert attained(loss, *pair(geometric, scale, shift, int(40 * scale) + 40), steps(shift / scale))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_check_catches_geometric_noise_a_hundredth_too_small(scale, shift):
    loss = Geometric(sensitivity=shift, scale=scale).loss
    assert not kept(loss, *pair(geometric, LESS * scale, shift, int(40 * scale) + 40), steps(shift / scale))


def test_the_check_catches_half_the_sensitivity():
    halved = Geometric(sensitivity=1, epsilon=1).loss
    assert not kept(halved, *pair(geometric, 1, 2, 100), steps(1))
    halved = DiscreteGaussian(sensitivity=1, sigma=2).loss
    assert not kept(halved, *pair(discrete_gaussian, 2, 2, 60), steps(1))


@pytest.mark.parametrize("sigma", [0.4, 1, 3, 12.5])
def test_discrete_gaussian_is_exact_for_a_unit_shift(sigma):
    loss = DiscreteGaussian(sensitivity=1, sigma=sigma).loss
    assert attained(loss, *pair(discrete_gaussian, sigma, 1, int(40 * sigma) + 40), steps(3 / sigma))


@pytest.mark.parametrize("sigma", [0.4, 1, 3, 12.5])
def test_the_check_catches_discrete_gaussian_noise_a_hundredth_too_small(sigma):
    loss = DiscreteGaussian(sensitivity=1, sigma=sigma).loss
    assert not kept(loss, *pair(discrete_gaussian, LESS * sigma, 1, int(40 * sigma) + 40), steps(3 / sigma))


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (0.1, 1e-6), (3, 1e-9), (0.5, 1e-2)])
def test_calibrated_discrete_gaussian_meets_its_target_and_the_continuous_sigma_does_not(epsilon, delta):
    own = float(DiscreteGaussian(sensitivity=1, epsilon=epsilon, delta=delta).sigma)
    continuous = float(Gaussian(sensitivity=1, epsilon=epsilon, delta=delta).sigma)
    reach = int(40 * own) + 40
    assert worse(*pair(discrete_gaussian, own, 1, reach), epsilon) <= delta * (1 + 1e-12)
    assert worse(*pair(discrete_gaussian, LESS * own, 1, reach), epsilon) > delta
    assert worse(*pair(discrete_gaussian, continuous, 1, reach), epsilon) > delta


# --- integers, many numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [(1, 1), (2, 1), (1, 1, 1), (-2, 1), (1, -1, 1)])
@pytest.mark.parametrize("scale", [0.5, 1, 2])
def test_a_shift_split_over_coordinates_costs_no_more(shift, scale):
    size = sum(map(abs, shift))
    loss = Geometric(sensitivity=size, scale=scale).loss
    p, q = (product(*(geometric(scale, s * v, 30) for v in shift)) for s in (0, 1))
    assert kept(loss, p, q, steps(size / scale))
    smaller = Geometric(sensitivity=size - 1, scale=scale).loss
    assert not kept(smaller, p, q, steps(size / scale))


@pytest.mark.parametrize(
    ("square", "shift"),
    [(2, (1, 1)), (3, (1, 1, 1)), (4, (2,)), (4, (1, 1, 1, 1)), (4, (1, 1)), (5, (2, 1)), (5, (1, -2))],
)
@pytest.mark.parametrize("sigma", [0.5, 1, 1.5])
def test_every_whole_shift_within_the_sensitivity_costs_no_more(square, shift, sigma):
    loss = DiscreteGaussian(sensitivity=math.sqrt(square), sigma=sigma).loss
    p, q = (product(*(discrete_gaussian(sigma, s * v, 12) for v in shift)) for s in (0, 1))
    assert kept(loss, p, q, steps(2.5 / sigma))


@pytest.mark.parametrize("sigma", [0.5, 1, 1.5])
def test_one_of_the_shifts_attains_the_claim(sigma):
    loss = DiscreteGaussian(sensitivity=2, sigma=sigma).loss
    laws = [
        [product(*(discrete_gaussian(sigma, s * v, 12) for v in shift)) for s in (0, 1)]
        for shift in ((2,), (1, 1, 1, 1))
    ]
    for epsilon in steps(1 / sigma):
        found = max(worse(*law, epsilon) for law in laws)
        assert math.isclose(found, loss.delta(epsilon), rel_tol=1e-8)


@pytest.mark.parametrize("sigma", [0.5, 1, 1.5])
def test_the_check_catches_a_shift_beyond_the_sensitivity(sigma):
    loss = DiscreteGaussian(sensitivity=1, sigma=sigma).loss
    p, q = (product(*(discrete_gaussian(sigma, s, 12) for _ in range(2))) for s in (0, 1))
    assert not kept(loss, p, q, steps(1 / sigma))


# --- real numbers ------------------------------------------------------------------------------------------------


def laplace_density(y):
    return -abs(y) - math.log(2)


def gaussian_density(y):
    return -y * y / 2 - math.log(2 * math.pi) / 2


IDEAL = [(Laplace, "scale", laplace_density), (Gaussian, "sigma", gaussian_density)]
GRIDDED = [(Laplace, "scale", laplace_survival), (Gaussian, "sigma", gaussian_survival)]


@pytest.mark.parametrize(("mechanism", "name", "density"), IDEAL)
@pytest.mark.parametrize("shift", [0.2, 1, 3])
def test_the_ideal_mechanism_is_exact(mechanism, name, density, shift):
    loss = mechanism(sensitivity=shift, **{name: 1}).loss
    for epsilon in steps(shift)[:-2]:
        assert math.isclose(ideal_divergence(density, shift, epsilon), loss.delta(epsilon), rel_tol=1e-9)


@pytest.mark.parametrize(("mechanism", "name", "density"), IDEAL)
@pytest.mark.parametrize("shift", [0.2, 1, 3])
def test_the_check_catches_ideal_noise_a_hundredth_too_small(mechanism, name, density, shift):
    loss = mechanism(sensitivity=shift, **{name: 1}).loss
    assert all(ideal_divergence(density, shift / LESS, e) > loss.delta(e) for e in steps(shift)[:-2])


@pytest.mark.parametrize(("mechanism", "name", "survival"), GRIDDED)
@pytest.mark.parametrize("grid", [2, 0.5, 1 / 64])
@pytest.mark.parametrize("value", [0, 0.3])
@pytest.mark.parametrize("size", [0.5, 2])
def test_the_grid_costs_nothing(mechanism, name, survival, grid, value, size):
    loss = mechanism(sensitivity=1, grid=grid, **{name: size}).loss
    reach = int(30 * size / grid) + 2
    p, q = (cells(survival, size, v, grid, reach) for v in (value, value + 1))
    assert kept(loss, p, q, steps(1 / size))


@pytest.mark.parametrize(("mechanism", "name", "survival"), GRIDDED)
@pytest.mark.parametrize("size", [0.5, 2])
def test_the_check_catches_gridded_noise_a_hundredth_too_small(mechanism, name, survival, size):
    loss = mechanism(sensitivity=1, **{name: size}).loss
    p, q = (cells(survival, LESS * size, v, 1 / 64, int(64 * 30 * size)) for v in (0, 1))
    assert not kept(loss, p, q, steps(1 / size))


@pytest.mark.parametrize(("mechanism", "name", "survival"), GRIDDED)
@pytest.mark.parametrize("shift", [(0.5, 0.5), (0.25, 0.75), (0.5, -0.5)])
def test_a_real_shift_split_over_coordinates_costs_no_more(mechanism, name, survival, shift):
    size = sum(map(abs, shift)) if mechanism is Laplace else math.hypot(*shift)
    loss = mechanism(sensitivity=size, **{name: 1}).loss
    p, q = (product(*(cells(survival, 1, s * v, 1 / 8, 8 * 20) for v in shift)) for s in (0, 1))
    assert kept(loss, p, q, steps(size))
    smaller = mechanism(sensitivity=0.8 * size, **{name: 1}).loss
    assert not kept(smaller, p, q, steps(size))


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (0.1, 1e-6), (10, 1e-5)])
def test_calibrated_gaussian_meets_its_target_with_the_least_noise(epsilon, delta):
    sigma = float(Gaussian(sensitivity=1, epsilon=epsilon, delta=delta).sigma)
    exact = [float(PrivacyLoss.gaussian(mu=1 / s).delta(epsilon)) for s in (sigma, sigma * (1 - 1e-9))]
    assert exact[0] <= delta < exact[1]
    assert math.isclose(ideal_divergence(gaussian_density, 1 / sigma, epsilon), delta, rel_tol=1e-6)


def test_the_textbook_calibration_is_private_up_to_epsilon_one():
    for epsilon in (0.01, 0.1, 0.5, 1):
        for constant in (1, 1.25, 2):
            mechanism = Gaussian.classical(sensitivity=1, epsilon=epsilon, delta=1e-5, constant=constant)
            assert mechanism.loss.delta(epsilon) <= 1e-5


def test_noise_laws_of_the_reference_sum_to_one():
    laws = [
        geometric(2.5, 1, 200),
        discrete_gaussian(3, 1, 200),
        discrete_gaussian(12.5, 0, 600),
        cells(laplace_survival, 1, 0.3, 0.25, 400),
        cells(gaussian_survival, 1, 0.3, 0.25, 400),
    ]
    assert all(math.isclose(np.exp(law).sum(), 1, rel_tol=1e-12) for law in laws)
