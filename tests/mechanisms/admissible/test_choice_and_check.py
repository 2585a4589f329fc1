"""Comparing noises, checking densities of one's own, and the pictures of both."""

import math

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.mechanisms.admissible import (
    Cauchy,
    Laplace,
    Polynomial,
    PowerLaw,
    StudentT,
    admissible,
    compare,
    hockey_stick,
    largest_ratio,
    renyi,
)
from discreet.mechanisms.admissible.choice import evenly
from discreet.plots import svg
from discreet.sensitivity.smooth import Levels


def test_evenly_is_the_largest_window():
    for beta in (0.01, 0.25, 0.5, 1, 3):
        windows = max((k + 1) * math.exp(-beta * k) for k in range(2000))
        assert windows <= evenly(beta) * (1 + 1e-12)
        assert windows == pytest.approx(evenly(beta), rel=0.02)


def test_pure_budgets_offer_pure_noise_in_order():
    table = compare(None, 1)
    assert {a.name for a in table} == {"power law", "Cauchy", "Student t, 3", "polynomial, 4"}
    assert [a.reach for a in table] == sorted(a.reach for a in table)
    assert all(a.noise.loss.is_pure and a.noise.loss.epsilon() <= 1 for a in table)
    for a in table:
        assert a.reach == pytest.approx(a.noise.reach() * evenly(float(a.noise.beta)))
        assert a.reach <= min(r for _, r in a.curve) * 1.001
    assert len(table[:2]) == 2
    assert "19 of 20 within" in repr(table)


def test_delta_and_rho_offer_more():
    assert {"Laplace", "Gaussian"} <= {a.name for a in compare(None, 1, 1e-6)}
    assert {"Laplace-log-normal", "uniform-log-normal", "power law"} == {a.name for a in compare(None, rho=0.1)}
    assert all(a.noise.loss.rho <= 0.1 * (1 + 1e-12) for a in compare(None, rho=0.1))


def test_where_the_bound_is_flat_a_tiny_beta_is_best():
    class Flat:
        relation, size, range, dimension, norm = "replace_one", None, (0, 1), 1, 1.0

        def at(self, records):
            return Levels(value=0.0, levels=np.ones(1))

    table = compare(Flat(), 1, 1e-6, like=[])
    assert table.best.noise.beta < 0.01
    assert table.best.reach == pytest.approx(math.log(20), rel=0.01)


def test_vectors_in_two_norms():
    class Wide:
        relation, size, range, dimension, norm = "replace_one", None, (0, 1), 4, 2.0

        def at(self, records):
            return Levels(value=np.zeros(4), levels=np.ones(1))

    assert [a.name for a in compare(Wide(), 1, 1e-6, beta=0.005)] == ["Gaussian"]
    for wrong in [lambda: compare(Wide(), 1), lambda: compare(Wide(), rho=1)]:
        with pytest.raises(InvalidParameter, match="Gaussian noise"):
            wrong()


def test_refusals():
    for wrong in [
        lambda: compare(None),
        lambda: compare(None, 1, rho=1),
        lambda: compare(None, delta=1e-6, rho=1),
        lambda: compare(None, 1, like=[1]),
        lambda: compare(None, 1, beta=2),
    ]:
        with pytest.raises(InvalidParameter):
            wrong()


@pytest.mark.parametrize(
    ("law", "alpha", "beta"),
    [
        (lambda z: -np.log1p(z**2), 0.5, 0.5),
        (lambda z: -np.logaddexp(0, 4 * np.log(np.abs(z) + 1e-300)), 0.2193456688254154, 1 / 6),
        (lambda z: -np.logaddexp(0, 6 * np.log(np.abs(z) + 1e-300)), 0.13076604860118307, 0.1),
    ],
)
def test_known_constants_are_admissible_and_tight(law, alpha, beta):
    """A slide's exact cost is slightly below its bound, as the steepest point is passed; a dilation attains it."""
    assert admissible(law, alpha, beta, 1).holds
    assert not admissible(law, 1.1 * alpha, beta, 1).holds
    assert not admissible(law, alpha, 1.02 * beta, 1).holds
    checked = admissible(law, alpha, beta, 1)
    assert 0.47 < checked.slide <= 0.5 + 1e-9
    assert checked.dilation == pytest.approx(0.5, rel=1e-6)


def test_the_lemma_for_laplace_noise():
    delta = 1e-4
    checked = admissible(lambda z: -np.abs(z), 0.5, 0.5 / math.log(2 / delta), 1, delta)
    assert checked.holds
    assert checked.slide == pytest.approx(0.5)
    assert checked.slide_delta < 1e-15
    assert 0 < checked.dilation_delta <= delta / 2
    assert not admissible(lambda z: -np.abs(z), 0.5, 1.5 / math.log(2 / delta), 1, delta).holds
    assert "a dilation by e^0.0504873 costs without bound (delta 1.19e-06)" in repr(checked)


@pytest.mark.parametrize(
    "noise",
    [
        PowerLaw(epsilon=1, beta=0.1),
        Cauchy(epsilon=1, beta=0.1),
        StudentT(epsilon=1, beta=0.1),
        Polynomial(epsilon=1, beta=0.1),
    ],
    ids=lambda noise: type(noise).__name__,
)
def test_our_noises_may_be_handed_over(noise):
    assert admissible(noise, 1 / (4 * float(noise.factor)), float(noise.beta) / 4, 1).holds


def uniform(z):
    return np.where(np.abs(z) <= 1, -math.log(2), -np.inf)


@pytest.mark.parametrize("shift", [0.5, -0.5, 1.2])
def test_a_support_that_moves_is_told_apart(shift):
    """Uniform noise on an interval of length 2: what sticks out is ``|shift| / 2``, whatever epsilon is."""
    for epsilon in (0.0, 0.1, 30.0):
        assert hockey_stick(uniform, epsilon, shift, 0.0) == pytest.approx(abs(shift) / 2, rel=1e-12)
    assert largest_ratio(uniform, shift, 0.0) == math.inf
    assert renyi(uniform, 2.0, shift, 0.0) == math.inf


def test_a_support_that_shrinks_is_told_apart_in_one_direction():
    narrow, wide = -0.1, 0.1
    assert hockey_stick(uniform, 1.0, 0.0, narrow) == pytest.approx(-math.expm1(narrow))
    assert hockey_stick(uniform, 1.0, 0.0, wide) == 0
    assert renyi(uniform, 2.0, 0.0, wide) == pytest.approx(wide, rel=1e-2)
    assert largest_ratio(uniform, 0.0, wide) == largest_ratio(uniform, 0.0, narrow) == math.inf


def test_uniform_noise_is_never_admissible_with_less_delta_than_sticks_out():
    for delta in (0, 1e-9, 0.01):
        assert not admissible(uniform, 0.5, 0.1, 1, delta).holds
    assert admissible(uniform, 0.01, 0.01, 1, 0.03).holds


def test_where_the_first_density_is_lost_nothing_counts():
    """Normal noise far out: the logarithms are beyond all digits, and the laws are the same."""
    assert largest_ratio(lambda z: -z * z / 2, 0.0, 0.0) == 0
    assert hockey_stick(lambda z: -z * z / 2 - math.log(2 * math.pi) / 2, 0.5, 0.0, 0.0) == 0


def test_slides_to_the_left_count_as_much_as_to_the_right():
    """A Gumbel law falls steeply on one side alone; it and its mirror image cost the same."""

    def gumbel(z):
        return z - np.exp(np.minimum(z, 700))

    one, other = (admissible(law, 0.3, 1e-4, 1, 0.01) for law in (gumbel, lambda z: gumbel(-z)))
    assert one.slide_delta == pytest.approx(other.slide_delta, rel=1e-9)
    assert one.slide_delta == pytest.approx(hockey_stick(gumbel, 0.5, -0.3, 0.0), rel=1e-9)
    assert one.slide_delta > 0.02
    assert not one.holds
    assert not other.holds


def test_pictures_are_drawn():
    chart = admissible(Laplace(epsilon=1, delta=1e-6, beta=0.03), 0.4, 0.2, 1, 1e-6).plot()
    assert "half of epsilon" in svg(chart)
    assert "beta" in svg(compare(None, 1).plot())
