import math

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.mechanisms.points import as_points, on_grid


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
    for odd in (None, 3, "xy", (1, 2, 3), (), Hostile(), {1: 2}, (1, 10**400), (math.nan, 1)):
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
