"""Quantiles of weighted histograms against the definition: every histogram, every unit, every number of units."""

import math
import warnings
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidParameter
from discreet.sensitivity.smooth import ROUNDING, Function, Scaled, Vicinity
from discreet.sensitivity.smooth.weighted import WeightedQuantile

RELATIONS = ["add_remove", "replace_one"]
PROBABILITIES = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(2, 3), 0, 1]
POINTS = (0, 1, 3, 7)
MOST = 5
"""Histograms on these cells, of at most so much weight."""


def spreads(unit):
    return [s for s in product(range(unit + 1), repeat=len(POINTS)) if sum(s) <= unit]


@cache
def everything(unit, relation):
    """Return all histograms up to a weight, and which are one unit apart; what may be outside is left out."""
    found = [h for h in product(range(MOST + 1), repeat=len(POINTS)) if sum(h) <= MOST]
    known, near = set(found), {}
    for h in found:
        smaller = [tuple(a - b for a, b in zip(h, s, strict=True)) for s in spreads(unit)]
        starts = [h] if relation == "add_remove" else [g for g in smaller if min(g) >= 0]
        larger = {tuple(a + b for a, b in zip(g, s, strict=True)) for g in starts for s in spreads(unit)}
        both = larger | {g for g in smaller if min(g) >= 0}
        near[h] = [g for g in both if g in known and g != h]
    return found, near


def defined(weights, p):
    below = 0
    for cell, weight in zip(POINTS, weights, strict=True):
        below += weight
        if below >= p * sum(weights):
            return cell
    raise AssertionError


def function(unit, relation, p):
    return WeightedQuantile(bounds=(POINTS[0], POINTS[-1]), relation=relation, probability=p, unit=unit)


def vicinities(unit, relation, p):
    found, _ = everything(unit, relation)
    return {h: function(unit, relation, p).at((list(POINTS), list(h))) for h in found}


def broken(unit, relation, p, local):
    """Count where a level misses the local sensitivity, or two neighbours are more than a step apart."""
    found, near = everything(unit, relation)
    value = {h: defined(h, p) for h in found}
    levels = {h: [local(h, k) for k in range(7)] for h in found}
    wrong = 0
    for h in found:
        wrong += max((abs(value[h] - value[g]) for g in near[h]), default=0) > levels[h][0]
        wrong += any(a > b for a, b in zip(levels[h], levels[h][1:], strict=False))
        for g in near[h]:
            wrong += any(a > b for a, b in zip(levels[h], levels[g][1:], strict=False))
    return wrong


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("unit", [1, 2])
def test_levels_hold_everywhere(unit, relation, p):
    seen = vicinities(unit, relation, p)
    assert all(v.value == defined(h, p) for h, v in seen.items())
    assert not broken(unit, relation, p, lambda h, k: seen[h].local(k))


@pytest.mark.parametrize(("relation", "p"), [*((one, Fraction(1, 2)) for one in RELATIONS), ("add_remove", 0.9)])
def test_smaller_windows_are_caught(relation, p):
    """A unit that counts for nine tenths of its weight, or one unit fewer in the window, breaks the claim."""
    less = {h: function(9, relation, p).at((list(POINTS), [10 * w for w in h])) for h in everything(1, relation)[0]}
    assert broken(1, relation, p, lambda h, k: less[h].local(k))
    seen = vicinities(2, relation, p)
    assert broken(2, relation, p, lambda h, k: seen[h].local(k - 1) if k else 0.0)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)])
def test_levels_are_reached(relation, p):
    """In most small data sets some neighbours do differ by as much as the level says: it is no idle bound."""
    found, near = everything(1, relation)
    seen = vicinities(1, relation, p)
    inner = [h for h in found if 3 <= sum(h) < MOST]
    exact = [max(abs(defined(h, p) - defined(g, p)) for g in near[h]) == seen[h].local(0) for h in inner]
    assert np.mean(exact) > (0.99 if p == Fraction(1, 2) or relation == "add_remove" else 0.4)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), 0])
@pytest.mark.parametrize("beta", [0.05, 0.7])
def test_smooth_is_the_maximum_of_the_levels_and_is_smooth(relation, p, beta):
    found, near = everything(2, relation)
    seen = vicinities(2, relation, p)
    smooth = {h: v.smooth(beta) for h, v in seen.items()}
    for h in found[::7]:
        plain = max(seen[h].local(k) * math.exp(-beta * k) for k in range(40))
        assert plain <= smooth[h] <= plain * (1 + ROUNDING)
        assert all(smooth[h] <= math.exp(beta) * smooth[g] * (1 + ROUNDING) for g in near[h])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 3), 0.95, 1])
def test_large_histograms_agree_with_levels(relation, p):
    """Block by block, on random data with gaps and ties, against every level in turn."""
    generator = np.random.default_rng(5)
    for _ in range(25):
        size, unit = int(generator.integers(1, 60)), int(generator.integers(1, 6))
        cells = np.sort(generator.choice(300, size, replace=False)) ** int(generator.integers(1, 4))
        weights = generator.integers(0, 2 * unit + 2, size)
        seen = WeightedQuantile(bounds=(-5, int(cells[-1]) + 9), relation=relation, probability=p, unit=unit).at(
            (cells, weights)
        )
        last = int(weights.sum()) // unit * 4 + 8
        levels = [seen.local(k) for k in range(last)]
        assert levels[-1] == cells[-1] + 14
        for beta in (0.01, 0.2, 2):
            plain = max(level * math.exp(-beta * k) for k, level in enumerate(levels))
            assert plain <= seen.smooth(beta) <= plain * (1 + ROUNDING)
        for bound in (0, levels[0], levels[3] - 0.5, levels[-1] - 1):
            assert seen.distance(bound) == next((k for k, level in enumerate(levels) if level > bound), None)
        assert seen.distance(levels[-1]) is None


def test_it_is_the_median_of_the_paper():
    """With equal weights and units that are replaced: ``max_t x[m + t] - x[m + t - k - 1]``, ends at the bounds."""
    x = [2, 3, 3, 8, 11, 19, 20]
    padded = [0] * 9 + x + [30] * 9
    seen = WeightedQuantile(bounds=(0, 30), relation="replace_one").at((x, [1] * 7))
    for k in range(8):
        assert seen.local(k) == max(padded[12 + t] - padded[12 + t - k - 1] for t in range(k + 2))


def test_it_keeps_the_interface():
    median = WeightedQuantile(bounds=(0, 9), relation="add_remove")
    assert isinstance(median, Function)
    seen: Vicinity = median.at(([1], [1]))
    assert (median.size, median.range, median.dimension, seen.value) == (None, (0, 9), 1, 1)


@pytest.mark.parametrize(
    ("cells", "weights", "value"),
    [
        ([], [], 0),
        ([5], [0], 0),
        ([5], [-7], 0),
        ([10**30, 4], [10**30, 1], 10),
        ([7, 3, 3, 99], [1, 2, 3, 4], 3),
        ([2, 9], [2**62, 2**62], 2),
        ([9, 2, 2], [2**62, 2**62, 2**62], 2),
    ],
)
def test_any_histogram_is_looked_at(cells, weights, value):
    seen = WeightedQuantile(bounds=(0, 10), relation="add_remove").at((cells, weights))
    assert seen.value == value
    assert 0 < seen.smooth(0.1) <= 10 * (1 + ROUNDING)
    assert seen.distance(10) is None
    assert seen.distance(9) is not None


def test_huge_weights_are_exact():
    """Counted in units of a unit, the same histogram has the same levels whatever a unit weighs."""
    cells, weights = np.arange(50) ** 2, np.arange(50) % 7
    for p in (Fraction(1, 2), Fraction(17, 20)):
        one, huge = (
            WeightedQuantile(bounds=(0, 2500), relation="add_remove", probability=p, unit=unit).at(
                (cells, weights * unit)
            )
            for unit in (1, 2**58)
        )
        assert one.smooth(0.1) == huge.smooth(0.1)
        assert [one.local(k) for k in range(9)] == [huge.local(k) for k in range(9)]
        assert one.distance(40) == huge.distance(40)


def test_nothing_in_the_middle_moves_nothing():
    """A value that many share stays where it is, and the smooth bound falls with the number of them."""
    bounds = [
        WeightedQuantile(bounds=(0, 100), relation="replace_one").at(([0, 7, 100], [5, n, 5])).smooth(0.5)
        for n in (10, 20, 40)
    ]
    assert bounds[0] > 10 * bounds[1] > 1000 * bounds[2]


def test_parameters_are_checked():
    for wrong in ({"bounds": (3, 2)}, {"bounds": (0.5, 2)}, {"unit": 0}, {"unit": 0.5}, {"probability": 1.5}):
        with pytest.raises(InvalidParameter):
            WeightedQuantile(**{"bounds": (0, 9), "relation": "add_remove", **wrong})
    with pytest.raises(InvalidInput, match="as many"):
        WeightedQuantile(bounds=(0, 9), relation="add_remove").at(([1, 2], [1]))


@pytest.mark.parametrize("spread", ["even", "skew", "ties"])
def test_a_million_cells_take_no_loop_over_cells(spread, instructions):
    generator = np.random.default_rng(0)
    x = {
        "even": lambda: generator.random(10**6) * 2**40,
        "skew": lambda: np.exp(generator.normal(size=10**6)) * 2**34,
        "ties": lambda: generator.integers(0, 9, 10**6) * 2.0**36 + generator.integers(0, 2, 10**6),
    }[spread]()
    cells, weights = np.unique(x.astype(np.int64), return_counts=True)
    seen = WeightedQuantile(bounds=(0, 2**40), relation="add_remove", probability=0.95, unit=3).at((cells, weights))
    assert instructions(lambda: seen.smooth(0.02)) < 200_000


@pytest.mark.parametrize(
    "odd", [math.nan, None, "5", [1], 2j, np.timedelta64(5), np.timedelta64("NaT"), np.ma.masked, object()]
)
def test_what_is_no_number_is_the_lowest_cell_or_no_weight(odd):
    function = WeightedQuantile(bounds=(2, 10), relation="add_remove")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function.at(([odd], [3])).value == 2
        assert function.at(([7, 9], [odd, 1])).value == 9
        assert function.at((iter([7, 9]), iter([odd, 1]))).value == 9


def test_one_cell_does_not_change_how_others_are_read():
    function = WeightedQuantile(bounds=(0, 2**60), relation="add_remove")
    for other in (5, 0.5, Fraction(1, 2), None, 10**30):
        assert function.at(([2**53 + 1, other], [9, 1])).value == 2**53 + 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble, object])
def test_arrays_of_floats_are_read_without_warnings(dtype):
    cells = np.array([math.nan, -math.inf, math.inf, 3.7, 1e30], dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cell, value in zip(range(5), (1, 1, 9, 3, 9), strict=True):
            weights = np.zeros(5, dtype=dtype)
            weights[cell] = math.inf
            assert WeightedQuantile(bounds=(1, 9), relation="add_remove").at((cells, weights)).value == value


@pytest.mark.parametrize("weight", [2**63 - 1, 2**63, 2**64 - 1])
def test_unsigned_weights_do_not_wrap_around(weight):
    weights = np.array([weight, 2**62], dtype=np.uint64)
    cells = np.array([5, 2**64 - 1], dtype=np.uint64)
    assert WeightedQuantile(bounds=(0, 100), relation="add_remove").at((cells, weights)).value == 5


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("unit", [1, 2**40, 2**61])
def test_far_away_every_window_is_in_reach(relation, unit):
    seen = WeightedQuantile(bounds=(0, 100), relation=relation, probability=Fraction(1, 3), unit=unit).at(
        ([1, 2, 50], [3, 3, 3])
    )
    assert {seen.local(2**e) for e in (20, 40, 61, 62, 63, 100)} == {100.0}
    for bound in (100, 2**63 - 30, 2**63 - 1, 2**63, 1e30):
        assert seen.distance(bound) is None
    assert seen.distance(-1e30) == 0


def test_bounds_end_where_64_bits_do():
    low, top = (
        WeightedQuantile(bounds=(start, start + 2**62 - 1), relation="add_remove").at(
            ([start + 5, start + 2**62 - 2], [3, 1])
        )
        for start in (0, 2**62)
    )
    assert top.value == low.value + 2**62 == 2**62 + 5
    assert [top.local(k) for k in range(9)] == [low.local(k) for k in range(9)]
    assert [top.distance(bound) for bound in (0, 5, 2**62 - 2)] == [low.distance(bound) for bound in (0, 5, 2**62 - 2)]
    for bounds in ((2**62, 2**63), (-(2**63) - 1, 0), (2**70, 2**70 + 5)):
        with pytest.raises(InvalidParameter, match="64 bits"):
            WeightedQuantile(bounds=bounds, relation="add_remove")


def test_the_distance_of_a_multiple_is_that_of_the_quantile_however_much_weight_there_is():
    function = WeightedQuantile(bounds=(0, 100), relation="add_remove")
    data = ([1, 2], [10**30, 10**30])
    assert Scaled(function=function, factor=2).at(data).distance(6) == function.at(data).distance(3) > 2**62
