import itertools
import math
import warnings
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.mechanisms.points import as_points, on_grid
from discreet.units import multiset


class Place(NamedTuple):
    x: float
    y: float


class Size(IntEnum):
    LARGE = 7


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, np.float64, bool])
def test_arrays_say_the_same_as_lists(dtype):
    array = np.array([0, 1, 1, 0]).astype(dtype)
    assert as_points(array, 1).tolist() == as_points(array.tolist(), 1).tolist()
    assert as_points(array.reshape(2, 2), 2).tolist() == as_points(array.reshape(2, 2).tolist(), 2).tolist()


def test_one_record_changes_its_own_row_alone():
    class Hostile:
        def __iter__(self):
            raise SystemExit

        def __float__(self):
            raise MemoryError

    good = [(0.25, 4), (0.5, 5)]
    for odd in (None, 3, "xy", (1, 2, 3), (), Hostile(), {1: 2}, (1, b"7"), (math.nan, 1)):
        found = as_points([good[0], odd, good[1]], 2)
        assert found[[0, 2]].tolist() == [[0.25, 4], [0.5, 5]]
        assert np.isnan(found[1]).any()


def test_what_is_refused_is_a_matter_of_shape():
    assert as_points(np.zeros((0, 2)), 2).shape == as_points([], 2).shape == as_points(np.array([]), 2).shape == (0, 2)
    for wrong in (np.zeros((3, 3)), np.zeros(3), np.zeros((1, 1, 2))):
        with pytest.raises(InvalidInput, match="2 numbers"):
            as_points(wrong, 2)
    for wrong in ("ab", 3.0, {1, 2}, {"a": 1}):
        with pytest.raises(InvalidInput):
            as_points(wrong, 2)


def test_a_point_has_one_cell_whatever_it_is():
    points = np.array([[-math.inf], [math.inf], [math.nan], [-1e308], [1e308], [0.0], [1.0], [0.5]])
    assert on_grid(points, ((0.0, 1.0),), 4).ravel().tolist() == [0, 3, 0, 0, 3, 0, 3, 2]
    tiny = on_grid(points, ((0.0, 5e-324),), 4)
    assert ((tiny >= 0) & (tiny < 4)).all()
    wide = on_grid(points, ((-8e307, 8e307),), 1 << 24)
    assert ((wide >= 0) & (wide < 1 << 24)).all()


SAME = [
    ({1: 0, 9: 0}, {9: 0, 1: 0}),
    ({0, 8}, {8, 0}),
    ((1, 2), [1, 2]),
    ((1, 2), np.array([1.0, 2.0])),
    ((1, 2), Place(1, 2)),
    ((1, 2), np.array([(1, 2)], dtype="i4,f8")[0]),
    ((1, 2), (np.array(1), np.float32(2))),
    (((1,), (2,)), (np.array([1]), np.array([2]))),
    ((1j, 1), (np.complex128(1j), 1)),
    ((1 + 0j, 1), (np.complex128(1), 1)),
    ((math.nan, 1), (np.longdouble("nan"), True)),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=range(len(SAME)))
def test_records_that_are_the_same_are_the_same_point(one, other):
    assert multiset([one]) == multiset([other])
    assert np.array_equal(as_points([one], 2), as_points([other], 2), equal_nan=True)


@pytest.mark.parametrize("odd", [{7}, {7: 1}, b"7", bytearray(b"7"), range(7, 8), iter([7]), "7", 7j, (b"7",), [{7}]])
def test_only_numbers_are_numbers(odd):
    assert np.isnan(as_points([odd], 1)).all()
    assert np.isnan(as_points(np.array([b"7"]), 1)).all()


def test_numbers_of_all_kinds():
    given = [7, 7.0, np.int8(7), np.float16(7), np.longdouble(7), np.array(7), [7], (7,), np.array([7]), Size.LARGE]
    assert as_points([*given, Fraction(7), Decimal(7)], 1).ravel().tolist() == [7.0] * 12
    large = [10**400, Fraction(10**400), Decimal("1e400"), math.inf, np.longdouble("1e4000")]
    assert as_points(large, 1).ravel().tolist() == [math.inf] * 5
    assert as_points([-one for one in large], 1).ravel().tolist() == [-math.inf] * 5


def test_what_has_no_end_is_not_read():
    assert np.isnan(as_points([itertools.count(), range(10**15), itertools.repeat(1.0)], 1)).all()


def test_a_class_of_classes_is_not_asked():
    def fail(*_):
        raise RuntimeError("a value")

    odd = type("Meta", (type,), {"__eq__": fail, "__hash__": lambda _: 1})("Odd", (), {})()
    assert as_points([0.5, odd], 1).ravel()[0] == 0.5
    assert np.isnan(as_points([odd, (1, odd)], 2)).any(axis=1).all()


@pytest.mark.parametrize("value", ["0.5", "1e4000", "-1e4000", "1e-4000"])
def test_no_value_is_heard_of(value):
    """Neither by a warning, nor where numpy is told to raise."""
    array = np.array([0.1, value], dtype=np.longdouble)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for data in (array, list(array)):
            assert on_grid(as_points(data, 1), ((0.0, 1.0),), 4)[0] == 0
        assert on_grid(np.array([[1e-20], [5e-324], [0.0]]), ((0.0, 1e300),), 8).tolist() == [[0], [0], [0]]


@pytest.mark.parametrize("width", [4e-323, 1e-310, 1.0, 1e300, 1.6e308])
def test_cells_are_equally_wide_however_wide_the_box_is(width):
    points = np.array([[0.05 * width], [0.3 * width], [0.55 * width], [0.8 * width], [width]])
    wanted = [min(int(one / width * 4), 3) for one in points.ravel()]
    assert on_grid(points, ((0.0, width),), 4).ravel().tolist() == wanted
    assert len(set(wanted)) == 4


@pytest.mark.parametrize("bits", [52, 53, 54, 60])
def test_the_last_cell_is_the_last(bits):
    found = on_grid(np.array([[0.0], [0.5], [1.0], [math.inf]]), ((0.0, 1.0),), 2**bits).ravel()
    assert found.tolist() == [0, 2 ** (bits - 1), 2**bits - 1, 2**bits - 1]
