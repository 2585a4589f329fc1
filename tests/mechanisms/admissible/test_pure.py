"""Pure noises against every pair of laws that neighbours may have."""

import math
from fractions import Fraction
from itertools import pairwise

import admissible_reference as reference
import numpy as np
import pytest
from scipy import special

from discreet.errors import InvalidParameter
from discreet.mechanisms.admissible import Admissible, Cauchy, Polynomial, PowerLaw, StudentT

CASES = [
    (PowerLaw(epsilon=1, beta=0.1), lambda n: reference.power_law(float(n.exponent)), 0.999),
    (PowerLaw(epsilon=1, beta=0.7), lambda n: reference.power_law(float(n.exponent)), 0.999),
    (PowerLaw(epsilon=5, beta=0.01), lambda n: reference.power_law(float(n.exponent)), 0.999),
    (Cauchy(epsilon=1, beta=0.5), lambda n: reference.cauchy, 0.999),
    (Cauchy(epsilon=3, beta=0.1), lambda n: reference.cauchy, 0.999),
    (Cauchy(epsilon=0.1, beta=0.05), lambda n: reference.cauchy, 0.999),
    (StudentT(epsilon=1, beta=0.1), lambda n: reference.student(3), 0.95),
    (StudentT(epsilon=4, beta=0.1, degrees=10), lambda n: reference.student(10), 0.94),
    (StudentT(epsilon=1, beta=0.01, degrees=1), lambda n: reference.student(1), 0.96),
    (Polynomial(epsilon=1, beta=0.1, gamma=4), lambda n: reference.polynomial(4), 0.95),
    (Polynomial(epsilon=1, beta=0.01, gamma=6), lambda n: reference.polynomial(6), 0.98),
    (Polynomial(epsilon=2, beta=0.4, gamma=Fraction(3, 2)), lambda n: reference.polynomial(1.5), 0.7),
    (Polynomial(epsilon=1, beta=0.1, gamma=4, constants="slide"), lambda n: reference.polynomial(4), 0.3),
]


@pytest.mark.parametrize(("noise", "law", "tight"), CASES)
def test_no_pair_loses_more_than_epsilon(noise, law, tight):
    beta, kappa = float(noise.beta), 1 / float(noise.factor)
    worst = reference.largest_loss(law(noise), beta, kappa)
    assert tight * noise.epsilon < worst <= noise.epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("noise", "law"), [(noise, law) for noise, law, tight in CASES if tight > 0.92])
def test_a_tenth_less_noise_is_caught(noise, law):
    assert reference.largest_loss(law(noise), float(noise.beta), 1 / (0.9 * float(noise.factor))) > noise.epsilon * 1.01


@pytest.mark.parametrize(("noise", "law"), [case[:2] for case in CASES])
def test_log_density_and_cells_are_those_of_the_law(noise, law):
    z = np.concatenate([np.linspace(-9, 9, 101), [1e5, -1e12]])
    np.testing.assert_allclose(noise.log_density(z), law(noise)(z), rtol=1e-9, atol=1e-9)
    edges = [None, Fraction(-3), Fraction(-1), 0, Fraction(1, 10**6), Fraction(2), 50, None]
    cells = [noise.log_cell(low, high) for low, high in pairwise(edges)]
    assert math.fsum(map(math.exp, cells)) == pytest.approx(1, abs=1e-14)
    assert cells[3] == pytest.approx(float(law(noise)(np.array([5e-7]))[0]) - math.log(10**6), abs=1e-5)
    assert noise.log_cell(-2, -1) == pytest.approx(noise.log_cell(1, 2), abs=1e-14)


@pytest.mark.parametrize("noise", [case[0] for case in CASES], ids=repr)
def test_reach_is_the_quantile(noise):
    assert isinstance(noise, Admissible)
    reach = Fraction(noise.reach(0.05)) / noise.factor
    assert math.exp(noise.log_cell(-reach, reach)) == pytest.approx(0.95, abs=1e-7)
    assert eval(repr(noise), {type(noise).__name__: type(noise), "Fraction": Fraction}) == noise


def test_worked_values():
    assert 1 / float(Cauchy(epsilon=1, beta=0.5).factor) == pytest.approx(1.0421906109874948, rel=1e-8)
    assert 1 / float(Cauchy(epsilon=1, beta=0.1).factor) == pytest.approx(2 * math.sinh(0.5), rel=1e-8)
    assert 1 / float(Polynomial(epsilon=1, beta=0.1).factor) == pytest.approx(0.3438197025492684, rel=1e-7)
    assert 1 / float(StudentT(epsilon=1, beta=0.1).factor) == pytest.approx(0.759934, rel=1e-6)
    power = PowerLaw(epsilon=1, beta=0.1)
    assert float(power.exponent) == pytest.approx(11, rel=1e-7)
    assert 0.81 * 12.222222222222221 < float(power.factor) < 12.222222222222221  # what the joint path alone proves
    exact = min(math.expm1(1 / 11), math.exp(0.1) * math.expm1(0.9 / 11))
    assert 1 / float(power.factor) == pytest.approx(exact, rel=1e-7)


def test_power_law_tends_to_laplace():
    noise = PowerLaw(epsilon=0.5, beta=1e-12)
    assert noise.reach(0.05) == pytest.approx(math.log(20) / 0.5, rel=1e-7)
    assert math.isfinite(noise.draw(0.25, 1.0, grid=2.0**-20))


def test_student_with_one_degree_is_cauchy_by_the_joint_path():
    b = 0.1 + 2.0**-30
    assert 1 / float(StudentT(epsilon=1, beta=0.1, degrees=1).factor) == pytest.approx(math.sqrt(1 - b * b), rel=1e-12)


@pytest.mark.parametrize("kind", [PowerLaw, Cauchy])
def test_beta_as_large_as_epsilon_is_refused(kind):
    with pytest.raises(InvalidParameter, match="beta must be below epsilon / dimension = 1"):
        kind(epsilon=1, beta=1)
    with pytest.raises(InvalidParameter, match="beta must be below"):
        kind(epsilon=1, beta=0.5, dimension=2)


def test_refusals():
    for wrong in [
        lambda: StudentT(epsilon=1, beta=0.34),
        lambda: Polynomial(epsilon=1, beta=0.34),
        lambda: Polynomial(epsilon=1, beta=0.11, constants="slide"),
        lambda: Polynomial(epsilon=1, beta=0.01, constants="slide", dimension=2),
        lambda: Polynomial(epsilon=1, beta=0.01, constants="loose"),
        lambda: PowerLaw(epsilon=1, beta=0),
        lambda: PowerLaw(epsilon=float("nan"), beta=0.1),
        lambda: PowerLaw(epsilon=1, beta=0.1, dimension=0),
        lambda: PowerLaw(epsilon=1, beta=0.1, dimension=True),
    ]:
        with pytest.raises(InvalidParameter):
            wrong()


def test_a_bound_that_is_none_is_refused_without_saying_it():
    from discreet.errors import InvalidInput

    for bound in (0.0, -123.0, math.inf, math.nan):
        with pytest.raises(InvalidInput) as told:
            Cauchy(epsilon=1, beta=0.1).draw(1.0, bound, grid=1)
        assert "123" not in str(told.value)


VECTORS = [
    (PowerLaw(epsilon=1, beta=0.05, dimension=3), lambda n: reference.power_law(float(n.exponent))),
    (Cauchy(epsilon=1, beta=0.1, dimension=3), lambda n: reference.cauchy),
    (StudentT(epsilon=1, beta=0.05, dimension=3), lambda n: reference.student(3)),
    (Polynomial(epsilon=1, beta=0.05, dimension=3), lambda n: reference.polynomial(4)),
]


@pytest.mark.parametrize(("noise", "law"), VECTORS)
def test_vectors_lose_at_most_epsilon_however_the_move_is_shared(noise, law):
    beta, kappa = float(noise.beta), 1 / float(noise.factor)
    seen = []
    for stretch in (-beta, 0, beta / 2, beta):
        most = kappa * min(1, math.exp(stretch))
        for shares in [(1, 0, 0), (0.5, 0.5, 0), (0.4, 0.3, 0.3), (0.9, 0.1, 0)]:
            parts = [reference.one_way_losses(law(noise), most * share, stretch) for share in shares]
            seen.append(max(sum(way) for way in zip(*parts, strict=True)))
    assert 0.6 < max(seen) <= 1 + 1e-9
    drawn = noise.draw(np.zeros(3), 2.0, grid=2.0**-10)
    assert drawn.shape == (3,)
    assert noise.reach() > type(noise)(epsilon=1, beta=0.05).reach()


def test_special_function_behind_the_polynomial_constant():
    gamma = 4
    assert special.gamma(1 / gamma) * special.gamma(1 - 1 / gamma) * 2 / gamma == pytest.approx(
        2 * math.pi / gamma / math.sin(math.pi / gamma)
    )
