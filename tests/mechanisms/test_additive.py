"""Parameters, reprs and promises of the four mechanisms that add noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import DiscreteGaussian, Gaussian, Geometric, InvalidInput, InvalidParameter, Laplace
from discreet.mechanisms.discrete_gaussian import squared_whole

BAD = [0, -1, math.nan, math.inf, -math.inf, "1", None, True, 1j, [1], 10**400]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("cls", [Geometric, Laplace])
def test_bad_noise_is_refused(cls, bad):
    for keyword in ("epsilon", "scale"):
        with pytest.raises(InvalidParameter):
            cls(sensitivity=1, **{keyword: bad})
    with pytest.raises(InvalidParameter):
        cls(sensitivity=bad, epsilon=1)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("cls", [Gaussian, DiscreteGaussian])
def test_bad_gaussian_noise_is_refused(cls, bad):
    for settings in ({"sigma": bad}, {"epsilon": bad, "delta": 1e-5}, {"epsilon": 1, "delta": bad}):
        with pytest.raises(InvalidParameter):
            cls(sensitivity=1, **settings)
    with pytest.raises(InvalidParameter):
        cls(sensitivity=bad, sigma=1)


@pytest.mark.parametrize("cls", [Geometric, Laplace])
def test_noise_is_said_once(cls):
    with pytest.raises(InvalidParameter, match="how much noise"):
        cls(sensitivity=1)
    with pytest.raises(InvalidParameter, match="disagree"):
        cls(sensitivity=1, epsilon=0.5, scale=3)
    assert cls(sensitivity=1, epsilon=0.5, scale=2) == cls(sensitivity=1, epsilon=0.5) == cls(sensitivity=1, scale=2)


@pytest.mark.parametrize("cls", [Gaussian, DiscreteGaussian])
def test_sigma_or_epsilon_and_delta(cls):
    with pytest.raises(InvalidParameter, match="how much noise"):
        cls(sensitivity=1, epsilon=1)
    with pytest.raises(InvalidParameter, match="not both"):
        cls(sensitivity=1, sigma=1, epsilon=1, delta=1e-5)


def test_whole_numbers_have_whole_sensitivities():
    with pytest.raises(InvalidParameter, match="whole number"):
        Geometric(sensitivity=1.5, epsilon=1)
    with pytest.raises(InvalidParameter, match="at least 1"):
        DiscreteGaussian(sensitivity=0.5, sigma=1)


@pytest.mark.parametrize("square", range(1, 200))
def test_float_roots_are_not_rounded_down(square):
    assert squared_whole(math.sqrt(square)) == square


@given(st.floats(1e-3, 1e3), st.integers(1, 20), st.booleans())
def test_reprs_are_short_and_exact(epsilon, sensitivity, whole):
    mechanism = (Geometric if whole else Laplace)(sensitivity=sensitivity, epsilon=epsilon)
    assert f"epsilon={epsilon!r}" in repr(mechanism) or f"epsilon={int(epsilon)}" in repr(mechanism)


@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-3])
@pytest.mark.parametrize("queries", [1, 7])
@pytest.mark.parametrize("limit", [0.75, 3, 40, 1000])
def test_for_error_inverts_error(limit, queries, beta):
    for cls in (Laplace, Gaussian):
        found = cls.for_error(limit, beta, sensitivity=1, queries=queries)
        assert 0.9999 * limit < found.error(beta, queries=queries) <= limit
    for cls in (Geometric, DiscreteGaussian):
        found = cls.for_error(limit, beta, queries=queries)
        assert found.error(beta, queries=queries) == math.floor(limit)


@pytest.mark.parametrize("cls", [Laplace, Gaussian])
@pytest.mark.parametrize("value", [math.nan, math.inf, "1", None, True, np.array([math.nan]), np.array(["a"]), 1j])
def test_only_finite_numbers_are_taken(cls, value):
    mechanism = cls(sensitivity=1, **({"epsilon": 1} if cls is Laplace else {"sigma": 1}))
    with pytest.raises(InvalidInput):
        mechanism.release(value)


def test_the_grid_is_public_and_kept():
    mechanism = Laplace(sensitivity=1, epsilon=1, grid=0.5)
    assert all((2 * mechanism.release(0.3)).is_integer() for _ in range(100))
    with pytest.raises(InvalidParameter, match="power of two"):
        Laplace(sensitivity=1, epsilon=1, grid=0.3).release(0)


@pytest.mark.parametrize("constant", [1, 1.25, 2])
def test_the_classical_formula_is_loose_below_one_and_refused_above(constant):
    classical = Gaussian.classical(sensitivity=1, epsilon=1, delta=1e-5, constant=constant)
    assert classical.sigma > Gaussian(sensitivity=1, epsilon=1, delta=1e-5).sigma
    with pytest.raises(InvalidParameter, match="epsilon below 1"):
        Gaussian.classical(sensitivity=1, epsilon=1.01, delta=1e-5, constant=constant)
    with pytest.raises(InvalidParameter, match="constants"):
        Gaussian.classical(sensitivity=1, epsilon=1, delta=1e-5, constant=3)


def test_the_notebook_view_escapes_and_tells_error_first():
    view = Laplace(sensitivity=1, epsilon=1)._repr_html_()
    assert view.index("within") < view.index("epsilon 1")


def test_vectors_of_exact_rationals_are_taken():
    released = Laplace(sensitivity=1, epsilon=1).release([Fraction(1, 3), 2, 0.5])
    assert released.shape == (3,)
