"""Numbers on the grid: the same whole number in the engine and in Python, within the ends, whatever the value is."""

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.tables.grid import FINE, Grid
from discreet.tables.kinds import Interval

HOSTILE = [
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e308, -1e308, 1.7976931348623157e308,
    0.5, -0.5, 0.49999999999999994, 1.5, 2.5, 0.1, 1 / 3, 7.0, -3.0, math.nextafter(7, 8), math.nextafter(-3, -4),
    2.0**53, 2.0**53 + 2, -(2.0**63), 123456.789, 499.99999999, 1e15 + 0.5,
]  # fmt: skip

BOUNDS = [
    (-3, 7), (0, 500), (0, 0), (5, 5), (-1, 0), (0.1, 0.3), (0, 2**53), (-(2**53), 2**53), (1e-9, 2e-9),
    (1e9, 1e9 + 1), (-1e-200, 1e-200), (499, 500), (2**53 - 1, 2**53),
]  # fmt: skip

ENDS = st.floats(-(2.0**53), 2.0**53, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-300)
INTERVALS = st.tuples(ENDS, ENDS).map(lambda pair: Interval.of(*sorted(pair)))


def in_engine(values, bounds, aggregate, *, kind=None, declared=None):
    """Return the whole number of each value, found by a plan's own SQL, and the grid."""
    data = pa.table({"id": list(range(len(values))), "x": pa.array(values, type=kind or pa.float64())})
    column = dp.Bounds(*bounds, type=declared)
    session = dp.Session(data, name="t", schema={"x": column}, unit=dp.Row(), budget=dp.Budget(1, 1e-6), threads=1)
    plan = session.planned(session.query.group_by("id").agg(a=aggregate), epsilon=1)
    measure = plan.measures[plan.columns[0].inputs[0]]
    found = session._tables.engine.run(plan.rows.totals([measure])).to_pylist()
    return measure.grid, {row["k_0"]: row[measure.name] for row in found}


@pytest.mark.parametrize("aggregate", [dp.sum("x"), dp.mean("x"), dp.sum(dp.col("x") + 0.0)])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_the_engine_and_python_find_the_same_whole_number(bounds, aggregate):
    grid, found = in_engine(HOSTILE, bounds, aggregate)
    for place, value in enumerate(HOSTILE):
        missing = value is None or math.isnan(value)
        assert found[place] == (0 if missing else grid.number(value))
        assert min(grid.lowest, 0) <= found[place] <= max(grid.highest, 0)


@pytest.mark.parametrize("declared", ["int", "float"])
def test_a_column_counts_as_what_it_was_declared(declared):
    """Whole numbers are cut towards 0 when they are read, and are not rounded again."""
    _, found = in_engine([1.7, -1.7, 2.2, None], (-3, 7), dp.sum("x"), declared=declared)
    _, same = in_engine([1.7, -1.7, 2.2, None], (-3, 7), dp.sum(dp.col("x") + 0), declared=declared)
    assert found == same
    if declared == "int":
        assert found == {0: 1, 1: -1, 2: 2, 3: 0}


def test_whole_numbers_stay_whole():
    values = [0, 1, -1, 2**63 - 1, -(2**63), 2**53, 2**53 + 1, 999, None]
    grid, found = in_engine(values, (-5, 1000), dp.sum("x"), kind=pa.int64())
    assert grid.step == 1
    assert list(dict(sorted(found.items())).values()) == [0, 1, -1, 1000, -5, 1000, 1000, 999, 0]


@given(INTERVALS, st.booleans(), st.booleans())
def test_numbers_fit_so_that_many_add_up_exactly(interval, whole, centred):
    grid = Grid.over(interval, whole=whole, centred=centred)
    assert max(abs(grid.lowest), abs(grid.highest)) <= 2**FINE
    assert grid.lowest <= 0 <= grid.highest or not centred
    assert not whole or grid.step >= 1


@given(INTERVALS, st.booleans(), st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_grid_keeps_the_order_and_the_ends(interval, centred, a, b):
    grid = Grid.over(interval, whole=False, centred=centred)
    low, high = sorted((a, b))
    assert grid.lowest <= grid.number(low) <= grid.number(high) <= grid.highest


@given(st.sampled_from([-500.0, -0.1, 0.0, 1e-9, 300.0]), st.floats(0.125, 1000), st.floats(0, 1), st.booleans())
def test_a_value_is_off_by_half_a_step(low, width, share, centred):
    interval = Interval.of(low, low + width)
    grid = Grid.over(interval, whole=False, centred=centred)
    value = min(max(low + share * width, float(interval.low)), float(interval.high))
    point = (grid.number(value) + grid.centre) * grid.step
    assert abs(point - Fraction(value)) <= grid.step / 2 + Fraction(2) ** -40 * interval.magnitude


@given(INTERVALS)
def test_the_step_is_a_power_of_two_that_only_bounds_decide(interval):
    grid = Grid.over(interval, whole=False)
    numerator, denominator = grid.step.numerator, grid.step.denominator
    assert numerator & (numerator - 1) == denominator & (denominator - 1) == 0
    assert grid == Grid.over(interval, whole=False)


def test_the_check_catches_a_grid_that_does_not_clamp():
    grid, found = in_engine(HOSTILE, (-3, 7), dp.sum("x"))
    assert found[HOSTILE.index(1e308)] == grid.highest
    assert math.floor(math.ldexp(123456.789, grid.exponent) + 0.5) > grid.highest  # what it would be without
