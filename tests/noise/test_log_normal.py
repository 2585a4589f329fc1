"""Products with a log-normal factor: against distribution functions by quadrature, and against exact balls."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from noise_reference import ALARM, MORE, Scripted, drawing_from, fit, floor, precisely, signs_ignore_sizes, uniform
from scipy import integrate, special

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import ball
from discreet.noise.log_normal import log_normal_on_grid

DRAWS = 20_000


def beyond(factor, sigma, z):
    """``P[|Y| e^(sigma Z) >= z]`` as a mean over the normal Z."""

    def given(t):
        size = z * math.exp(-sigma * t)
        chance = math.exp(-size) if factor == "laplace" else max(1 - size, 0.0)
        return chance * math.exp(-t * t / 2) / math.sqrt(2 * math.pi)

    kink = [math.log(z) / sigma] if z > 0 and abs(math.log(z) / sigma) < 10 else None
    return integrate.quad(given, -10, 10, points=kink, epsabs=1e-12, limit=400)[0]


def distribution(factor, sigma, scale, value, grid):
    """The distribution function of the rounded sum: it is at most y where the sum is below y and half a step."""

    def cdf(y):
        z = (y + grid / 2 - value) / scale
        half = beyond(factor, sigma, abs(z)) / 2 if z else 0.5
        return 1 - half if z >= 0 else half

    return np.vectorize(cdf)


@pytest.mark.parametrize("factor", ["laplace", "uniform"])
@pytest.mark.parametrize(
    ("sigma", "scale", "value", "grid"),
    [(0.3, 5.0, 0.375, 1.0), (1.5, 1.0, -7.0, 0.25), (Fraction(2, 3), 0.2, 1.0, 1.0)],
)
def test_samples_follow_the_law(factor, sigma, scale, value, grid, deterministic):
    samples = log_normal_on_grid(factor, sigma, np.full(DRAWS, value), scale, grid=grid)
    assert np.all(samples % grid == 0)
    low, high = np.quantile(samples, [0.002, 0.998])
    edges = np.unique(np.round(np.linspace(low, high, 60) / grid) * grid)
    assert fit(samples, distribution(factor, float(sigma), scale, value, grid), edges) > ALARM
    assert value % grid or signs_ignore_sizes(samples - value) > ALARM


def test_the_fit_would_notice_another_sigma(deterministic):
    samples = log_normal_on_grid("laplace", 0.5, np.zeros(DRAWS), 5.0, grid=1.0)
    edges = np.arange(-40.0, 41)
    assert fit(samples, distribution("laplace", 0.5, 5.0, 0, 1.0), edges) > ALARM
    assert fit(samples, distribution("laplace", 0.8, 5.0, 0, 1.0), edges) < ALARM
    assert fit(samples, distribution("uniform", 0.5, 5.0, 0, 1.0), edges) < ALARM


def exactly(factor, sigma, value, scale, first, second):
    u, v = uniform(first >> 1, 63), uniform(second >> 1, 63)
    normal = (2 * v.erfcinv() ** 2).sqrt()
    size = (-u.log() if factor == "laplace" else u) * (ball(sigma) * (-normal if second & 1 else normal)).exp()
    return floor(ball(value) + (-1 if first & 1 else 1) * ball(scale) * size + arb(0.5))


CELLS = [0, 1, 2**46, 2**62, 2**63 - 1]


@pytest.mark.parametrize("factor", ["laplace", "uniform"])
def test_every_word_gives_what_balls_say(factor):
    """The extreme words among them: uniforms of nearly 0 and 1, both signs, and a scale of astronomical size."""
    words = [cell << 1 | sign for cell in CELLS for sign in (0, 1)]
    for first in words:
        for second in words:
            for value, scale in [(Fraction(1, 3), Fraction(7, 2)), (0, Fraction(10) ** 30)]:
                with drawing_from(Scripted([first, second])):
                    got = log_normal_on_grid(factor, 0.75, value, scale, grid=1)
                with precisely(900):
                    assert got == float(exactly(factor, Fraction(3, 4), value, scale, first, second))


def test_words_are_refined_not_redrawn():
    source = Scripted([0, 0])
    with drawing_from(source):
        log_normal_on_grid("laplace", 0.5, 0, 1, grid=1)
    assert source.given >= 4
    assert source.more == MORE


def test_values_keep_their_form():
    assert isinstance(log_normal_on_grid("laplace", 0.5, 3, 1, grid=1), float)
    assert log_normal_on_grid("uniform", 0.5, [[1.0, 2.0]], 1, grid=0.5).shape == (1, 2)
    assert log_normal_on_grid("uniform", 0.5, np.zeros(0), 1, grid=0.5).shape == (0,)
    assert abs(log_normal_on_grid("uniform", 0.5, 1e308, 1, grid=Fraction(1, 2**300))) <= 2.0**1001


def test_refusals():
    for wrong in [
        lambda: log_normal_on_grid("cauchy", 0.5, 0, 1, grid=1),
        lambda: log_normal_on_grid("laplace", 0, 0, 1, grid=1),
        lambda: log_normal_on_grid("laplace", 1, 0, -1, grid=1),
        lambda: log_normal_on_grid("laplace", 1, 0, 1, grid=3),
    ]:
        with pytest.raises(InvalidParameter):
            wrong()
    with pytest.raises(InvalidInput):
        log_normal_on_grid("laplace", 1, math.nan, 1, grid=1)


def test_a_draw_is_a_short_calculation(instructions):
    assert instructions(lambda: log_normal_on_grid("laplace", 0.5, np.zeros(500), 1, grid=2.0**-20)) < 2000 * 500


def test_the_reference_is_right_where_a_closed_form_is_known():
    z, sigma = 0.8, 0.7
    v = math.log(z) / sigma
    closed = special.ndtr(-v) - z * math.exp(sigma**2 / 2) * special.ndtr(-v - sigma)
    assert beyond("uniform", sigma, z) == pytest.approx(closed, abs=1e-10)
