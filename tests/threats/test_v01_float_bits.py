"""The bits of a released double must not tell which value it came from.

A textbook Laplace sampler computes a logarithm of one of 2^53 uniforms and adds it to the answer. Not every double
can come out, and which ones can depends on the answer: some outputs are possible for 0 and impossible for 1, so that
a single release decides between neighbours whatever epsilon was promised.

Here an attacker looks at the lowest bit set in each double. Privacy bounds how much more likely anything that he
sees may be for one value than for its neighbour; ``epsilon_lower`` is what his counts prove, wrongly with a chance
below 10^-6.

Defence: the release is the point of a public grid nearest to the ideal one, decided exactly; every point is reachable.
Source: Mironov, On Significance of the Least Significant Bits for Differential Privacy, CCS 2012.
"""

import warnings

import numpy as np
import pytest
from scipy import stats

from discreet.errors import NotPrivateWarning
from discreet.noise import grid_for, on_grid
from discreet.noise.densities import Laplace
from discreet.testing import seeded

DRAWS = 20_000


def lowest_bit(x):
    """Return the exponent of the lowest bit set in each double; 0 has none and is said to end above all others."""
    mantissa, exponent = np.frexp(x)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return np.where(whole == 0, 2000, exponent - 53 + np.log2(np.maximum(whole & -whole, 1)).astype(int))


def epsilon_lower(release, a, b, *, delta=0.0, draws=DRAWS):
    """Return the epsilon that outputs disprove, by the lowest bits of all of them and of those near either value."""
    outputs = [np.asarray(release(np.full(draws, float(value)))) for value in (a, b)]
    bits = [lowest_bit(x) for x in outputs]
    proved = 0.0
    for near in (None, a, b):
        window = [np.ones(draws, dtype=bool) if near is None else np.abs(x - near) < 0.25 for x in outputs]
        for end in np.unique(np.concatenate(bits)):
            for side in (np.less_equal, np.greater):
                counts = [int((w & side(low, end)).sum()) for w, low in zip(window, bits, strict=True)]
                proved = max(proved, *(ratio(x, y, delta, draws) for x, y in (counts, counts[::-1])))
    return proved


def ratio(x, y, delta, draws):
    """Return the logarithm of a lower bound on one probability by an upper bound on the other."""
    if x == 0:
        return 0.0
    low, high = stats.beta.ppf(1e-9, x, draws - x + 1), stats.beta.isf(1e-9, y + 1, max(draws - y, 1e-9))
    return float(np.log(max(low - delta, 1e-300) / high))


@pytest.fixture(autouse=True)
def repeatable():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("V01"):
        yield


def release(values):
    return on_grid(Laplace(), values, 1, grid=grid_for(1))


def naive(values):
    return values + np.random.default_rng(1).laplace(size=values.size)


@pytest.mark.parametrize(("a", "b"), [(0, 1), (0.1, 1.1), (1000, 1001)])
def test_the_bits_tell_no_more_than_epsilon(a, b):
    assert epsilon_lower(release, a, b) <= 1


def test_all_values_share_one_lattice():
    for value in (0, 1, 0.1, -1e-9, 12345.678):
        out = release(np.full(1000, value))
        assert np.all(out * 2.0**20 == np.rint(out * 2.0**20))


def test_every_point_of_the_lattice_is_reachable():
    """On a coarse grid, where draws can cover it: no holes for either value."""
    for value in (0, 1):
        out = on_grid(Laplace(), np.full(100_000, float(value)), 8, grid=0.5)
        assert set(np.arange(-20, 20.5, 0.5)) <= set(out.tolist())


def test_the_check_catches_float_noise_on_a_float_answer():
    assert epsilon_lower(naive, 0, 1) > 4
