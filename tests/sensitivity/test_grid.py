import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, InvalidParameter, UnboundedSensitivity
from discreet.sensitivity.grid import EXACT_FLOAT, Grid, total

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
WRONG_NUMBERS = [(0, math.nan), (-math.inf, 0), (0, math.inf), (1, 0), (1, 1), (0, 1e308), (0, 5e-324)]
WRONG_TYPES = [(0,), (0, 1, 2), [0, 1], "01", 5, ("0", "1"), (None, 1), (False, True), (0, 1j), {0: 1}]
thousandths = st.integers(-(10**9), 10**9).map(lambda x: x / 1000)
pairs = st.lists(thousandths, min_size=2, max_size=2, unique=True).map(lambda ends: tuple(sorted(ends)))


def over(bounds, step=None):
    return Grid.over(bounds, step, query="sum", example="Sum(bounds=(0, 1))")


def expected(pair, step, value):
    """Clamp first and round afterwards, in rationals: the definition."""
    inside = min(max(Fraction(value), Fraction(pair[0])), Fraction(pair[1]))
    return round(inside / step)


@given(pairs)
def test_the_step_is_fine_and_public(pair):
    grid = over(pair)
    width = Fraction(pair[1]) - Fraction(pair[0])
    assert grid.step <= width / 2**20
    assert grid.step <= 1
    assert abs(grid.lower - Fraction(pair[0])) <= grid.step / 2
    assert abs(grid.upper - Fraction(pair[1])) <= grid.step / 2


def test_integers_lie_on_every_default_grid():
    assert over((0, 2**40)).step == 1
    assert over((0, 500000)).step == Fraction(1, 4)


@given(pair=pairs, values=st.lists(st.floats(allow_nan=False, allow_infinity=False) | thousandths))
def test_floats_reach_their_nearest_point(pair, values):
    grid = over(pair)
    nearest = [expected(pair, grid.step, value) for value in values]
    assert list(grid.indices(np.array(values))) == nearest
    assert list(grid.indices(np.array(values, dtype=object))) == nearest


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("pair", [(-10, 10), (Fraction(-1, 3), 200), (0, 2**53), (-(2**53), 2**53), (0, 2**60)])
@pytest.mark.parametrize("step", [None, 1, 8])
def test_integers_reach_their_nearest_point(dtype, pair, step):
    limits = np.iinfo(dtype)
    candidates = [limits.min, limits.max, 0, 1, 12, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1]
    values = [value for value in candidates if limits.min <= value <= limits.max]
    grid = over(pair, step)
    nearest = [expected(pair, grid.step, value) for value in values]
    assert list(grid.indices(np.array(values, dtype=dtype))) == nearest
    assert list(grid.indices(values)) == nearest


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_odd_floats_are_harmless(dtype):
    grid = over((-3, 10))
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 1.5], dtype=dtype)
    expected = [grid.lowest, grid.highest, grid.lowest, 0, 3 * 2**16]
    assert list(grid.indices(values)) == list(grid.indices(values.astype(object))) == expected


def test_mixed_lists_are_harmless():
    grid = over((-3, 10), 1)
    assert grid.indices([10**400, 1.5, -(10**400)]) == [10, 2, -3]
    assert list(grid.indices([2**63, -1])) == [10, -1]
    assert grid.indices([None, Decimal("2.5"), Fraction(7, 2), True, Decimal("sNaN")]) == [-3, 2, 4, 1, -3]
    assert grid.indices(np.ma.masked_array([1, 2], mask=[True, False])) == [-3, 2]
    assert list(grid.indices(value for value in (1, 2))) == [1, 2]
    assert len(grid.indices([])) == 0


def test_masked_values_are_missing_without_a_word():
    grid = over((-3, 10), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in ([1, np.ma.masked], [1.5, np.ma.masked], [10**400, np.ma.masked], [np.ma.masked]):
            assert list(grid.indices(rows))[-1] == -3
        with pytest.raises(InvalidInput):
            grid.indices([[1, np.ma.masked], [2, 3]])


def test_ties_go_to_even():
    assert list(over((0, 10), 1).indices([0.5, 1.5, 2.5])) == over((0, 2**60), 1).indices([0.5, 1.5, 2.5]) == [0, 2, 2]


@given(st.lists(st.integers(-EXACT_FLOAT, EXACT_FLOAT)), st.integers(1, 500))
def test_totals_are_exact(values, times):
    assert total(np.array(values * times, dtype=np.int64)) == total(values * times) == times * sum(values)


def test_totals_of_extreme_integers_are_exact():
    assert total(np.full(3, -(2**63))) == -3 * 2**63
    assert total(np.full(3, 2**62)) == 3 * 2**62


def test_missing_bounds_are_refused():
    with pytest.raises(UnboundedSensitivity, match=r"the sum has no bounds.*Write Sum\(bounds=\(0, 1\)\)"):
        over(None)


@pytest.mark.parametrize("pair", WRONG_NUMBERS + WRONG_TYPES)
def test_other_bounds_are_refused(pair):
    with pytest.raises(InvalidParameter) as caught:
        over(pair)
    assert not isinstance(caught.value, UnboundedSensitivity)


@pytest.mark.parametrize("step", [0, -1, 3, 0.1, math.nan, math.inf, "1"])
def test_steps_must_be_powers_of_two(step):
    with pytest.raises(InvalidParameter, match="grid must be"):
        over((0, 10), step)


def test_steps_must_tell_the_bounds_apart():
    with pytest.raises(InvalidParameter, match="tell the bounds apart"):
        over((0, 1), 4)


@pytest.mark.parametrize("data", [["12345"], [1, "12345"], [12345j], [[12345, 1]], [[12345], [1, 2]], [{"a": 12345}]])
def test_other_data_are_refused_without_showing_them(data):
    with pytest.raises(InvalidInput) as caught:
        over((0, 1)).indices(data)
    assert "12345" not in str(caught.value)
