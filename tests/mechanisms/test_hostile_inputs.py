"""Inputs and parameters on which a claim was once false stay harmless."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import (
    STAT,
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    InvalidParameter,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    PrivacyLoss,
    Quantile,
    RandomizedResponse,
    compose,
    parallel,
    repeat,
)
from discreet.sensitivity import Count

HEADS = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")


@pytest.mark.parametrize("number", [np.uint8(200), np.int8(100), np.int64(2**32), np.float32(3), np.float16(2.5)])
def test_numpy_parameters_mean_the_numbers_they_are(number):
    plain = int(number) if float(number).is_integer() else float(number)
    assert Gaussian(sensitivity=number, sigma=1).loss == Gaussian(sensitivity=plain, sigma=1).loss
    assert Laplace(sensitivity=number, epsilon=1).loss == Laplace(sensitivity=plain, epsilon=1).loss
    assert Exponential(epsilon=1, sensitivity=number).rate == Exponential(epsilon=1, sensitivity=plain).rate > 0
    assert DiscreteGaussian(sensitivity=number, sigma=1).loss == DiscreteGaussian(sensitivity=plain, sigma=1).loss


def test_many_categories_do_not_wrap_around():
    k = 3 * 2**61
    released = RandomizedResponse(epsilon=1, categories=k).release(np.full(2000, k - 1))
    assert np.mean((released >= 2**61) & (released < 2**62)) > 0.2
    with pytest.raises(InvalidParameter):
        RandomizedResponse(epsilon=1, categories=2**63)


def test_a_tiny_gap_is_an_ordinary_gap():
    """The width of the chosen gap is data: a refusal that depends on it would tell neighbours apart."""
    quantile = Quantile(bounds=(0, 1), epsilon=10, relation="replace_one")
    data = [0.0] * 500 + [2.0**-1001] + [2.0**-999] * 499
    assert {quantile.release(data) for _ in range(50)} <= {0.0, *(quantile.release([0.0]) for _ in range(50))}


def test_values_of_any_size_are_clamped_and_not_refused():
    assert 0 <= Quantile(bounds=(0, 1), epsilon=1, relation="replace_one").release([10**400, -(10**400), None]) <= 1
    assert abs(STAT(query=lambda x: x, size=2, epsilon=100).release([10**400, None]) - 0.5) < 1
    assert Geometric(sensitivity=1, epsilon=1).release([2**63, -1]).dtype == np.int64
    assert parallel({"a": HEADS}, by=lambda r: r, relation="add_remove").release([["a"], ("a", []), "a"]).keys() == {
        "a"
    }


@pytest.mark.parametrize(
    ("sigma", "epsilon"),
    [(0.03, 555.5555555555555), (Fraction(1, 10), 50 - Fraction(3, 10**15)), (0.1, 49.99999999999999)],
)
def test_delta_between_lattice_points_is_not_understated(sigma, epsilon):
    s, e = Fraction(sigma), Fraction(epsilon)
    norm = math.fsum(math.exp(-float(z * z / (2 * s * s))) for z in range(-5, 6))
    terms = (
        math.exp(-float(z * z / (2 * s * s))) / norm * -math.expm1(float(e - (1 - 2 * z) / (2 * s * s)))
        for z in range(-5, 6)
        if (1 - 2 * z) / (2 * s * s) > e
    )
    assert DiscreteGaussian(sensitivity=1, sigma=s).loss.delta(e) >= math.fsum(terms) * (1 - 1e-9) > 0


def test_frozen_values_do_not_share_what_can_change():
    parts = {"a": HEADS}
    mechanism = parallel(parts, by=str, relation="add_remove")
    parts["a"] = Geometric(sensitivity=1, epsilon=100).of(Count(), relation="add_remove")
    assert mechanism.loss.epsilon() == 1
    with pytest.raises(TypeError):
        mechanism.mechanisms["a"] = HEADS
    assert isinstance(compose(*[HEADS]).mechanisms, tuple)


def test_a_query_of_unknown_sensitivity_is_refused():
    class Query:
        def __call__(self, records):
            return 1000 * len(records)

        def sensitivity(self, p, *, relation):
            return math.nan

    with pytest.raises(InvalidParameter, match="finite"):
        Geometric(sensitivity=1, epsilon=1).of(Query(), relation="add_remove")


@pytest.mark.parametrize(("candidates", "beta"), [(1000, 0.05), (100, 0.01), (2, 1e-6)])
def test_noisy_max_with_laplace_noise_keeps_its_word(candidates, beta):
    """All others at the stated gap: the chance that one of them wins, by integration over the leader's noise."""
    mechanism = NoisyMax(epsilon=1, noise="laplace")
    gap = mechanism.error(beta, candidates=candidates) * float(mechanism.rate)
    x = np.linspace(-60, 60, 240_001)
    density = np.exp(-np.abs(x)) / 2
    above = np.where(x + gap > 0, np.exp(-np.abs(x + gap)) / 2, 1 - np.exp(-np.abs(x + gap)) / 2)
    failure = np.trapezoid(density * -np.expm1((candidates - 1) * np.log1p(-np.minimum(above, 1 - 1e-15))), x)
    assert failure <= beta * 1.0001


def test_the_error_of_stat_covers_rounding():
    oracle, x = STAT(query=lambda x: x, size=10**4, epsilon=1000), 2.0**-21 * 0.999
    misses = sum(abs(oracle.release([x] * 10**4) - x) > oracle.error(0.05) for _ in range(40))
    assert misses < 20


def test_scores_far_apart_are_compared_after_scaling():
    mechanism = Exponential(epsilon=2, sensitivity=1e301)
    assert [mechanism.release([1e304, 0]) for _ in range(100)] == [0] * 100
    assert math.exp(mechanism.log_probability([1e301, 0], 1)) == pytest.approx(1 / (1 + math.e))


def test_survey_intervals_cover_even_without_variation():
    interval = RandomizedResponse(epsilon=4).estimate(np.zeros(20, int))
    assert interval.low < 0 < interval.high


@pytest.mark.parametrize("size", [10, 10**3, 10**5])
def test_permute_and_flip_probabilities_at_any_size(size):
    assert PermuteAndFlip(epsilon=1).log_probability(np.zeros(size), 0) == pytest.approx(-math.log(size), abs=1e-9)


def test_log_probabilities_of_far_fine_and_impossible_outputs():
    assert Gaussian(sensitivity=1, sigma=1, grid=2.0**-60).log_probability(0, 0) == pytest.approx(
        math.log(2.0**-60) - math.log(2 * math.pi) / 2
    )
    crowd = np.linspace(0.4, 0.6, 2000)
    quantile = Quantile(bounds=(0, 1), epsilon=10, relation="replace_one", grid=2.0**-10)
    assert -6000 < quantile.log_probability(crowd, 0.125) < -4000
    assert quantile.log_probability(crowd, 0.3) == -math.inf
    assert BoundedCount(size=5, epsilon=1).log_probability(2, -1) == -math.inf


def test_what_cannot_be_released_cannot_be_made():
    for make in (
        lambda: Laplace(sensitivity=1, epsilon=1, grid=0.1),
        lambda: Gaussian(sensitivity=1, sigma=2.0**-600),
        lambda: Quantile(bounds=(2**60, 2**60 + 1), epsilon=1, relation="add_remove"),
    ):
        with pytest.raises(InvalidParameter):
            make()


@pytest.mark.parametrize("beta", [1 - 1e-6, 1 - 1e-9])
def test_for_error_is_a_formula(beta):
    for cls in (Laplace, Gaussian):
        assert 0.4 < cls.for_error(1, beta, sensitivity=1).error(beta) <= 1


def test_small_things():
    assert Geometric(sensitivity=1, epsilon=1).release(np.array(5)).shape == ()
    assert "no error" in BoundedCount(size=3, epsilon=1)._repr_html_()
    assert "depends" in BoundedCount(size=3, epsilon=1).of(Count(), relation="add_remove")._repr_html_()
    counts = repeat(Geometric(sensitivity=1, epsilon=50).of(Count(), relation="add_remove"), 3).release(
        iter(range(1000))
    )
    assert counts == (1000,) * 3


def test_two_parts_cost_no_more_than_a_group_of_two():
    """Exactly, for randomised response over k answers: the product of two against Pure(2 epsilon)."""
    for k, e0 in itertools.product((2, 3, 5), (0.3, 1.0)):
        p = np.full(k, 1.0)
        p[0] = math.exp(e0)
        p /= p.sum()
        q = p[[1, 0, *range(2, k)]]
        joint, other = np.outer(p, p).ravel(), np.outer(q, q).ravel()
        claim = PrivacyLoss.randomized_response(e0, k).group(2)
        for epsilon in np.linspace(0, 2 * e0, 9):
            assert np.maximum(joint - math.exp(epsilon) * other, 0).sum() <= claim.delta(epsilon) + 1e-12
