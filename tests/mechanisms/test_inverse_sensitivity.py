import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidParameter, UnboundedSensitivity
from discreet.mechanisms.inverse_sensitivity import InverseSensitivity
from discreet.testing import check_mechanism


@pytest.mark.parametrize(
    ("made", "neighbours"),
    [
        (InverseSensitivity(bounds=(0, 4), epsilon=1, grid=1), None),
        (InverseSensitivity(bounds=(0, 8), epsilon=2, grid=1, smoothing=1.5), ([1, 2, 5, 7], [1, 2, 7, 7])),
        (InverseSensitivity(bounds=(-2, 2), epsilon=2, grid=0.25, probability=0.2), ([0, 0, 0], [0, 0, -2])),
    ],
)
def test_keeps_the_contract(made, neighbours):
    low, high = made.bounds
    step = float(made.grid)
    outputs = [low + k * step for k in range(round((high - low) / step) + 1)]
    done = check_mechanism(made, outputs=outputs, neighbours=neighbours)
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim", "law"} <= set(done.passed)


def test_it_is_close_on_many_records():
    data = np.linspace(20, 60, 100_001)
    made = InverseSensitivity(bounds=(0, 100), epsilon=1)
    assert all(abs(made.release(data) - 40) < 0.05 for _ in range(5))
    low = InverseSensitivity(bounds=(0, 100), epsilon=1, probability=0.1)
    assert abs(low.release(data) - 24) < 0.05


@pytest.mark.parametrize(
    "data", [[], [math.nan] * 3, [math.inf, -math.inf], [1e300, -1e300], [None, 5], [10**400], np.zeros(0), [5] * 100]
)
@pytest.mark.parametrize("smoothing", [0, 1, 1e9])
def test_no_data_is_refused(data, smoothing):
    made = InverseSensitivity(bounds=(0, 10), epsilon=5, smoothing=smoothing)
    assert 0 <= made.release(data) <= 10
    assert made.changes(data, 3) >= 0
    assert made.log_probability(data, 3.0) > -math.inf


def test_equal_records_win():
    made = InverseSensitivity(bounds=(0, 10), epsilon=1, grid=1)
    assert [made.release([7] * 201) for _ in range(20)] == [7.0] * 20


def test_the_error_holds():
    made, data = InverseSensitivity(bounds=(0, 100), epsilon=1, grid=1), list(range(0, 101, 2))
    allowed = made.error(0.05)
    misses = sum(made.changes(data, made.release(data)) > allowed for _ in range(2000))
    assert misses < 2000 * 0.05 + 7 * math.sqrt(2000 * 0.05)
    assert InverseSensitivity(bounds=(0, 1), epsilon=1, smoothing=1).error(0.99) < 0.1


def test_outputs_that_cannot_be():
    made = InverseSensitivity(bounds=(0, 10), epsilon=1, grid=1)
    assert all(made.log_probability([3], y) == -math.inf for y in (-1.0, 11.0, 0.5))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"bounds": None}, UnboundedSensitivity),
        ({"bounds": (1, 0)}, InvalidParameter),
        ({"epsilon": 0}, InvalidParameter),
        ({"probability": 0}, InvalidParameter),
        ({"smoothing": -1}, InvalidParameter),
        ({"grid": 0.3}, InvalidParameter),
        ({"grid": 2.0**-80}, InvalidParameter),
    ],
)
def test_what_cannot_be(given, error):
    with pytest.raises(error):
        InverseSensitivity(**({"bounds": (0, 10), "epsilon": 1} | given))


ODD = ["a", "5", b"5", 5j, [5], (5, 6), [], {5}, {}, None, math.nan, object(), len, np.array([5]), np.array([[5]])]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("others", [[5.0, 7.0], [5, 7], [2**70, 7], [Decimal(5), 7], []])
def test_what_is_no_number_is_the_lower_bound(odd, others):
    """An error would tell that there is such a record."""
    made = InverseSensitivity(bounds=(2, 10), epsilon=1, grid=1)
    for data in ([odd, *others], [*others, odd], [odd, odd]):
        clean = [2 if x is odd else x for x in data]
        for point in range(2, 11):
            assert made.changes(data, point) == made.changes(clean, point)
        assert 2 <= made.release(data) <= 10


def test_arrays_with_odd_records():
    made = InverseSensitivity(bounds=(2, 10), epsilon=1, grid=1)
    mixed = np.array([5, "a", None, [1, 2], 7], dtype=object)
    assert [made.changes(mixed, t) for t in range(2, 11)] == [made.changes([5, 2, 2, 2, 7], t) for t in range(2, 11)]
    assert made.changes(np.array(["a", "b"]), 2) == 0
    with pytest.raises(InvalidInput, match="2 dimensions"):
        made.release(np.zeros((3, 2)))
    with pytest.raises(InvalidInput):
        made.release({1, 2})


def test_repr():
    made = InverseSensitivity(bounds=(0, 8), epsilon=Fraction(1, 3), probability=0.25, smoothing=2, grid=0.5)
    assert repr(made) == (
        "InverseSensitivity(bounds=(0, 8), epsilon=Fraction(1, 3), probability=0.25, smoothing=2, grid=0.5)"
    )
