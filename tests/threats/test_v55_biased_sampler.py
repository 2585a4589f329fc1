"""A sampler with a proof can still be biased by the arithmetic beneath it, so every sampler is measured.

A bug in a library of big integers once bent the output of samplers whose algorithm was proven.
Chi-square and exact tail tests run in every regime of scales, here on 10^5 draws and, marked slow, on 10^7. The words
are seeded, so a test passes always or never; were they fresh, a right sampler would fail with a chance below 10^-9 per
test. Two ways to be wrong that look harmless are shown to be caught.

Defence: chi-square and tail tests of every sampler in every regime of scales, on up to ten million draws.
Source: OpenDP issue 2638.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import NotPrivateWarning
from discreet.noise import discrete_gaussian, discrete_laplace, geometric, on_grid
from discreet.noise.densities import Gaussian
from discreet.testing import seeded

SCALES = [0.05, 0.5, 1, Fraction(1, 3), 10, 1e4, 2**24 - 1, 2**24 + 1, 1e9, 1e15, 2**57]


@pytest.fixture(autouse=True)
def repeatable(request):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


def misfit(samples, survival, reach):
    """Return the chi-square p-value of whole numbers against ``survival(k) = P[Z >= k]``."""
    edges = np.unique(np.rint(np.linspace(-reach, reach, 400)))
    p = -np.diff(np.concatenate([[1], survival(edges), [0]]))
    counts = np.histogram(np.asarray(samples, dtype=float), np.concatenate([[-np.inf], edges, [np.inf]]))[0]
    full = p * len(samples) >= 20
    counts = np.append(counts[full], counts[~full].sum())
    expected = np.append(p[full], p[~full].sum()) * len(samples)
    if expected[-1] < 20:
        counts, expected = np.append(counts[:-2], counts[-2:].sum()), np.append(expected[:-2], expected[-2:].sum())
    return stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue if counts.size > 1 else 1.0


def laplace_survival(scale):
    s = float(scale)
    a = np.exp(-1 / s)
    return lambda k: np.where(k > 0, np.exp(-np.abs(k) / s) / (1 + a), 1 - np.exp(-(1 + np.abs(k)) / s) / (1 + a))


def gaussian_survival(sigma):
    s = float(sigma)
    if s > 1e4:
        return lambda k: stats.norm.sf((k - 0.5) / s)
    reach = int(12 * s) + 5
    mass = np.exp(-((np.arange(-reach, reach + 1) / s) ** 2) / 2)
    above = np.append(np.cumsum(mass[::-1])[::-1] / mass.sum(), 0)
    return lambda k: above[np.clip(k + reach, 0, 2 * reach + 1).astype(int)]


SAMPLERS = {
    "laplace": (discrete_laplace, laplace_survival),
    "gaussian": (discrete_gaussian, gaussian_survival),
    "geometric": (geometric, lambda s: lambda k: np.exp(-np.maximum(k, 0) / float(s))),
}


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_every_sampler_in_every_regime(name, scale):
    draw, law = SAMPLERS[name]
    assert misfit(draw(scale, size=100_000), law(scale), max(6, 7 * float(scale))) > 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_ten_million_draws(name, scale):
    draw, law = SAMPLERS[name]
    z = draw(scale, size=10_000_000)
    assert misfit(z, law(scale), max(6, 7 * float(scale))) > 1e-9
    k = np.rint(11.9 * float(scale))  # beyond what single words decide
    if k > 1:
        p = float(law(scale)(np.array(k)))
        assert stats.binomtest(int((z >= k).sum()), z.size, p).pvalue > 1e-9


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_check_catches_a_slightly_wrong_scale(name):
    draw, law = SAMPLERS[name]
    assert misfit(draw(10, size=1_000_000), law(10.2), 70) < 1e-9


def redrawn(scale, size, doubt=0.02):
    """Round Gaussian noise to whole numbers, drawing again where the sum lies too close to a middle to be sure."""
    z = np.random.default_rng(1).normal(size=2 * size) * scale
    return np.rint(z[np.abs(z - np.floor(z) - 0.5) > doubt][:size])


def test_the_check_catches_undecided_samples_drawn_again():
    """Only one sample in forty is drawn again; those that are kept are each rounded right."""
    scale = 0.3

    def survival(k):
        return stats.norm.sf((k - 0.5) / scale)

    assert misfit(on_grid(Gaussian(), np.zeros(100_000), scale, grid=1), survival, 6) > 1e-9
    assert misfit(redrawn(scale, 100_000), survival, 6) < 1e-9
