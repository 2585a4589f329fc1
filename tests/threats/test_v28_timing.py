"""How long a draw takes must not tell how large the noise was.

Samplers that toss coins until one falls tails run longer for larger noise, and an observer of response times learns it.
Clocks are too noisy for a test; here the work is counted in words of randomness, of which a vector release takes one
each, in one batch, whatever the value and whatever the noise. Only undecided samples, less than one in a hundred
thousand, ask for more, for reasons of rounding and not of size; a server that fears even those pads its answers.

Defence: one word of randomness for each value, in one batch, whatever the value and the noise.
Source: Jin, McMurtry, Rubinstein and Ohrimenko, Are We There Yet?, S&P 2022.
"""

import numpy as np
import pytest
from scipy import stats

from discreet.noise import bernoulli_exp, discrete_gaussian, discrete_laplace, grid_for, on_grid
from discreet.noise.bits import override
from discreet.noise.densities import Gaussian, Laplace
from discreet.testing.seeded import SeededSource


class Counting:
    private = False

    def __init__(self, seed, change=lambda words: words):
        self.inner, self.change, self.calls = SeededSource(seed), change, []

    def words(self, count):
        self.calls.append(count)
        return self.change(self.inner.words(count))


def work(draw, seed=1, change=lambda words: words):
    """Return the noise and the sizes of the requests for words that it took."""
    source = Counting(seed, change)
    token = override.set(source)
    try:
        return draw(), source.calls
    finally:
        override.reset(token)


def correlates(draw, count=500):
    """Return the p-value of no relation between the words of single draws and the size of their noise."""
    pairs = [work(draw, seed) for seed in range(count)]
    sizes, words = [abs(noise) for noise, _ in pairs], [sum(calls) for _, calls in pairs]
    return 1.0 if len(set(words)) == 1 else stats.spearmanr(sizes, words).pvalue


@pytest.mark.parametrize("density", [Laplace(), Gaussian()])
def test_the_value_does_not_change_the_work(density):
    """Values on the grid that differ: the very same requests."""
    requests = [
        work(lambda v=v: on_grid(density, np.full(10_000, v), 1, grid=grid_for(1)))[1]
        for v in (0.0, 1.0, -3.0, 2.0**30)
    ]
    assert all(calls == requests[0] for calls in requests)
    assert requests[0][0] == 10_000
    assert sum(requests[0]) <= 10_002


@pytest.mark.parametrize(
    "draw",
    [
        lambda: discrete_laplace(1000, size=1000),
        lambda: on_grid(Laplace(), np.zeros(1000), 1, grid=grid_for(1)),
    ],
    ids=["integers", "grid"],
)
def test_small_and_large_noise_take_the_same_work(draw):
    small, few = work(draw, change=lambda words: words | np.uint64(15 << 60))
    large, many = work(draw, change=lambda words: words >> np.uint64(12) | np.uint64(1 << 51))
    assert np.abs(large).min() > 20 * np.median(np.abs(small))
    assert few == many == [1000]


def test_single_draws_tell_nothing():
    assert correlates(lambda: discrete_laplace(10)) == 1
    assert correlates(lambda: on_grid(Laplace(), 0, 1, grid=grid_for(1))) == 1
    assert correlates(lambda: discrete_laplace(1e9)) > 1e-9
    assert correlates(lambda: discrete_gaussian(10)) > 1e-9


def tossed():
    """Draw a geometric variable one coin at a time."""
    noise = 0
    while bernoulli_exp(0.1):
        noise += 1
    return noise


def test_the_check_catches_coins_tossed_one_by_one():
    assert correlates(tossed) < 1e-9
