"""A mechanism that is handed NaN must not go on as if it had been handed 0.

By then the answer is already wrong, and the noise was made for a sensitivity that no longer holds. Turning NaN into 0
hides it from everybody but the attacker, for whom neighbours now lie as far apart as the answer is from 0.

Defence: the noise itself refuses what is not a finite number, with one text for all of them; the queries of the
library never make such a value.
Source: OpenDP issue 2935.
"""

import math
from decimal import Decimal

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.mechanisms import (
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    RandomizedResponse,
    Warner,
    YesBiased,
)
from discreet.noise import grid_for, on_grid
from discreet.noise.densities import Laplace as Density

PRIMITIVES = {
    "grid": lambda x: on_grid(Density(), x, 1, grid=grid_for(1)),
    "Laplace": Laplace(sensitivity=1, epsilon=1).release,
    "Gaussian": Gaussian(sensitivity=1, sigma=1).release,
    "Geometric": Geometric(sensitivity=1, epsilon=1).release,
    "DiscreteGaussian": DiscreteGaussian(sensitivity=1, sigma=1).release,
    "BoundedCount": BoundedCount(size=3, epsilon=1).release,
}
VECTORS = {
    **{name: release for name, release in PRIMITIVES.items() if name != "BoundedCount"},
    "Exponential": Exponential(epsilon=1).release,
    "PermuteAndFlip": PermuteAndFlip(epsilon=1).release,
    **{f"NoisyMax {n}": NoisyMax(epsilon=1, noise=n).release for n in ("laplace", "exponential", "gumbel")},
    "RandomizedResponse": RandomizedResponse(epsilon=1).release,
    "Warner": Warner(truth=0.75).release,
    "YesBiased": YesBiased().release,
}
NOT_FINITE = [math.nan, math.inf, -math.inf, None, np.float64("nan"), np.float32("inf"), Decimal("NaN")]


def refuses(release, value):
    """Tell whether a value is refused, and not turned into a number."""
    try:
        release(value)
    except InvalidInput:
        return True
    return False


@pytest.mark.parametrize("name", PRIMITIVES)
@pytest.mark.parametrize("value", NOT_FINITE, ids=repr)
def test_what_is_not_finite_is_refused(name, value):
    assert refuses(PRIMITIVES[name], value)


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("value", NOT_FINITE, ids=repr)
def test_one_entry_of_a_vector_is_enough(name, value):
    assert refuses(VECTORS[name], [0, value, 1])
    if isinstance(value, float):
        assert refuses(VECTORS[name], np.array([0.0, value, 1.0]))


@pytest.mark.parametrize(
    "release", [Laplace(sensitivity=1, epsilon=1).release, Gaussian(sensitivity=1, sigma=1).release]
)
def test_the_text_is_the_same_whichever_it_was(release):
    texts = set()
    for value in (math.nan, math.inf, -math.inf, [1.0, math.nan], np.array([math.inf, 2.0])):
        with pytest.raises(InvalidInput) as caught:
            release(value)
        texts.add(str(caught.value))
    assert len(texts) == 1


@pytest.mark.parametrize("name", VECTORS)
def test_ordinary_values_are_taken(name):
    assert not refuses(VECTORS[name], [0, 1, 1])


def test_the_check_catches_a_silent_zero():
    def silent(value):
        return np.nan_to_num(np.asarray(value, dtype=float)) + np.random.default_rng(1).laplace()

    assert not any(refuses(silent, value) for value in NOT_FINITE)
