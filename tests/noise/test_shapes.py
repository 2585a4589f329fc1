"""Parameters and sizes: one way to read them, one error for what is wrong."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.noise import discrete_gaussian, discrete_laplace, geometric
from discreet.noise.shapes import Spec, exact_array, shape_of

each = pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian, geometric])

BAD = [0, -1, -0.0, np.nan, np.inf, -np.inf, 10**400, Fraction(1, 10**400), "1", b"1", None, True, 1j, {}, np.bool_(1)]


@each
@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_scale_is_refused(draw, bad):
    with pytest.raises(InvalidParameter, match=r"^(scale|sigma) must"):
        draw(bad)
    with pytest.raises(InvalidParameter, match=r"scale|sigma"):
        draw([1, bad])


@each
@pytest.mark.parametrize(
    "bad",
    [[0.0], [np.nan], [5e-324], [1.7e308], [True], ["1"], [1j], [None], [0], [-1], "x", 1j, True, np.nan],
    ids=repr,
)
def test_what_is_no_array_of_scales_is_refused(draw, bad):
    with pytest.raises(InvalidParameter, match=r"scale|sigma"):
        draw(np.array(bad))


@each
def test_ragged_lists_are_refused(draw):
    with pytest.raises(InvalidParameter, match="got list"):
        draw([[1], [1, 2]])


@each
def test_sizes(draw):
    assert type(draw(3)) is int
    assert draw(3, size=0).shape == (0,)
    assert draw(3, size=()).shape == ()
    assert draw(3, size=(2, 0)).shape == (2, 0)
    assert draw(3, size=(2, 3)).shape == (2, 3)
    assert draw(2**70, size=(2, 3)).shape == (2, 3)
    assert draw(2**70, size=0).shape == (0,)
    assert draw([1, 2, 3]).shape == (3,)
    assert draw([]).shape == (0,)
    assert draw(np.ones((2, 3))).shape == (2, 3)
    assert draw([1, 2, 3], size=(4, 3)).shape == (4, 3)
    assert draw(np.array(2.0)).shape == ()


@each
@pytest.mark.parametrize("size", [-1, (2, -1), 1.5, "3", (1.5,), object()])
def test_what_is_no_size_is_refused(draw, size):
    with pytest.raises(InvalidParameter, match="size must"):
        draw(3, size=size)


@each
def test_a_size_that_does_not_fit(draw):
    with pytest.raises(InvalidParameter, match="does not fit size"):
        draw([1, 2, 3], size=2)


@each
@pytest.mark.parametrize("one", [1, 1.0, Fraction(1), Decimal(1), np.float32(1), np.int8(1), np.uint64(1)])
def test_every_kind_of_number(draw, one):
    assert isinstance(draw(one), int)
    assert draw([one, one]).shape == (2,)


def test_lists_are_kept_exact():
    """np.asarray would turn the whole list into floats and 2^53 + 1 into 2^53."""
    assert exact_array([2**53 + 1, 0.5]).tolist() == [2**53 + 1, 0.5]
    assert exact_array([0.5, 1.5]).dtype == np.float64
    assert Spec([2**53 + 1, 0.5], None, "scale").exact(0) == 2**53 + 1
    assert Spec([Fraction(1, 3), 2], (5, 2), "scale").exact(4) == Fraction(1, 3)
    assert Spec(np.array([2**60 + 1]), 3, "scale").exact(2) == 2**60 + 1


def test_shapes():
    assert shape_of(np.int64(3)) == (3,)
    assert shape_of([2, 3]) == (2, 3)
