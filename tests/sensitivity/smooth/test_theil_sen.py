import itertools
import math

import numpy as np
import pytest

from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.sensitivity.smooth import Function
from discreet.sensitivity.smooth.order import SampleQuantile
from discreet.sensitivity.smooth.theil_sen import TheilSen, _slopes

RECORDS = [(0, 0), (1, 0), (1, 2), (3, 1)]
BOUNDS = (-1, 2)


def by_definition(function, records, size, levels):
    """Return all values, and the largest local sensitivities within 0, 1, ... records; one axis for each record."""
    seen = [function.at(list(data)) for data in itertools.product(records, repeat=size)]
    values = np.array([here.value for here in seen]).reshape([len(records)] * size)
    moves = [
        np.maximum(values.max(t, keepdims=True) - values, values - values.min(t, keepdims=True)) for t in range(size)
    ]
    found = [np.max(moves, axis=0)]
    for _ in range(levels - 1):
        around = [np.broadcast_to(found[-1].max(t, keepdims=True), values.shape) for t in range(size)]
        found.append(np.max(around, axis=0))
    return seen, np.array(found)


def check(function, size, levels=4):
    seen, wanted = by_definition(function, RECORDS, size, levels)
    found = np.array([[here.local(k) for here in seen] for k in range(levels + 1)]).reshape(-1, *wanted.shape[1:])
    assert (found[:-1] >= wanted * (1 - 1e-12)).all()
    for t in range(size):
        assert (found[:-1].max(t + 1) <= found[1:].min(t + 1) * (1 + 1e-12)).all()
    for beta in (0.1, 1):
        smooth = np.array([here.smooth(beta) for here in seen]).reshape(wanted.shape[1:])
        assert (smooth >= wanted[0]).all()
        for t in range(size):
            assert (smooth.max(t) <= smooth.min(t) * math.exp(beta) * (1 + 2**-29)).all()
    return found[:-1], wanted


@pytest.mark.parametrize(("size", "matchings"), [(2, 1), (3, 2), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2)])
def test_levels_bound_the_definition_and_are_smooth(size, matchings):
    found, wanted = check(TheilSen(bounds=BOUNDS, matchings=matchings), size)
    assert (found >= wanted).all()


class OneMatchingTooFew(TheilSen):
    """One record is taken to be in fewer slopes than it is."""

    def at(self, records):
        points = np.array(records, dtype=float)
        slopes = np.concatenate([_slopes(points, self._matching(len(points), i)) for i in range(self.matchings)])
        slopes[np.isnan(slopes)] = 0.5
        return SampleQuantile(probability=0.5, bounds=BOUNDS, rows=self.matchings - 1).at(slopes)


def test_a_window_that_is_too_narrow_is_caught():
    with pytest.raises(AssertionError):
        check(OneMatchingTooFew(bounds=BOUNDS, matchings=2), 4)


def test_matchings_are_public_and_each_position_is_in_one_pair():
    function = TheilSen(bounds=BOUNDS, matchings=3)
    assert function._matching(7, 1).tolist() == TheilSen(bounds=(0, 9))._matching(7, 1).tolist()
    for size in (2, 3, 10, 101):
        for i in range(3):
            pairs = function._matching(size, i)
            assert pairs.shape == (size // 2, 2)
            assert np.unique(pairs).size == size // 2 * 2
    assert function._matching(100, 0).tolist() != function._matching(100, 1).tolist()
    assert function._matching(100, 0).tolist() != TheilSen(bounds=BOUNDS, salt="b")._matching(100, 0).tolist()


def test_a_slope_is_found_in_spite_of_outliers():
    generator = np.random.default_rng(1950)
    x = generator.random(2000)
    y = 3 * x + generator.normal(0, 0.1, 2000)
    y[:200] = 1e9
    here = TheilSen(bounds=(-20, 20), matchings=5).at(np.stack([x, y], axis=1))
    assert abs(here.value - 3) < 0.1
    assert here.smooth(0.05) < 0.5


@pytest.mark.parametrize("data", [[], [(1, 2)], [None], np.empty((0, 2))])
def test_too_few_records_have_the_middle_slope(data):
    here = TheilSen(bounds=(0, 4)).at(data)
    assert (here.value, here.local(5)) == (2, 0)


@pytest.mark.parametrize(
    "row",
    [None, (1,), "ab", (math.nan, 1), (1, None), (1, 2, 3), (10**400, 1), ("1", 2), (math.inf, math.inf)],
)
def test_a_row_that_cannot_be_read_has_the_middle_slope(row):
    assert TheilSen(bounds=(0, 4)).at([(0.0, 0.0), row]).value == 2


def test_slopes_are_clamped_and_equal_places_have_the_middle_slope():
    function = TheilSen(bounds=(0, 4))
    assert function.at([(0, 0), (1, 9)]).value == 4
    assert function.at([(0, 0), (1, math.inf)]).value == 4
    assert function.at([(0, 0), (1, -9)]).value == 0
    assert function.at([(1, 0), (1, 9)]).value == 2
    assert function.at(np.array([[0, -1.7e308], [1, 1.7e308]])).value == 4


def test_a_public_size_is_kept():
    function = TheilSen(bounds=(0, 4), size=2)
    assert function.at([(0, 0), (1, 1), (5, 5)]).value == 1
    assert function.at([(0, 0)]).value == 2


def test_it_is_a_function_of_points():
    function = TheilSen(bounds=(0, 4), matchings=2)
    assert isinstance(function, Function)
    assert (function.relation, function.size, function.range) == ("replace_one", None, (0, 4))
    assert (function.dimension, function.norm) == (1, 1)


def test_settings_are_checked():
    with pytest.raises(UnboundedSensitivity):
        TheilSen()
    for settings in ({"matchings": 0}, {"matchings": 1.0}, {"salt": 5}, {"size": 0}, {"bounds": (1, 1)}):
        with pytest.raises(InvalidParameter):
            TheilSen(**{"bounds": (0, 1), **settings})


def test_a_record_that_numpy_would_read_does_not_count_more_among_numbers():
    masked = np.ma.array([1, 2], mask=[True, False])
    alone, among = (TheilSen(bounds=(-10, 10)).at([(0, 1), masked, *rest]) for rest in ([], [None]))
    assert alone.value == among.value == 0
