"""Accuracy theorems, by exact tails: the promised error holds, and nothing noticeably smaller would."""

import math
from fractions import Fraction

import numpy as np
import pytest
from claims_reference import noisy_max, softmax
from scipy import stats

from discreet.errors import InvalidParameter
from discreet.mechanisms import (
    STAT,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    crossover,
    gaussian_error,
    laplace_error,
)
from discreet.mechanisms.accuracy import per_query

BETAS = [0.5, 0.05, 1e-3, 1e-9]
QUERIES = [1, 2, 100]


def some(tail, queries):
    """The chance that at least one of many independent answers has an event of this chance."""
    return -math.expm1(queries * math.log1p(-tail)) if tail < 1 else 1.0


def geometric_tail(scale, t):
    a = math.exp(-1 / scale)
    return 2 * a ** (t + 1) / (1 + a)


def lattice_tail(sigma, t):
    z = np.arange(1, int(45 * sigma) + 50)
    weights = np.exp(-(z**2) / (2 * sigma**2))
    return 2 * math.fsum(weights[t:].tolist()) / (1 + 2 * math.fsum(weights.tolist()))


WHOLE = [(Geometric, "scale", geometric_tail), (DiscreteGaussian, "sigma", lattice_tail)]
REAL = [
    (Laplace, "scale", lambda size, t: math.exp(-t / size)),
    (Gaussian, "sigma", lambda size, t: 2 * stats.norm.sf(t / size)),
]


@pytest.mark.parametrize(("make", "name", "tail"), WHOLE)
@pytest.mark.parametrize("size", [0.1, 0.4, 1, 8.5, 100])
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("queries", QUERIES)
def test_whole_errors_are_the_least(make, name, tail, size, beta, queries):
    t = make(sensitivity=1, **{name: size}).error(beta, queries=queries)
    assert some(tail(size, t), queries) <= beta * (1 + 1e-9)
    assert t == 0 or some(tail(size, t - 1), queries) > beta


@pytest.mark.parametrize(("make", "name", "tail"), REAL)
@pytest.mark.parametrize("size", [0.1, 1, 100])
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("queries", QUERIES)
def test_real_errors_are_tight(make, name, tail, size, beta, queries):
    """Rounding to the grid moves an answer by half a step at most, which the promise includes."""
    mechanism = make(sensitivity=1, **{name: size})
    t = mechanism.error(beta, queries=queries)
    assert some(tail(size, t - float(mechanism.grid) / 2), queries) <= beta * (1 + 1e-9)
    assert some(tail(size, 0.999 * t), queries) > beta


@pytest.mark.parametrize("make", [Geometric, DiscreteGaussian, Laplace, Gaussian])
@pytest.mark.parametrize("queries", [2, 100])
def test_the_union_bound_is_a_little_larger(make, queries):
    mechanism = make(sensitivity=1, **{"scale" if make in (Geometric, Laplace) else "sigma": 50})
    exact, union = (mechanism.error(0.3, queries=queries, bound=b) for b in ("exact", "union"))
    assert exact < union < 1.2 * exact
    assert mechanism.error(0.3, queries=1, bound="union") == mechanism.error(0.3)


def test_the_textbook_tail_is_larger_still():
    for beta in BETAS:
        for queries in QUERIES:
            union, tail = (gaussian_error(2, beta, queries=queries, bound=b) for b in ("union", "tail"))
            assert union < tail


@pytest.mark.parametrize(("make", "name"), [(Geometric, "scale"), (DiscreteGaussian, "sigma")])
@pytest.mark.parametrize("error", [1, 6, 50])
@pytest.mark.parametrize("queries", [1, 10])
def test_whole_mechanisms_for_an_error(make, name, error, queries):
    mechanism = make.for_error(error, 0.05, queries=queries)
    assert mechanism.error(0.05, queries=queries) == error
    more = make(
        sensitivity=1,
        **{
            name: getattr(mechanism, name) * (1 + Fraction(1, 10**9))
            if name == "scale"
            else mechanism.sigma * (1 + 1e-9)
        },
    )
    assert more.error(0.05, queries=queries) == error + 1


@pytest.mark.parametrize(("make", "name"), [(Laplace, "scale"), (Gaussian, "sigma")])
@pytest.mark.parametrize("error", [1e-3, 1, 50])
@pytest.mark.parametrize("queries", [1, 10])
def test_real_mechanisms_for_an_error(make, name, error, queries):
    mechanism = make.for_error(error, 0.05, sensitivity=2, queries=queries)
    assert 0.99999 * error < mechanism.error(0.05, queries=queries) <= error


@pytest.mark.parametrize("make", [Geometric, DiscreteGaussian])
def test_tiny_noise_is_not_taken_for_none(make):
    mechanism = make(sensitivity=1, **{"scale" if make is Geometric else "sigma": 0.1})
    assert mechanism.error(1e-30) > mechanism.error(0.05) == 0


def test_one_failure_in_all():
    assert per_query(0.05, 1) == per_query(0.05, 1, "union") == 0.05
    assert some(per_query(0.05, 10), 10) == pytest.approx(0.05, rel=1e-14)
    for beta, queries, bound in [
        (0, 1, "exact"),
        (1, 1, "exact"),
        (0.1, 0, "exact"),
        (0.1, True, "union"),
        (0.1, 2, "no"),
    ]:
        with pytest.raises(InvalidParameter):
            per_query(beta, queries, bound)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
def test_the_crossover_is_where_the_deviations_cross(epsilon, delta):
    def gaussian_is_smaller(m):
        sigma = float(Gaussian(sensitivity=math.sqrt(m), epsilon=epsilon, delta=delta).sigma)
        return sigma <= math.sqrt(2) * m / epsilon

    first = crossover(epsilon, delta)
    assert gaussian_is_smaller(first)
    assert first == 1 or not gaussian_is_smaller(first - 1)
    assert first <= math.ceil(math.log(1.25 / delta))


@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_choices_stay_near_the_best(make, beta):
    """One best candidate and many just beyond the promised distance are the worst case, and it is nearly attained."""
    many = 50
    mechanism = make(epsilon=1)
    t = mechanism.error(beta, candidates=many)
    scores = [0.0] + [-t] * (many - 1)
    beyond = 1 - math.exp(mechanism.log_probability(scores, 0))
    assert beyond <= beta
    if make is Exponential:
        closer = [0.0] + [-0.7 * t] * (many - 1)
        assert 1 - math.exp(softmax(closer, 0.5)[0]) > beta


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_noisy_maxima_stay_near_the_best(noise, beta):
    mechanism = NoisyMax(epsilon=1, noise=noise)
    for many in (2, 10, 50):
        t = mechanism.error(beta, candidates=many)
        scores = [0.0] + [-t] * (many - 1)
        assert 1 - math.exp(noisy_max(noise, scores, 0.5)[0]) <= beta * (1 + 1e-9)


def test_the_oracles_sample_size_suffices():
    for tolerance, epsilon, beta in [(0.1, 0.5, 0.05), (0.01, 0.01, 0.1), (0.3, 10, 0.5)]:
        size = STAT.sample_size(tolerance=tolerance, epsilon=epsilon, beta=beta)
        noise = math.exp(-tolerance / 2 * epsilon * size)
        sampling = 2 * math.exp(-2 * size * (tolerance / 2) ** 2)
        assert noise <= beta / 2
        assert sampling <= beta / 2
        assert STAT(query=float, size=size, epsilon=epsilon).tolerance(beta) <= tolerance * (1 + 1e-5)
    assert laplace_error(1, 0.05) == pytest.approx(math.log(20), rel=1e-14)
