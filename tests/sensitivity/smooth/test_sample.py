"""Reading: nothing but values matters, and sums are exact."""

import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidInput, InvalidParameter, UnboundedSensitivity
from discreet.sensitivity.smooth.sample import Fixed, check_bounds, sample


class Unreadable:
    def __array__(self, *args, **kwargs):
        raise RuntimeError


class Readable:
    """numpy would read it among numbers, and not among others."""

    def __array__(self, *args, **kwargs):
        return np.array(5.0)


class Unfloatable(float):
    def __float__(self):
        raise RuntimeError


ODD = [float("nan"), None, "7", [1, 2], 2j, float("inf"), -float("inf"), 10**400, -(10**400), Decimal("NaN"), True]
ODD += [np.timedelta64(3), np.timedelta64("NaT"), Unreadable(), Readable(), Unfloatable(7), memoryview(b"7")]
READ = [0, 0, 0, 0, 0, 10, 0, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("record", "read"), list(zip(ODD, READ, strict=True)), ids=map(str, range(len(ODD))))
@pytest.mark.parametrize("others", [[], [3, 4], [2.5], [None], [np.float64(3)], [Fraction(1, 3)]])
def test_a_record_is_read_alike_whatever_the_others_are(record, read, others):
    alone = sorted([*sample(others, (0, 10))[1:-1], read])
    assert sample([*others, record], (0, 10))[1:-1].tolist() == alone


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, np.int8, np.uint8, np.int64, object, np.longdouble]
)
def test_every_type_of_array_is_clamped_as_float64(dtype):
    data = np.array([0, 1, 2, 100], dtype=dtype)
    assert sample(data, (0.1, 99.3)).tolist() == [0.1, 0.1, 1.0, 2.0, 99.3, 99.3]


def test_containers_do_not_matter_and_nothing_is_changed():
    data = np.array([3.0, np.nan, 1.0])
    kept = data.copy()
    for other in (data, data.tolist(), tuple(data), pd.Series(data), iter(data.tolist())):
        assert sample(other, (0, 2)).tolist() == [0, 0, 1, 2, 2]
    np.testing.assert_array_equal(data, kept)
    with pytest.raises(InvalidInput, match="sequence of records"):
        sample({1, 2}, (0, 2))


def test_no_warning_tells_of_the_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sample(np.array([np.nan, np.inf, 1e308, 5e-324]), (-1e300, 1e300), grid=Fixed((-1e300, 1e300)))
        assert sample(np.array([np.longdouble("1e4000")]), (0, 1)).tolist() == [0, 1, 1]
        assert sample([np.ma.masked, 1.0], (0, 1)).tolist() == [0, 0, 1, 1]


def test_many_records_are_read_in_blocks():
    data = np.random.default_rng(2).normal(size=200_001)
    assert (sample(data, (-1.0, 1.0))[1:-1] == np.sort(np.clip(data, -1, 1))).all()


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-3.7, 1e-3), (1e300, 1.5e300), (0.0, 2.0**-990), (-1e6, 1e6)])
def test_sums_on_the_grid_are_exact(bounds):
    generator = np.random.default_rng(9)
    grid = Fixed(bounds)
    data = bounds[0] + (bounds[1] - bounds[0]) * generator.random(5000)
    points = sample(data, bounds, grid=grid)[1:-1]
    assert grid.total(points) == sum(map(Fraction, points.tolist()))
    assert max(abs(Fraction(a) - Fraction(b)) for a, b in zip(points, np.sort(data), strict=True)) <= grid.step / 2
    assert all(Fraction(point) % grid.step == 0 for point in points[:50].tolist())
    ends = sample([*bounds, *bounds], bounds, grid=grid)
    assert grid.total(ends) == sum(map(Fraction, ends.tolist()))


def test_a_float_sum_would_not_be_exact():
    data = np.random.default_rng(9).random(5000)
    assert Fraction(float(data.sum())) != sum(map(Fraction, data.tolist()))


def test_wrong_bounds_are_refused():
    with pytest.raises(UnboundedSensitivity):
        check_bounds(None, query="median", example="Median(bounds=(0, 1))")
    with pytest.raises(InvalidParameter, match="pair"):
        check_bounds([0, 1], query="median", example="Median(bounds=(0, 1))")
    with pytest.raises(InvalidParameter, match="below"):
        check_bounds((1, 1 + Fraction(1, 10**30)), query="median", example="Median(bounds=(0, 1))")


def test_a_missing_duration_is_read_as_every_duration():
    for missing in (3, "NaT"):
        data = np.array([1, 2, missing], dtype="timedelta64[ns]")
        assert sample(data, (0, 10)).tolist() == sample(pd.Series(data), (0, 10)).tolist() == [0, 0, 0, 0, 10]


@pytest.mark.parametrize("dtype", [np.int64, np.float32, object])
def test_masked_numbers_are_missing(dtype):
    data = np.ma.array([1, 9, 3], mask=[False, True, False], dtype=dtype)
    assert sample(data, (0, 10)).tolist() == [0, 0, 1, 3, 10]


def test_more_records_than_the_public_number_are_cut_alike_in_every_order():
    values = (0, 1, 4)
    cut = {data: sample(data, (0, 4), size=2)[1:-1].tolist() for data in product(values, repeat=4)}
    for data, kept in cut.items():
        assert kept == cut[tuple(sorted(data))]
        for i, value in product(range(4), values):
            other = cut[(*data[:i], value, *data[i + 1 :])]
            assert sum((Counter(kept) - Counter(other)).values()) <= 1
