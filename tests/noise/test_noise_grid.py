from fractions import Fraction

import numpy as np
import pytest
from noise_reference import (
    ALARM,
    DENSITIES,
    EDGES,
    Passing,
    Scripted,
    around,
    ball,
    drawing_from,
    fit,
    precisely,
    signed,
    sure,
    tail,
    uniform,
)
from scipy import stats

from discreet.errors import InvalidInput, InvalidParameter
from discreet.noise import grid_for, on_grid
from discreet.noise.bits import source
from discreet.noise.densities import Exponential, Gaussian, Gumbel, Laplace, StudentT, Uniform

TINY = Fraction(1, 2**400)
"""A scale at which the noise does not reach the next grid point."""

each = pytest.mark.parametrize(("density", "survival"), DENSITIES, ids=lambda x: repr(x) if hasattr(x, "slack") else "")


def at_least(k, word, density, survival, value, scale):
    """Tell whether the value plus the noise of a word, in steps and rounded, is at least k."""
    v, bar = uniform(word >> 1, 63), (k - Fraction(1, 2) - value) / scale
    if density.symmetric and word & 1:
        return bar < 0 and not sure(v, survival(ball(-bar)))
    if density.symmetric and bar <= 0:
        return True
    return sure(v, survival(ball(bar)))


def is_right(answer, word, density, survival, value, scale):
    """Check the rounded sum from both sides; beyond 2^53 steps the answer is a rounded float itself."""
    k, give = int(answer), int(np.spacing(abs(answer)) / 2)
    return at_least(k - give, word, density, survival, value, scale) and not at_least(
        k + give + 1, word, density, survival, value, scale
    )


def hard_words(density, survival, value, scale):
    cells = list(EDGES)
    for z in (0.001, 0.1, 0.5, 0.9, 1, 2, 4.4, 11.7, 1000, 10**5):
        k = round(scale * Fraction(z) + value)
        bar = (k - Fraction(1, 2) - value) / scale
        if bar > 0 and survival(ball(bar)) > 2.0**-100:
            cells += around(survival(ball(bar)), 63)
    return signed(cells)


def wrong_answers(density, survival, value, scale):
    value, scale = Fraction(value), Fraction(scale)
    with precisely():
        words = hard_words(density, survival, value, scale)
        with drawing_from(Scripted(words)):
            together = on_grid(density, [value] * len(words), scale, grid=1)
        with drawing_from(Scripted(words)):
            by_element = on_grid(density, np.full(len(words), float(value)), [scale] * len(words), grid=1)
        wrong = 0
        for word, a, b in zip(words, together, by_element, strict=True):
            wrong += not is_right(a, word, density, survival, value, scale)
            wrong += not is_right(b, word, density, survival, Fraction(float(value)), scale)
    return wrong


@each
@pytest.mark.parametrize(("value", "scale"), [(0, 2**20), (0.3, Fraction(10**6, 7)), (Fraction(-1, 7), Fraction(5, 3))])
def test_hard_words_are_decided_right(density, survival, value, scale):
    assert wrong_answers(density, survival, value, scale) == 0


class Careless(Exponential):
    __slots__ = ()

    def slack(self, z):
        return -1e-9


def test_without_slack_the_comparison_would_notice():
    assert wrong_answers(Careless(), DENSITIES[1][1], 0, Fraction(10**6, 7)) > 5


def test_a_wrong_logarithm_would_be_noticed(monkeypatch):
    log = np.log
    monkeypatch.setattr(np, "log", lambda x: log(x) * (1 + 1e-12))
    assert wrong_answers(Laplace(), DENSITIES[0][1], 0, 2**20) > 5


@pytest.mark.parametrize("density", [Laplace(), Gaussian(), Gumbel()])
def test_with_infinite_slack_balls_decide_everything(density, monkeypatch):
    survival = next(s for d, s in DENSITIES if d == density)
    monkeypatch.setattr(type(density), "slack", lambda self, z: np.inf)
    assert wrong_answers(density, survival, 0.3, 1000) == 0


def float_cdf(density, survival):
    """Return the distribution function, tabulated by the reference at few points."""

    def below(x):
        x = float(x)
        with precisely(100):
            if not density.symmetric:
                return 1 - float(survival(ball(x)))
            return float(survival(ball(-x))) / 2 if x < 0 else 1 - float(survival(ball(x))) / 2

    return np.vectorize(below, otypes=[float])


@pytest.mark.usefixtures("deterministic")
@each
@pytest.mark.parametrize(("scale", "step"), [(2.5, Fraction(1, 2**19)), (Fraction(1, 3), 1)])
def test_law(density, survival, scale, step):
    value, count = 0.3, 10_000
    out = on_grid(density, np.full(count, value), scale, grid=step)
    levels = np.linspace(0.02, 0.98, 49)
    z = density.inverse(2 * np.minimum(levels, 1 - levels)) if density.symmetric else density.inverse(1 - levels)
    z = np.where(levels < 0.5, -z, z) if density.symmetric else z
    s = float(step)
    edges = np.unique((np.floor((value + float(scale) * z) / s) + 0.5) * s)
    cdf = float_cdf(density, survival)
    assert fit(out, lambda x: cdf((x - value) / float(scale)), edges) > ALARM
    assert np.all(out / s == np.rint(out / s))


@pytest.mark.slow
@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize(
    ("density", "law"), [(Laplace(), stats.laplace), (Gaussian(), stats.norm), (Gumbel(), stats.gumbel_r)]
)
def test_ten_million_draws(density, law):
    out = on_grid(density, np.zeros(10_000_000), 1, grid=grid_for(1))
    assert (
        fit(out, lambda x: law.cdf(x + 2.0**-21), np.rint(law.ppf(np.arange(1, 1000) / 1000) * 2**20) / 2**20) > ALARM
    )
    assert tail(out, 12, law.sf(12 - 2.0**-21) + law.cdf(-12 + 2.0**-21)) > ALARM


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize(("density", "law"), [(Laplace(), stats.laplace), (Gaussian(), stats.norm)])
def test_the_deep_tail_has_the_right_law(density, law):
    with drawing_from(Passing(source(), lambda words: words >> np.uint64(17))):
        out = np.abs(on_grid(density, np.zeros(2000), 1, grid=Fraction(1, 2**20)))
    edges = law.isf(2.0**-18 * np.arange(1, 50) / 50)[::-1]
    assert fit(out, lambda x: 1 - law.sf(x) * 2.0**18, edges) > ALARM


@pytest.mark.usefixtures("deterministic")
def test_each_element_has_its_own_scale():
    scales = [Fraction(1, 1000), 0.5, 3, 10**6, 2**50]
    out = on_grid(Laplace(), np.zeros((5000, 5)), scales, grid=Fraction(1, 1024))
    for column, scale in zip(out.T, map(float, scales), strict=True):
        edges = (np.floor(stats.laplace.ppf(np.arange(1, 40) / 40) * scale * 1024) + 0.5) / 1024
        assert fit(column, lambda x, s=scale: stats.laplace.cdf(x / s), edges) > ALARM


VALUES = [0, 1, -1, 7, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**60 + 129, 10**30, 10**300, Fraction(1, 3)]
VALUES += [0.1, -0.0, 5e-324, -2.2e-308, 1e300, 1.7e308, -1e300, 2.0**53 + 2, 0.75, np.float32(0.1), np.int8(-3)]


@pytest.mark.parametrize(
    "grid", [1, Fraction(1, 2**20), 2**10, Fraction(1, 2**300)], ids=["1", "2^-20", "2^10", "2^-300"]
)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_rounded_once(value, grid):
    """The nearest grid point, then the nearest float; a scalar, a list and an array agree."""
    exact = Fraction(value.item() if isinstance(value, np.generic) else value)
    if (2 * exact / grid).denominator == 1 and (exact / grid).denominator != 1:
        exact += grid / 8  # a tie would be broken by the noise
        value = exact
    limit = 2**1000 * Fraction(grid)
    truth = float(round(max(min(exact, limit), -limit) / grid) * Fraction(grid))
    noise = TINY * Fraction(grid)
    assert on_grid(StudentT(1000), value, noise, grid=grid) == truth
    assert on_grid(Laplace(), [value, 0.5, 3], noise, grid=grid)[0] == truth
    assert on_grid(Laplace(), (value,), noise, grid=grid).tolist() == [truth]
    if not isinstance(value, int | Fraction):
        assert on_grid(Laplace(), np.array([value]), noise, grid=grid)[0] == truth
    assert on_grid(Laplace(), np.array([value, None], dtype=object)[:1], noise, grid=grid)[0] == truth


@pytest.mark.parametrize("value", [2**60 + 128, 2**60 + 129, 2**60 + 127, Fraction(2**60) + Fraction(1, 3)], ids=str)
def test_noise_is_added_before_the_sum_is_rounded(value):
    """Floats near 2^60 lie 256 apart. A value rounded before its noise is added would move by 128 and take its
    neighbour the other way; 2^60 + 129 once gave 2^60 + 256 with certainty, and its neighbour never.
    """
    words = np.random.default_rng(1).integers(0, 2**64, 2000, dtype=np.uint64)
    with drawing_from(Scripted(words)):
        out = on_grid(Laplace(), [value] * 2000, 100, grid=Fraction(1, 2**20))
    with drawing_from(Scripted(words)):
        noise = on_grid(Laplace(), np.zeros(2000), 100, grid=Fraction(1, 2**20))
    truth = [float(Fraction(value) + Fraction(z)) for z in noise]
    assert np.mean(out != truth) < 0.001
    assert len(np.unique(out)) > 4


def test_negative_zero_is_zero():
    for value in (-0.0, np.array([-0.0]), -0.25, np.full(3, -0.3)):
        assert not np.signbit(on_grid(Laplace(), value, TINY, grid=1)).any()


def test_shapes():
    assert type(on_grid(Laplace(), 3, 1, grid=1)) is float
    assert on_grid(Laplace(), np.zeros((2, 3)), 1, grid=1).shape == (2, 3)
    assert on_grid(Laplace(), np.zeros((2, 0)), 1, grid=1).shape == (2, 0)
    assert on_grid(Laplace(), [], 1, grid=1).shape == (0,)
    assert on_grid(Laplace(), np.array(1.0), 1, grid=1).shape == ()
    assert on_grid(Laplace(), [[1, 2.5], [Fraction(1, 3), 4]], [1, Fraction(1, 3)], grid=1).shape == (2, 2)
    assert on_grid(Laplace(), np.arange(5, dtype=np.uint8), np.arange(1, 6), grid=1).dtype == np.float64
    assert on_grid(Laplace(), np.zeros(40_000), 1, grid=1).shape == (40_000,)


@pytest.mark.parametrize(
    "value",
    [
        *(np.nan, np.inf, "1", None, True, 1j, [np.nan], [1, np.inf], ["1"], [True], [1, True], [None], [[1], [1, 2]]),
        *(np.array([bad]) for bad in (np.nan, -np.inf, "1", True, 1j, np.longdouble(1), None)),
    ],
    ids=repr,
)
def test_what_is_no_real_value_is_refused(value):
    with pytest.raises(InvalidInput):
        on_grid(Laplace(), value, 1, grid=1)


@pytest.mark.parametrize(
    "scale",
    [
        *(
            0,
            -1,
            np.nan,
            np.inf,
            "1",
            None,
            True,
            10**400,
            [0.0],
            [1, -1],
            [np.nan],
            ["1"],
            [True],
            [1, True],
            [1, 2, 3],
        ),
        *(np.array([bad]) for bad in (0, np.inf, np.nan, True, "1", 1j, None)),
        np.ones((3, 2)),
    ],
    ids=repr,
)
def test_what_is_no_scale_is_refused(scale):
    with pytest.raises(InvalidParameter, match="scale"):
        on_grid(Laplace(), [1.0, 2.0], scale, grid=1)


@pytest.mark.parametrize("grid", [0, -1, 3, 0.1, Fraction(3, 4), np.nan, np.inf, "1", None, True, 2**1002])
def test_what_is_no_grid_is_refused(grid):
    with pytest.raises(InvalidParameter, match="grid"):
        on_grid(Laplace(), 1, 1, grid=grid)


@pytest.mark.parametrize("density", [d for d, _ in DENSITIES])
@pytest.mark.parametrize(
    ("scale", "grid"), [(2**900, Fraction(1, 2**100)), (2**900, Fraction(1, 2**900)), (TINY, 1)], ids=["1", "2", "3"]
)
def test_extreme_ratios_end(density, scale, grid):
    assert np.isfinite(on_grid(density, 0.25, scale, grid=grid)).all()


def test_a_uniform_stays_inside():
    out = on_grid(Uniform(), np.zeros(10_000), 8, grid=1)
    assert set(out) == set(range(9))


@pytest.mark.parametrize("scale", [1, 3, Fraction(1, 3), 1e-300, 1e300, 2**20 - 1, 2**20])
def test_the_house_grid_is_a_millionth_of_the_scale(scale):
    grid = grid_for(scale)
    assert 2**20 <= Fraction(scale) / grid < 2**21
    assert (grid.numerator & (grid.numerator - 1)) == 0 == (grid.denominator & (grid.denominator - 1))
