"""The fast search against the definition of a window, on data of every kind."""

import math
from fractions import Fraction

import numpy as np
import pytest
from definitions import slowly, widest

from discreet.errors import InvalidParameter
from discreet.exact import upward
from discreet.sensitivity.smooth import ROUNDING, Function, Vicinity
from discreet.sensitivity.smooth import candidates as search
from discreet.sensitivity.smooth.candidates import LOSS, candidates, peak
from discreet.sensitivity.smooth.levels import LEAST
from discreet.sensitivity.smooth.order import OrderStatistic
from discreet.sensitivity.smooth.pairs import _divided, best_pair
from discreet.sensitivity.smooth.sample import sample
from discreet.sensitivity.smooth.windows import Windows

BETAS = (1e-9, 1e-3, 0.03, 0.2, 1.0, 1e3)


def kinds(generator, n):
    """Yield data with and without ties, at the bounds, all equal, in clusters, smooth, heavy-tailed."""
    yield generator.random(n)
    yield generator.integers(0, 4, n) / 3
    yield np.full(n, generator.random())
    yield generator.choice([0.0, 1.0], n)
    yield np.where(generator.random(n) < 0.5, 0.2, 0.7) + 0.01 * generator.random(n)
    yield (np.arange(n) + 1) / n
    yield 1e-9 * generator.pareto(0.3, n)


def cases(seed, count, sizes):
    generator = np.random.default_rng(seed)
    for _ in range(count):
        n = int(generator.integers(*sizes))
        for data in kinds(generator, n):
            points = sample(data, (0.0, 1.0))
            left = int(generator.integers(0, n + 2))
            right = left if generator.random() < 0.5 else int(generator.integers(left, n + 2))
            yield points, left, right, int(generator.choice([1, 1, 2, 3, 7]))


def compare(points, left, right, rows, betas):
    seen = Windows(0.0, points, left, right, rows=rows)
    for beta in betas:
        truth = max(slowly(points, left, right, rows, beta), LEAST)
        assert truth <= seen.smooth(beta) <= truth * (1 + ROUNDING)
    return len(betas)


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_the_best_of_all_windows(seed, few, monkeypatch):
    monkeypatch.setattr(search, "FEW", few)
    done = [compare(points, left, right, rows, BETAS) for points, left, right, rows in cases(seed, 20, (1, 14))]
    assert sum(done) >= 20 * len(BETAS)


@pytest.mark.parametrize("few", [0, 64])
def test_one_two_and_three_records(few, monkeypatch):
    monkeypatch.setattr(search, "FEW", few)
    done = [compare(points, left, right, rows, BETAS) for points, left, right, rows in cases(17, 12, (1, 4))]
    assert sum(done) >= 12 * len(BETAS)


def all_pairs(points, left, right, beta):
    """Return the smooth bound as the best of all pairs of ends, in one table."""
    lower, upper = points[left::-1], points[right:]
    ranks = np.add.outer(np.arange(lower.size), np.arange(upper.size)) - 1
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(upper[None] - lower[:, None]) - beta * ranks
    logs[0, 0] = -np.inf
    return math.exp(logs.max())


@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_data_sets(seed):
    generator = np.random.default_rng(200 + seed)
    for _ in range(24):
        n = int(generator.integers(65, 400))
        for data in kinds(generator, n):
            points = sample(data, (0.0, 1.0))
            left = int(generator.integers(1, n + 1))
            right = left if generator.random() < 0.5 else int(generator.integers(left, n + 1))
            for beta in (1e-9, *10 ** generator.uniform(-5, 1, 3), 1e3):
                truth = max(all_pairs(points, left, right, beta), LEAST)
                found = Windows(0.0, points, left, right).smooth(beta)
                assert truth * (1 - 1e-13) <= found <= truth * (1 + ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_long_data_where_blocks_and_corners_matter(seed):
    generator = np.random.default_rng(100 + seed)
    for data in kinds(generator, 2500):
        points = sample(data, (0.0, 1.0))
        for left, right in ((1250, 1250), (600, 1900), (1, 2500), (2499, 2499)):
            for beta in (1e-6, 1e-4, 1e-3, 0.01):
                truth = max(all_pairs(points, left, right, beta), LEAST)
                found = Windows(0.0, points, left, right).smooth(beta)
                assert truth * (1 - 1e-13) <= found <= truth * (1 + ROUNDING)


def test_levels_are_windows_and_distances_their_first():
    for points, left, right, rows in cases(5, 12, (1, 12)):
        seen = Windows(0.0, points, left, right, rows=rows)
        exact = list(map(Fraction, points.tolist()))
        levels = [widest(exact, left, right, rows, k) for k in range(2 * points.size)]
        assert [seen.local(k) for k in range(2 * points.size)] == [upward(level) for level in levels]
        assert list(seen.levels(range(3))) == [seen.local(k) for k in range(3)]
        for bound in (0, 0.1, 0.5, upward(levels[0]), upward(levels[-1])):
            above = [k for k, level in enumerate(levels) if level > bound]
            assert seen.distance(bound) == (above[0] if above else None)


def test_a_shorter_or_longer_window_would_be_noticed():
    points = sample([1, 2, 3, 5, 6], (0, 6))
    for rows, beta in ((2, 0.1), (1, 0.05)):
        truth = slowly(points, 3, 3, rows, beta)
        off_by_one = max(widest(points, 3, 3, rows, k) * math.exp(-beta * (k + 1)) for k in range(9))
        assert not truth <= off_by_one <= truth * (1 + ROUNDING)
        assert not truth <= 0.9 * truth <= truth * (1 + ROUNDING)


@pytest.mark.parametrize("rate", [1e-7, 1e-4, 0.02, 5.0])
def test_what_is_left_out_is_beaten_whatever_the_other_end_adds(rate):
    generator = np.random.default_rng(8)
    for data in kinds(generator, 3000):
        values = np.sort(np.clip(data, 0, 1))
        kept = candidates(values, float(values[0]), rate)
        gaps, ranks = values - values[0], np.arange(values.size)
        for z in (0.0, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 100.0):
            with np.errstate(divide="ignore"):
                counts = np.log(gaps + z) - rate * ranks
            assert counts[kept].max() >= counts.max() - LOSS - 1e-12
        with np.errstate(divide="ignore"):
            counts = np.log(gaps) - rate * ranks
        assert counts[peak(values, float(values[0]), rate)[0]] == counts.max()
    assert LOSS < 2.0**-32


def test_few_ends_are_left_of_many():
    values = np.sort(np.random.default_rng(3).random(200_000))
    assert candidates(values, 0.0, 1e-6).size < 2000
    assert candidates(np.full(200_000, 0.5), 0.5, 1e-6).size == 1


def test_pairs_are_the_best_of_all_pairs():
    generator = np.random.default_rng(4)
    for _ in range(200):
        lower = np.sort(generator.random(int(generator.integers(1, 40))))[::-1]
        upper = 1 + np.sort(generator.random(int(generator.integers(1, 40))))
        below = np.cumsum(generator.integers(1, 5, lower.size))
        above = np.cumsum(generator.integers(1, 5, upper.size))
        rate = 10 ** generator.uniform(-4, 1)
        table = np.log(upper[None] - lower[:, None]) - rate * np.add.outer(below, above)
        assert best_pair(lower, below, upper, above, rate).log == pytest.approx(table.max(), rel=1e-13)


def test_corners_are_matched_without_dividing():
    generator = np.random.default_rng(4)
    for _ in range(100):
        n = int(generator.integers(100, 400))
        values = np.cumsum(1 / np.arange(1, 2 * n)) if generator.random() < 0.5 else np.arange(2.0 * n)
        lower, upper, ranks = values[n - 1 :: -1], values[n:], np.arange(n)
        rate = 10 ** generator.uniform(-4, 0)
        table = np.log(upper[: ranks.size, None] - lower[None]) - rate * np.add.outer(ranks[: upper.size], ranks)
        found = best_pair(lower, ranks, upper, ranks[: upper.size], rate)
        assert found.log == pytest.approx(table.max(), rel=1e-13)
        assert found == pytest.approx(_divided(lower[::-1], ranks[::-1], upper, ranks[: upper.size], rate), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 40, 1000])
@pytest.mark.parametrize("beta", [1e-4, 0.01, 0.1, 0.25, 0.5, 1.0, 3.0])
def test_evenly_spread_numbers_have_a_closed_form(n, beta):
    seen = OrderStatistic(rank=(n + 1) // 2, bounds=(0, 1)).at((np.arange(n) + 1) / n)
    levels = np.minimum(np.arange(n + 1) + 1, n) / n
    assert [seen.local(k) for k in range(n + 1)] == pytest.approx(levels, rel=1e-12)
    truth = (levels[:n] * np.exp(-beta * np.arange(n))).max()
    assert seen.smooth(beta) == pytest.approx(truth, rel=2e-9)
    if beta >= 1:
        assert seen.smooth(beta) == pytest.approx(1 / n, rel=2e-9)
    elif beta < 1 / n:
        assert seen.smooth(beta) == pytest.approx(math.exp(-(n - 1) * beta), rel=2e-9)
    limit = math.exp(beta - 1) / (beta * n)
    if (1 / beta).is_integer() and 1 / beta <= n:
        assert seen.smooth(beta) == pytest.approx(limit, rel=2e-9)
    else:
        assert seen.smooth(beta) <= limit * (1 + ROUNDING)


def test_extreme_numbers_stay_numbers():
    wide = Windows(0.0, sample([0, 0, 1e300], (-1e300, 1e300)), 2, 2)
    assert wide.smooth(1e-9) == pytest.approx(2e300, rel=1e-8)
    assert wide.smooth(2.0**900) == pytest.approx(1e300, rel=1e-8)
    small = Windows(0.0, sample([0, 0, 0], (0, 2.0**-990)), 2, 2)
    assert small.smooth(1.0) == LEAST
    assert Windows(0.0, sample([], (0, 1)), 0, 0).smooth(0.5) > 0
    assert wide.smooth(0) == pytest.approx(2e300, rel=1e-8)
    with pytest.raises(InvalidParameter, match="beta must be a number from 0 on"):
        wide.smooth(-1)


@pytest.mark.parametrize("scale", [2.0**998, 1.0, 2.0**-480])
def test_the_search_does_not_depend_on_the_scale(scale):
    generator = np.random.default_rng(12)
    for data in kinds(generator, 300):
        points = sample(scale * (2 * data - 1), (-scale, scale))
        for beta in (1e-290, 1e-9, 0.01, 2.0**600):
            truth = max(all_pairs(points, 140, 150, beta), LEAST)
            assert truth * (1 - 1e-13) <= Windows(0.0, points, 140, 150).smooth(beta) <= truth * (1 + ROUNDING)


def test_the_protocols_are_met():
    function = OrderStatistic(rank=1, bounds=(0, 1))
    assert isinstance(function, Function)
    seen: Vicinity = function.at([0.5])
    assert "points" not in repr(seen)
