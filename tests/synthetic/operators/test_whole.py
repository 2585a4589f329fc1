from collections import deque

import numpy as np
import pytest

from discreet import InvalidInput
from discreet.synthetic.operators.whole import clamped


def read(values, low=-100, high=100):
    return clamped(values, low, high, otherwise="whole numbers, please.")


@pytest.mark.parametrize("large", [101, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**40])
@pytest.mark.parametrize("kind", [list, tuple, deque])
def test_whole_numbers_of_any_size_are_clamped(large, kind):
    assert read(kind([1, large, -large, -7])).tolist() == [1, 100, -100, -7]
    assert read([[1, large], [np.int8(3), np.uint64(2**63)]]).tolist() == [[1, 100], [3, 100]]
    assert read(np.array([1, large], dtype=object)).tolist() == [1, 100]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_every_array_of_whole_numbers_is_read(kind):
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    found = read(np.array([least, 0, 5, most], dtype=kind))
    assert found.dtype == np.int64
    assert found.tolist() == [max(least, -100), 0, 5, 100]
    assert read(np.array([least, most], dtype=kind), -(2**62), 2**62).tolist() == [
        max(least, -(2**62)),
        min(most, 2**62),
    ]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("large", [2**63 - 1, 2**63, 2**64 - 1])
def test_the_order_of_bytes_does_not_matter(order, large):
    assert read(np.array([large, 3], dtype=f"{order}u8")).tolist() == [100, 3]
    assert read(np.array([-(2**63), 3], dtype=f"{order}i8")).tolist() == [-100, 3]


def test_nothing_is_no_number():
    assert read([]).shape == (0,)


@pytest.mark.parametrize("wrong", [1.5, 2.0, True, None, "7", 1j, [1], float("nan"), np.float64(3), np.True_])
@pytest.mark.parametrize("beside", [1, 2**63, 10**40])
def test_what_is_refused_depends_on_types_alone(wrong, beside):
    with pytest.raises(InvalidInput, match="please"):
        read([beside, wrong])


def test_other_arrays_are_refused():
    for wrong in (np.zeros(2), np.zeros(2, dtype=bool), "12", b"12", None, [[1], [2, 3]], [np.zeros(2), np.zeros(3)]):
        with pytest.raises(InvalidInput, match="please"):
            read(wrong)
