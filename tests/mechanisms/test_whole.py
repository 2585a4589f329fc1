import numpy as np
import pytest

from discreet import DiscreteGaussian, Geometric, InvalidInput
from discreet.mechanisms.whole import add_noise

TOP, BOTTOM = 2**63 - 1, -(2**63)


@pytest.mark.parametrize(
    ("value", "noise", "sum_"), [(TOP, 5, TOP), (BOTTOM, -5, BOTTOM), (TOP, -5, TOP - 5), (3, 4, 7)]
)
def test_arrays_saturate_instead_of_wrapping(value, noise, sum_):
    assert add_noise(np.array([value]), lambda size: np.array([noise]), "it").tolist() == [sum_]


def test_noise_beyond_64_bits_saturates_the_sum_and_not_the_noise():
    noise = np.array([10**30, -(10**30), 10**30 - 10**30 + 1], dtype=object)
    assert add_noise(np.zeros(3, dtype=np.int64), lambda size: noise, "it").tolist() == [TOP, BOTTOM, 1]


def test_python_ints_are_exact_at_any_size():
    assert add_noise(10**40, lambda size: -1, "it") == 10**40 - 1


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_narrow_types_are_widened(dtype):
    released = add_noise(np.array([np.iinfo(dtype).max], dtype=dtype), lambda size: np.array([1]), "it")
    assert released.dtype == np.int64
    assert released[0] == min(int(np.iinfo(dtype).max) + 1, TOP)


def test_lists_tuples_and_big_python_ints_are_arrays():
    assert add_noise([1, 2], lambda size: np.zeros(size, np.int64), "it").tolist() == [1, 2]
    assert add_noise((10**30, 2), lambda size: np.zeros(size, np.int64), "it").tolist() == [TOP, 2]


def test_an_empty_array_is_a_value():
    assert Geometric(sensitivity=1, epsilon=1).release(np.array([], dtype=np.int64)).shape == (0,)


@pytest.mark.parametrize("mechanism", [Geometric(sensitivity=1, epsilon=1), DiscreteGaussian(sensitivity=1, sigma=1)])
@pytest.mark.parametrize("value", [1.0, True, "1", None, np.array([1.5]), np.array(["a"]), 1j, np.array([True])])
def test_only_whole_numbers_are_taken(mechanism, value):
    with pytest.raises(InvalidInput, match="whole numbers"):
        mechanism.release(value)


@pytest.mark.parametrize("order", "<>")
def test_the_order_of_bytes_does_not_matter(order):
    for large in (2**63 - 1, 2**63, 2**64 - 1):
        given = np.array([large, 3], dtype=f"{order}u8")
        assert add_noise(given, lambda size: np.zeros(size, dtype=np.int64), "Geometric").tolist() == [2**63 - 1, 3]
