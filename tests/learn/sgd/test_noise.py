"""Fast normal noise: its law, its exactness at the edges of cells, and where its randomness comes from."""

import math
import os
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from flint import arb, ctx
from scipy import stats

from discreet.errors import InvalidParameter
from discreet.learn.sgd import normal
from discreet.learn.sgd.chacha import keystream, words_on
from discreet.learn.sgd.noise import Ahead, noisy
from discreet.learn.sgd.normal import coarse_grid, draw, ratio_of, rounded
from discreet.learn.sgd.staircase import LAYERS, density, remainder, table
from discreet.noise.lazy import LazyUniform

CPU = torch.device("cpu")
WORDS = words_on(CPU)


def drawn(count, sigma):
    return draw(count, WORDS, ratio_of(sigma, coarse_grid(sigma)))


def blurred(total, sigma):
    return rounded(total.clone(), sigma, coarse_grid(sigma), drawn(total.numel(), sigma), WORDS)


def test_uniform_parts_and_rest_make_up_the_density():
    made = table()
    points = np.linspace(0.001, 6, 101)
    for x in points:
        parts = sum(1 / (LAYERS * end) for end in made.ends if end > x)
        k = next(i for i in range(len(made.low)) if made.low[i] <= x < made.low[i] + made.width[i])
        left = math.sqrt(2 / math.pi) * math.exp(-x * x / 2) - parts
        assert math.isclose(float(made.taken[k]), parts, abs_tol=1e-12)
        assert -1e-15 <= left <= made.height[k]
        assert abs(float(remainder(made, k, arb(float(x)))) - left) < 1e-12
    ends = made.low + made.width
    rest = 2 * (stats.norm.cdf(ends) - stats.norm.cdf(made.low)) - made.width * made.taken
    assert abs(made.steps / LAYERS + rest.sum() - 1) < 1e-9


def test_no_interval_is_missing():
    made = table()
    order = np.argsort(made.low)
    assert made.low[order[0]] == 0
    np.testing.assert_allclose((made.low + made.width)[order][:-1], made.low[order][1:], rtol=0, atol=1e-15)


def test_heights_cover_the_rest_for_certain():
    made = table()
    before, ctx.prec = ctx.prec, 128
    try:
        for k in range(0, len(made.low), 7):
            x = arb(float(made.low[k]))
            assert remainder(made, k, x) <= arb(made.exact_height(k).numerator) / arb(made.exact_height(k).denominator)
        assert density(arb(0)) > 0
    finally:
        ctx.prec = before


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_noise_is_normal(repeatable, kind):
    total = torch.linspace(-50, 50, 200_000, dtype=kind)
    z = ((blurred(total, 0.7) - total) / 0.7).double().numpy()
    assert stats.kstest(z, "norm").pvalue > 1e-3
    assert abs(z.std() - 1) < 0.008
    far = np.abs(z) > 3
    assert abs(far.sum() - 200_000 * 2 * stats.norm.sf(3)) < 5 * math.sqrt(200_000 * 0.0027)


def test_the_rest_is_what_is_left(repeatable):
    low, width, place, signs = normal._rest(4000, WORDS, CPU)
    x = (low + width * (place * 2.0**-53)).numpy()
    assert abs(float(signs.mean())) < 0.08
    made = table()
    edges = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 3.0, float(made.ends[0]), 39.0])
    mass = [
        2 * (stats.norm.cdf(b) - stats.norm.cdf(a)) - sum((min(e, b) - min(e, a)) / (LAYERS * e) for e in made.ends)
        for a, b in pairwise(edges)
    ]
    expected = 4000 * np.array(mass) / (1 - made.steps / LAYERS)
    found = np.histogram(x, edges)[0]
    assert stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-3


def test_results_lie_on_the_grid():
    for sigma in (1e-3, 0.7, 123.0):
        found = blurred(torch.randn(1000) * sigma, sigma).double() / float(coarse_grid(sigma))
        assert torch.equal(found, found.round())


@pytest.mark.parametrize("constants", [{"EDGE": 0.5}, {"EDGE": 0.5, "FINE_EDGE": 0.5}, {"DOUBT": 1e9}])
def test_every_path_gives_the_same_law(repeatable, monkeypatch, constants):
    for name, value in constants.items():
        monkeypatch.setattr(normal, name, value)
    monkeypatch.setattr(normal, "_doubt", lambda device: constants.get("DOUBT", 2.0**-40))
    count = 20_000 if "FINE_EDGE" not in constants else 4_000
    total = torch.full((count,), 0.3)
    z = ((blurred(total, 1.3) - total) / 1.3).double().numpy()
    assert stats.kstest(z, "norm").pvalue > 1e-3


def test_the_slow_look_agrees_with_the_fast_one(repeatable, monkeypatch):
    draws = drawn(5000, 1.0)
    total = torch.randn(5000)
    fast = rounded(total.clone(), 1.0, Fraction(1, 256), draws, WORDS)
    monkeypatch.setattr(normal, "EDGE", 0.5)
    slow = rounded(total.clone(), 1.0, Fraction(1, 256), draws, WORDS)
    monkeypatch.setattr(normal, "FINE_EDGE", 0.5)
    exact = rounded(total.clone(), 1.0, Fraction(1, 256), draws, WORDS)
    assert float((fast == slow).float().mean()) > 0.99  # bits beyond the first word are drawn anew
    assert float((slow == exact).float().mean()) > 0.99
    assert float((fast - exact).abs().max()) <= 1 / 256


def test_numbers_are_refined_until_they_are_decided():
    found = [normal._nearest(Fraction(1, 2), Fraction(1, 2**60), place) for place in (-1, 0)]
    assert found == [0, 1]
    assert {normal._nearest(Fraction(1, 2) - Fraction(1, 2**54), Fraction(1), 0) for _ in range(60)} == {0, 1}


def test_doubtful_draws_are_decided_in_balls():
    k = len(table().low) - 1
    assert normal._accepted(k, LazyUniform(1, 53), LazyUniform(0, 53))
    assert not normal._accepted(k, LazyUniform((1 << 53) - 1, 53), LazyUniform((1 << 53) - 1, 53))


def test_chacha_is_chacha():
    key = os.urandom(32)
    ours = keystream(torch.from_numpy(np.frombuffer(key, dtype=np.int32).copy()), 5)
    theirs = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(320))
    assert ours.T.contiguous().numpy().tobytes() == theirs


def test_seeds_of_torch_have_no_effect():
    drawn = []
    for _ in range(2):
        torch.manual_seed(0)
        drawn.append(noisy(torch.zeros(50), 1.0, "secure", Ahead(CPU)))
    assert not torch.equal(*drawn)


def test_noise_made_ahead_is_used_once():
    ahead = Ahead(CPU)
    ahead.prepare(1 << 15, 300.0)
    assert ahead._next is not None
    first, second = (ahead.take(1 << 15, 300.0).words for _ in range(2))
    assert not torch.equal(first, second)
    ahead.prepare(1 << 15, 300.0)
    assert ahead.take(7, 300.0).cells.numel() == 7
    ahead.prepare(1 << 15, 300.0)
    assert ahead.take(1 << 15, 301.0).ratio == 301.0


def test_noise_of_another_deviation_is_not_taken():
    with pytest.raises(InvalidParameter, match="ratio"):
        rounded(torch.zeros(5), 0.7, coarse_grid(0.7), drawn(5, 0.6), WORDS)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_sums_of_many_cells_are_rounded_alike(kind):
    """Small sums are added to a variable as they are; with a large one in the same piece they are parted before."""
    total = torch.linspace(-3, 3, 4000, dtype=kind).pow(5)
    total[-2:] = 0.0
    draws = drawn(4000, 1.0)
    small = rounded(total.clone(), 1.0, Fraction(1, 256), draws, WORDS)
    total[-2:] = torch.tensor([1e4, math.nan])
    again = rounded(total.clone(), 1.0, Fraction(1, 256), draws, WORDS)
    assert float((small != again)[:-2].float().mean()) < 0.01  # bits beyond the first word are drawn anew
    assert float((small - again)[:-2].abs().max()) <= 1 / 256
    assert abs(float(again[-2]) - 1e4) < 9
    assert abs(float(again[-1])) < 9


def test_a_share_of_a_point_is_a_function_of_the_point(repeatable):
    """What is decided late must look like what is decided at once: else it would tell that it was close to an edge."""
    total = torch.linspace(-1, 1, 200_000)
    found = rounded(total, 0.7, coarse_grid(0.7), drawn(200_000, 0.7), WORDS, 1 / 3)
    points = (found.double() * 3 / float(coarse_grid(0.7))).round()
    expected = points.float() * torch.tensor(float(coarse_grid(0.7)) / 3, dtype=torch.float32)
    assert torch.equal(found, expected)
    assert not bool(torch.signbit(found[found == 0]).any())


def test_values_that_are_not_finite_are_not_seen():
    total = torch.tensor([math.nan, math.inf, -math.inf, 0.0])
    assert bool(torch.isfinite(noisy(total, 1.0, "secure", Ahead(CPU))).all())
