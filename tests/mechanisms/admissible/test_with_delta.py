"""Laplace and Gaussian noise: delta by formula, by integration, and in the plane."""

import math
from itertools import pairwise

import admissible_reference as reference
import numpy as np
import pytest
from scipy import stats

from discreet.errors import InvalidParameter
from discreet.mechanisms.admissible import Gaussian, Laplace, gaussian_smooth_delta, laplace_delta
from discreet.mechanisms.admissible.gaussian_pairs import narrow_delta, wide_delta

SCALARS = [
    (Laplace(epsilon=1, delta=1e-6, beta=0.05), reference.LAPLACE),
    (Laplace(epsilon=0.3, delta=1e-3, beta=0.02), reference.LAPLACE),
    (Laplace(epsilon=4, delta=1e-2, beta=0.6), reference.LAPLACE),
    (Gaussian(epsilon=1, delta=1e-6, beta=0.01), reference.NORMAL),
    (Gaussian(epsilon=3, delta=1e-2, beta=0.1), reference.NORMAL),
    (Gaussian(epsilon=0.2, delta=1e-4, beta=0.001), reference.NORMAL),
]


@pytest.mark.parametrize(("noise", "law"), SCALARS)
def test_no_pair_has_more_than_delta_and_one_has_nearly_all(noise, law):
    beta, kappa = float(noise.beta), 1 / float(noise.factor)
    seen = [reference.delta(law, noise.epsilon, *pair) for pair in reference.pairs(beta, kappa, 5, (0, 0.6, 1))]
    assert 0.99 * noise.delta < max(seen) <= noise.delta * (1 + 1e-6)


@pytest.mark.parametrize(("noise", "law"), SCALARS)
def test_a_tenth_less_noise_is_caught(noise, law):
    beta, kappa = float(noise.beta), 1 / (0.9 * float(noise.factor))
    worst = reference.delta(law, noise.epsilon, kappa * math.exp(-beta), -beta)
    assert worst > 1.05 * noise.delta


def test_worked_values():
    assert reference.delta(reference.LAPLACE, 0.5, 0.4, -0.05) == pytest.approx(0.0019510254196422035, rel=1e-9)
    beta = 0.5 / math.log(2e6)
    assert laplace_delta(1, beta, 0.5) == pytest.approx(4.063654944222829e-09, rel=1e-9)


def test_kappa_may_be_limited_by_epsilon_alone():
    """Where delta is ample, the narrower law against the wider decides, and needs no delta at all."""
    noise = Laplace(epsilon=1, delta=0.05, beta=0.01)
    b, kappa = 0.01 + 2.0**-30, 1 / float(noise.factor)
    assert kappa == pytest.approx(min(1, (1 - b) * math.exp(b)), rel=1e-9)
    worst = max(
        np.max(reference.log_ratio(reference.LAPLACE, *pair, reference.net(pair[0], 5)))
        for pair in reference.pairs(0.01, kappa)
        if pair[1] > 0
    )
    assert worst <= 1 + 1e-12


@pytest.mark.parametrize(("epsilon", "beta", "kappa"), [(1, 0.1, 0.3), (0.5, 0.02, 0.4), (3, 0.9, 1.5)])
def test_laplace_formula_is_the_integral(epsilon, beta, kappa):
    exact = reference.delta(reference.LAPLACE, epsilon, kappa * math.exp(-beta), -beta, reach=2000.0)
    assert laplace_delta(epsilon, beta, kappa) == pytest.approx(exact, rel=1e-8)
    assert reference.delta(reference.LAPLACE, epsilon, kappa, beta) == 0


def test_laplace_vectors_in_the_plane():
    noise = Laplace(epsilon=1, delta=1e-2, beta=0.12, dimension=2)
    beta, kappa = float(noise.beta), 1 / float(noise.factor)
    seen = []
    for stretch in (-beta, -beta / 2, beta):
        most = kappa * min(1, math.exp(stretch))
        for share in (1, 0.75, 0.5):
            shifts = (most * share, most * (1 - share))
            seen.append(reference.plane_delta(reference.LAPLACE, 1, shifts, stretch, 30))
    assert 0.2e-2 < max(seen) <= 1e-2
    assert laplace_delta(1, beta, kappa, dimension=2) == pytest.approx(1e-2, rel=1e-6)


def test_gaussian_vectors_in_the_plane():
    noise = Gaussian(epsilon=1, delta=1e-2, beta=0.08, dimension=2)
    beta, kappa = float(noise.beta), 1 / float(noise.factor)
    seen = []
    for stretch in (-beta, -beta / 2, 0, beta / 2, beta):
        most = kappa * min(1, math.exp(stretch))
        for angle in (0, 0.4):
            shifts = (most * math.cos(angle), most * math.sin(angle))
            seen.append(reference.plane_delta(reference.NORMAL, 1, shifts, stretch, 9, points=1201))
    assert 0.99e-2 < max(seen) <= 1e-2 * (1 + 1e-4)
    more = kappa / 0.9 * math.exp(-beta)
    assert reference.plane_delta(reference.NORMAL, 1, (more, 0), -beta, 9) > 1.05e-2


@pytest.mark.parametrize("dimension", [1, 2, 7])
@pytest.mark.parametrize("kappa", [0.0, 0.2, 0.9])
def test_masses_of_balls_are_noncentral_chi_squares(dimension, kappa):
    epsilon, beta = 1.0, 0.15
    s, a = math.exp(beta), -math.expm1(-2 * beta)
    centre = kappa / a
    radius = 2 * (epsilon + dimension * beta) / a + (centre / s) ** 2
    mine = stats.ncx2.sf(radius / s**2, dimension, (centre / s) ** 2)
    theirs = stats.ncx2.sf(radius, dimension, (centre - kappa) ** 2)
    exact = mine - math.exp(epsilon) * theirs
    assert wide_delta(epsilon, beta, kappa, dimension) == pytest.approx(exact, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("dimension", [1, 3])
def test_the_narrow_bound_covers_all_scales(dimension):
    """Every scale between, by simulation-free masses of balls, lies below the bound, and not far below the largest."""
    epsilon, beta, kappa = 0.8, 0.3, 0.6
    seen = []
    for l in np.linspace(1e-3, beta, 40):  # noqa: E741
        s, a = math.exp(l), -math.expm1(-2 * l)
        centre = kappa / a
        radius = (centre / s) ** 2 + 2 * (dimension * l - epsilon) / a
        if radius > 0:
            mine = stats.ncx2.cdf(radius, dimension, (centre / s**2) ** 2)
            theirs = stats.ncx2.cdf(radius / s**2, dimension, (centre / s) ** 2)
            seen.append(mine - math.exp(epsilon) * theirs)
    bound = narrow_delta(epsilon, beta, kappa, dimension)
    assert max(seen) <= bound <= 1.3 * max(seen)


def test_wide_divergence_rises_with_the_stretch():
    deltas = [wide_delta(1.0, beta, 0.3, 3) for beta in np.geomspace(1e-3, 0.5, 30)]
    assert all(a <= b for a, b in pairwise(deltas))


def test_a_tiny_beta_is_the_gaussian_mechanism():
    for dimension, tight in ((1, 1e-4), (5, 0.02)):
        kappa = 1 / float(Gaussian(epsilon=1, delta=1e-5, beta=1e-9, dimension=dimension).factor)
        assert (1 - tight) * 1e-5 < reference.balle_wang(1, kappa) * (1 if dimension == 1 else 1.1) <= 1.1e-5


@pytest.mark.parametrize(("epsilon", "delta", "dimension"), [(1, 1e-6, 1), (0.1, 1e-3, 1), (0.9, 1e-4, 4)])
def test_the_lemma_holds_with_room(epsilon, delta, dimension):
    d = 2 * delta / (1 + math.exp(epsilon / 2))
    beta = epsilon / (4 * (dimension + math.log(2 / d))) * (1 - 1e-6)
    lemma = Gaussian(epsilon=epsilon, delta=delta, beta=beta, dimension=dimension, constants="lemma")
    kappa = 1 / float(lemma.factor)
    assert kappa == pytest.approx(epsilon / (5 * math.sqrt(2 * math.log(2 / d))), rel=1e-9)
    assert gaussian_smooth_delta(epsilon, beta, kappa, dimension=dimension) < delta
    assert lemma.factor > 2 * Gaussian(epsilon=epsilon, delta=delta, beta=beta, dimension=dimension).factor
    with pytest.raises(InvalidParameter, match="beta must be below"):
        Gaussian(epsilon=epsilon, delta=delta, beta=beta * 1.01, dimension=dimension, constants="lemma")


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
@pytest.mark.parametrize("dimension", [1, 3])
def test_the_largest_beta_is_told_and_works(kind, dimension):
    with pytest.raises(InvalidParameter, match="beta must be at most") as told:
        kind(epsilon=1, delta=1e-6, beta=0.5, dimension=dimension)
    most = float(str(told.value).split("at most ")[1].split(" ")[0])
    kind(epsilon=1, delta=1e-6, beta=most * 0.999, dimension=dimension)
    with pytest.raises(InvalidParameter):
        kind(epsilon=1, delta=1e-6, beta=most * 1.001, dimension=dimension)


def test_refusals():
    for wrong in [
        lambda: Laplace(epsilon=1, delta=0, beta=0.01),
        lambda: Laplace(epsilon=0, delta=0.1, beta=0.01),
        lambda: Gaussian(epsilon=1, delta=1, beta=0.01),
        lambda: Gaussian(epsilon=1, delta=1e-6, beta=0.01, constants="guess"),
        lambda: laplace_delta(1, 0.1, 1.01),
        lambda: laplace_delta(1, 0.9, 0.5),
        lambda: gaussian_smooth_delta(1, 0.1, 1.5),
    ]:
        with pytest.raises(InvalidParameter):
            wrong()
