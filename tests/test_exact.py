import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.exact import ball, down, enclose, finite, log2_floor, positive, probability, show, smallest, up, upward

floats = st.floats(allow_nan=False, allow_infinity=False)
rationals = st.fractions() | floats.map(Fraction) | st.integers(-(2**400), 2**400).map(Fraction)


@given(rationals)
def test_bounds_enclose_a_rational_and_are_tight(x):
    low, high = down(lambda: ball(x)), up(lambda: ball(x))
    assert low <= x <= high
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@given(st.floats(-700, 700))
def test_bounds_enclose_an_exponential(x):
    low, high = down(lambda: ball(x).exp()), up(lambda: ball(x).exp())
    before, ctx.prec = ctx.prec, 200
    try:
        assert arb(low) <= arb(x).exp() <= arb(high)
    finally:
        ctx.prec = before
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_beyond_floats_stay_on_their_side(sign):
    """A lower bound of 10^400 is the largest float, not infinity."""
    low, high = down(lambda: sign * ball(10) ** 400), up(lambda: sign * ball(10) ** 400)
    assert (low, high) == ((np.finfo(float).max, np.inf) if sign > 0 else (-np.inf, -np.finfo(float).max))


def test_bounds_below_floats_stay_on_their_side():
    assert up(lambda: (-ball(1000)).exp()) == 5e-324
    assert down(lambda: (-ball(1000)).exp()) == 0
    assert down(lambda: -(-ball(1000)).exp()) == -5e-324


@given(rationals)
def test_shown_numbers_are_read_back(x):
    assert Fraction(eval(show(x), {"Fraction": Fraction})) == x


@given(floats)
def test_shown_floats_are_read_back(x):
    assert eval(show(x), {"Fraction": Fraction}) == x


@given(st.fractions(min_value=Fraction(1, 10**30)) | st.integers(-900, 900).map(lambda k: Fraction(2) ** k))
def test_log2_floor(x):
    k = log2_floor(x)
    assert Fraction(2) ** k <= x < Fraction(2) ** (k + 1)


@given(
    st.integers(-(2**900), 2**900) | st.fractions() | st.floats(-1e300, 1e300).filter(lambda x: not 0 < abs(x) < 1e-300)
)
def test_finite_is_exact(x):
    assert finite(x, "x") == Fraction(x)


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.int64(-7), -7),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (Decimal("0.1"), Fraction(1, 10)),
        (-0.0, 0),
    ],
    ids=repr,
)
def test_other_numbers_are_exact_too(value, truth):
    assert finite(value, "x") == truth


@pytest.mark.parametrize(
    "bad",
    [math.nan, math.inf, Decimal("nan"), Decimal("inf"), "1", None, True, np.True_, 1j, 10**400, 5e-324, [1]],
    ids=repr,
)
def test_other_things_are_refused_by_name(bad):
    for read in (finite, positive, probability):
        with pytest.raises(InvalidParameter, match=r"^epsilon must"):
            read(bad, "epsilon")


@pytest.mark.parametrize("bad", [0, -1, -0.0, -1e-300])
def test_positive(bad):
    with pytest.raises(InvalidParameter, match="x must be above 0"):
        positive(bad, "x")


@given(st.fractions(-1, 2), st.booleans(), st.booleans())
def test_probabilities(p, zero, one):
    allowed = 0 < p < 1 or (zero and p == 0) or (one and p == 1)
    if allowed:
        assert probability(p, "p", zero=zero, one=one) == p
    else:
        with pytest.raises(InvalidParameter, match="p must lie"):
            probability(p, "p", zero=zero, one=one)


@given(rationals.filter(lambda x: abs(x) < 2**1000))
def test_upward_is_the_least_float_above(x):
    high = upward(x)
    assert high >= x
    assert math.nextafter(high, -math.inf) < x


@pytest.mark.parametrize("extra", [Fraction(0), Fraction(1, 3)])
def test_numbers_beyond_all_floats_are_rounded_and_shown(extra):
    huge = 10**400 + extra
    assert upward(huge) == math.inf
    assert upward(-huge) == -sys.float_info.max
    assert eval(show(huge), {"Fraction": Fraction}) == huge


@given(st.floats(0, 1e15))
def test_smallest_errs_on_the_safe_side(x):
    found = smallest(lambda y: y >= x)
    assert x <= found <= x * (1 + 1e-12) + 1e-299


def test_smallest_with_a_cap():
    assert smallest(lambda x: False) == math.inf
    assert smallest(lambda x: False, cap=3) == 3
    assert smallest(lambda x: x >= 2.5, cap=3) == pytest.approx(2.5)


def test_enclose_gives_up_rather_than_guess():
    with pytest.raises(InvalidParameter, match="too extreme"):
        enclose(lambda: arb(0).log())


def test_enclose_raises_the_precision_until_it_is_tight():
    value = enclose(lambda: (arb(1) + ball(2) ** -500) - 1)
    assert value.rel_accuracy_bits() >= 60
    before = ctx.prec
    with pytest.raises(ZeroDivisionError):
        enclose(lambda: 1 // 0)
    assert ctx.prec == before
