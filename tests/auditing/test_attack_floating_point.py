"""Float noise on a float value is read off its bits; noise on a public grid is not."""

import math
import warnings

import numpy as np
import pytest

from discreet.auditing.attacks.floating_point import naive_laplace, recover_from_bits, ways_to_reach
from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.testing import seeded


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("bits"):
        return recover_from_bits(generator=np.random.default_rng(1))


@pytest.mark.parametrize("value", [0.0, 1.0, -0.3, 1000.0])
@pytest.mark.parametrize("scale", [0.5, 10.0, 1 / 0.3])
def test_every_output_is_reached_from_where_it_came_from(value, scale):
    outputs = naive_laplace(value, scale, 500, np.random.default_rng(3))
    assert all(ways_to_reach(float(output), value, scale) for output in outputs)


def test_numpy_draws_as_the_attack_believes():
    """The formula of the sampler, by its own stream of uniforms; the attack rests on it."""
    uniforms = np.random.default_rng(5).random(1000)
    drawn = np.random.default_rng(5).laplace(0, 10, 1000)
    formula = [-10 * math.log(2.0 - u - u) if u >= 0.5 else 10 * math.log(u + u) for u in uniforms.tolist()]
    assert drawn.tolist() == formula


def test_float_noise_breaks_its_promise(found):
    assert found.naive.low > 0.85 > found.allowed
    assert found.certain > 0.7


def test_noise_on_a_grid_keeps_it(found):
    slack = 4.5 * 0.5 / math.sqrt(2 * found.trials)
    for right, bound, epsilon in zip(found.protected_rates, found.bound, found.epsilons, strict=True):
        assert bound == pytest.approx(1 - math.exp(-epsilon / 2) / 2)
        assert abs(right - bound) < slack  # the attacker gets all that is allowed, and no more


def test_what_is_said(found):
    assert "discreet.Laplace" in str(found)
    assert found.plot().to_dict()
    with pytest.raises(InvalidParameter):
        recover_from_bits((1.0, 1.0))
