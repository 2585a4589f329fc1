import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.sensitivity.reals import real


@pytest.mark.parametrize(
    "value",
    [0, -7, 2**53 + 1, 10**400, 0.1, 5e-324, -1.7e308, Fraction(1, 3), True, *np.arange(3, dtype=np.int8)],
)
def test_numbers_keep_their_exact_value(value):
    assert real(value) == Fraction(int(value) if isinstance(value, np.integer) else value)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_extreme_integers_become_python_integers(dtype):
    exact = real(np.iinfo(dtype).max * np.ones(1, dtype=dtype)[0])
    assert exact + exact == 2 * int(np.iinfo(dtype).max)


def test_short_floats_keep_their_exact_value():
    assert real(np.float32(0.1)) == Fraction(float(np.float32(0.1))) != Fraction(0.1)


@pytest.mark.parametrize("value", [None, math.nan, np.float32("nan"), Decimal("NaN"), Decimal("sNaN")])
def test_missing_values_are_nan(value):
    assert math.isnan(real(value))


@pytest.mark.parametrize("value", [math.inf, np.float16("inf"), Decimal("1e400"), Decimal("Infinity")])
def test_infinities_stay_infinite(value):
    assert real(value) == math.inf


@pytest.mark.parametrize("value", ["123", b"1", 1j, [1], (1,), {"a": 1}, object(), np.datetime64("2020-01-01")])
def test_other_values_are_refused_without_showing_them(value):
    with pytest.raises(InvalidInput, match=f"type {type(value).__name__}") as caught:
        real(value)
    assert "123" not in str(caught.value)
