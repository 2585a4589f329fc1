"""Noise that follows a smooth bound: all small data sets, all neighbours, with laws from distribution functions.

The function is a median whose local sensitivities are found by trying all data sets; the laws of the noises come from
scipy and from quadrature.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from claims_reference import worse
from scipy import special, stats

from discreet.accounting import PrivacyLoss
from discreet.mechanisms.admissible import (
    Cauchy,
    Gaussian,
    Laplace,
    LaplaceLogNormal,
    Polynomial,
    PowerLaw,
    StudentT,
    UniformLogNormal,
)
from discreet.mechanisms.smooth_noise import SmoothNoise
from discreet.sensitivity.smooth import Levels

DOMAIN = range(7)
SIZE = 3
DATA = list(combinations_with_replacement(DOMAIN, SIZE))
SHARE = (0, 0.5, 1)


def median(data):
    return sorted(data)[1]


@cache
def neighbours(data):
    return {tuple(sorted((*data[:i], *data[i + 1 :], new))) for i in range(SIZE) for new in DOMAIN}


@cache
def levels(data):
    """``A(x, k)``, by looking at all data sets within k replacements."""
    seen, found = {data}, []
    for _ in range(SIZE + 1):
        found.append(max(abs(median(a) - median(b)) for a in seen for b in neighbours(a)))
        seen = {b for a in seen for b in neighbours(a)}
    return np.array(found, dtype=float)


@dataclass(frozen=True)
class TriedMedian:
    """The median of three whole numbers from 0 to 6. A wider public range leaves the tails of the noise in view."""

    range: tuple[int, int] = (-40, 46)
    relation = "replace_one"
    size = SIZE
    dimension = 1
    norm = 1.0
    bounds = (0, 6)

    def at(self, records):
        data = tuple(sorted(records))
        return Levels(value=float(median(data)), levels=levels(data))


class Raw(TriedMedian):
    """Tells the local sensitivity where a smooth bound is asked for."""

    def at(self, records):
        honest = super().at(records)

        class Leaking(Levels):
            def smooth(self, beta):
                return max(self.local(0), 1e-3)

        return Leaking(value=honest.value, levels=honest.levels)


def distribution(noise):
    """The distribution function of the noise of scale 1, from elsewhere."""
    match noise:
        case Cauchy():
            return stats.cauchy.cdf
        case StudentT():
            return lambda z: stats.t.cdf(z, float(noise.degrees))
        case Laplace():
            return stats.laplace.cdf
        case Gaussian():
            return stats.norm.cdf
        case PowerLaw():
            a = float(noise.exponent)
            return lambda z: _two_sided(z, (1 + abs(z)) ** (1 - a))
        case Polynomial():
            g = float(noise.gamma)
            return lambda z: _two_sided(z, special.betainc(1 - 1 / g, 1 / g, 1 / (1 + abs(z) ** g)))
        case LaplaceLogNormal():
            t, w = np.polynomial.hermite_e.hermegauss(80)
            return lambda z: _two_sided(z, w @ np.exp(-abs(z) * np.exp(-noise.sigma * t)) / w.sum())
        case UniformLogNormal():
            s = noise.sigma
            v = lambda z: np.log(abs(z) + 1e-300) / s  # noqa: E731
            return lambda z: _two_sided(z, special.ndtr(-v(z)) - abs(z) * math.exp(s**2 / 2) * special.ndtr(-v(z) - s))


def _two_sided(z, beyond):
    return 1 - beyond / 2 if z >= 0 else beyond / 2


def law(mechanism, data, scale=None):
    """Log-probabilities of all whole numbers in the range, the ends holding what lies beyond them."""
    noise, vicinity = mechanism.noise, mechanism.function.at(data)
    if scale is None:
        scale = vicinity.smooth(noise.beta) * float(noise.factor)
    low, high = mechanism.function.range
    cdf = distribution(noise)
    below = [cdf((y + 0.5 - vicinity.value) / scale) for y in range(low, high)]
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(np.diff([0.0, *below, 1.0]), 0))


def largest_excess(mechanism, loss, epsilons, laws=None):
    """How far any pair of neighbours exceeds the claim, at any of the epsilons; not above 0 if it is kept."""
    laws = laws or {data: law(mechanism, data) for data in DATA}
    claims = {e: loss.delta(e) for e in epsilons}
    return max(
        worse(laws[a], laws[b], e) - claim for a in DATA for b in neighbours(a) if a < b for e, claim in claims.items()
    )


NOISES = [
    PowerLaw(epsilon=1, beta=0.3),
    PowerLaw(epsilon=3, beta=1),
    Cauchy(epsilon=1, beta=0.5),
    StudentT(epsilon=1, beta=0.2),
    Polynomial(epsilon=1, beta=0.2),
    Laplace(epsilon=1, delta=1e-2, beta=0.2),
    Gaussian(epsilon=1, delta=1e-2, beta=0.1),
    LaplaceLogNormal(rho=0.5, beta=0.3),
    UniformLogNormal(rho=0.5, beta=0.3),
]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: repr(noise)[:50])
def test_every_small_neighbour_keeps_the_claim(noise):
    mechanism = SmoothNoise(function=TriedMedian(), noise=noise, grid=1)
    assert mechanism.loss == noise.loss.under("replace_one")
    top = float(getattr(noise, "epsilon", 2))
    assert largest_excess(mechanism, mechanism.loss, [share * top for share in SHARE]) <= 1e-12


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: repr(noise)[:50])
def test_what_the_mechanism_says_of_itself_is_that_law(noise):
    mechanism = SmoothNoise(function=TriedMedian(range=(-3, 9)), noise=noise, grid=1)
    for data in [(0, 0, 0), (0, 0, 6), (1, 3, 4)]:
        told = [mechanism.log_probability(data, y) for y in range(-3, 10)]
        np.testing.assert_allclose(np.exp(told), np.exp(law(mechanism, data)), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("noise", NOISES[:7], ids=lambda noise: repr(noise)[:50])
def test_the_check_catches_local_sensitivity_used_as_if_it_were_smooth(noise):
    """Three equal records and two equal ones have the same median, and local sensitivities of 0 and 6."""
    mechanism = SmoothNoise(function=Raw(), noise=noise, grid=1)
    pair = [law(mechanism, data) for data in ((0, 0, 0), (0, 0, 6))]
    assert worse(*pair, float(noise.epsilon)) > mechanism.loss.delta(noise.epsilon) + 0.1
    honest = SmoothNoise(function=TriedMedian(), noise=noise, grid=1)
    assert (
        worse(*(law(honest, data) for data in ((0, 0, 0), (0, 0, 6))), float(noise.epsilon))
        <= float(getattr(noise, "delta", 0)) + 1e-12
    )


@pytest.mark.parametrize("noise", NOISES[:7], ids=lambda noise: repr(noise)[:50])
def test_the_check_catches_half_of_the_noise(noise):
    mechanism = SmoothNoise(function=TriedMedian(), noise=noise, grid=1)
    half = {
        data: law(mechanism, data, mechanism.function.at(data).smooth(noise.beta) * float(noise.factor) / 2)
        for data in DATA
    }
    assert largest_excess(mechanism, mechanism.loss, [float(noise.epsilon)], half) > 1e-3


def test_the_check_catches_a_bound_less_smooth_than_the_noise():
    noise = Laplace(epsilon=1, delta=1e-3, beta=0.02)
    mechanism = SmoothNoise(function=TriedMedian(), noise=noise, grid=1)
    laws = {data: law(mechanism, data, mechanism.function.at(data).smooth(1.0) * float(noise.factor)) for data in DATA}
    assert largest_excess(mechanism, mechanism.loss, [1.0], laws) > 1e-3


def test_the_claim_is_nearly_attained():
    """Noise that is exactly fitted leaves little: at the cliff the loss comes close to epsilon."""
    noise = Cauchy(epsilon=1, beta=0.5)
    mechanism = SmoothNoise(function=TriedMedian(), noise=noise, grid=1)
    laws = {data: law(mechanism, data) for data in DATA}
    seen = max(float(np.max(np.abs(laws[a] - laws[b]))) for a in DATA for b in neighbours(a))
    assert 0.9 < seen <= 1 + 1e-12


def test_an_audit_starts_at_a_cliff():
    mechanism = SmoothNoise(function=TriedMedian(), noise=PowerLaw(epsilon=1, beta=0.3))
    here, there = mechanism.worst_case()
    assert tuple(sorted(there)) in neighbours(tuple(sorted(here)))
    assert levels(tuple(sorted(here)))[0] == 6


def test_releases_follow_the_law(repeatable):
    draws = 4000
    for noise in (PowerLaw(epsilon=1, beta=0.3), Laplace(epsilon=1, delta=1e-2, beta=0.2)):
        mechanism = SmoothNoise(function=TriedMedian(range=(0, 6)), noise=noise, grid=1)
        counted = np.bincount([int(mechanism.release((1, 2, 3))) for _ in range(draws)], minlength=7)
        expected = np.exp(law(mechanism, (1, 2, 3))) * draws
        assert stats.chisquare(counted, expected * draws / expected.sum()).pvalue > 1e-9


def test_pure_claims_are_pure():
    assert SmoothNoise(function=TriedMedian(), noise=NOISES[0]).loss == PrivacyLoss.pure(1).under("replace_one")
