"""No parameter may switch the noise off in silence.

An epsilon of infinity makes a scale of 0, and a library that only asks ``epsilon > 0`` then releases the data. NaN
passes every comparison written the wrong way round, and whatever follows is no noise either. Such parameters come from
configuration files, from divisions and from tests that somebody forgot; IBM's diffprivlib took both. They must be
refused where the mechanism is made, before it has seen any data.

Defence: every parameter is read as an exact, finite, positive number where the mechanism is made.
Source: Found while comparing libraries; for negative costs Opacus issue 585.
"""

import math
from decimal import Decimal

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.mechanisms import (
    STAT,
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    Warner,
    YesBiased,
)

NUMBERS = [
    math.inf,
    -math.inf,
    math.nan,
    0,
    0.0,
    -0.0,
    -1,
    -1e-300,
    np.float64("inf"),
    np.float64("nan"),
    Decimal("NaN"),
]
OTHERS = [True, False, np.True_, "1", b"1", None, 1j, [1], {}, ...]
TOO_EXTREME = [1e-305, 5e-324, 1e305, 10**400]

EPSILON = {
    "Geometric": lambda e: Geometric(sensitivity=1, epsilon=e),
    "Laplace": lambda e: Laplace(sensitivity=1, epsilon=e),
    "Gaussian": lambda e: Gaussian(sensitivity=1, epsilon=e, delta=1e-5),
    "Gaussian.classical": lambda e: Gaussian.classical(sensitivity=1, epsilon=e, delta=1e-5),
    "DiscreteGaussian": lambda e: DiscreteGaussian(sensitivity=1, epsilon=e, delta=1e-5),
    "Exponential": lambda e: Exponential(epsilon=e),
    "PermuteAndFlip": lambda e: PermuteAndFlip(epsilon=e),
    **{f"NoisyMax {n}": lambda e, n=n: NoisyMax(epsilon=e, noise=n) for n in ("laplace", "exponential", "gumbel")},
    "BoundedCount": lambda e: BoundedCount(size=5, epsilon=e),
    "Quantile": lambda e: Quantile(bounds=(0, 1), epsilon=e, relation="add_remove"),
    "RandomizedResponse": lambda e: RandomizedResponse(epsilon=e),
    "STAT": lambda e: STAT(query=float, size=10, epsilon=e),
}
NOISE = {
    "Geometric scale": lambda s: Geometric(sensitivity=1, scale=s),
    "Laplace scale": lambda s: Laplace(sensitivity=1, scale=s),
    "Gaussian sigma": lambda s: Gaussian(sensitivity=1, sigma=s),
    "DiscreteGaussian sigma": lambda s: DiscreteGaussian(sensitivity=1, sigma=s),
    "Geometric sensitivity": lambda s: Geometric(sensitivity=s, epsilon=1),
    "Laplace sensitivity": lambda s: Laplace(sensitivity=s, epsilon=1),
    "Gaussian sensitivity": lambda s: Gaussian(sensitivity=s, sigma=1),
    "DiscreteGaussian sensitivity": lambda s: DiscreteGaussian(sensitivity=s, sigma=1),
    "Exponential sensitivity": lambda s: Exponential(epsilon=1, sensitivity=s),
    "Laplace grid": lambda s: Laplace(sensitivity=1, epsilon=1, grid=s),
}
PROBABILITY = {
    "Gaussian delta": lambda d: Gaussian(sensitivity=1, epsilon=1, delta=d),
    "DiscreteGaussian delta": lambda d: DiscreteGaussian(sensitivity=1, epsilon=1, delta=d),
    "Warner": lambda p: Warner(truth=p),
    "YesBiased": lambda p: YesBiased(forced=p),
    "Quantile probability": lambda p: Quantile(bounds=(0, 1), epsilon=1, relation="add_remove", probability=p),
}


def refuses(make, bad):
    try:
        make(bad)
    except InvalidParameter:
        return True
    return False


@pytest.mark.parametrize("name", [*EPSILON, *NOISE])
@pytest.mark.parametrize("bad", [*NUMBERS, *OTHERS, *TOO_EXTREME])
def test_no_such_noise(name, bad):
    house_grid = name == "Laplace grid" and bad is None
    assert refuses({**EPSILON, **NOISE}[name], bad) != house_grid


@pytest.mark.parametrize("name", PROBABILITY)
@pytest.mark.parametrize("bad", [*NUMBERS, *OTHERS, 1, 1.5])
def test_no_such_probability(name, bad):
    assert refuses(PROBABILITY[name], bad)


@pytest.mark.parametrize("name", [*EPSILON, *NOISE])
def test_ordinary_parameters_are_taken(name):
    mechanism = {**EPSILON, **NOISE}[name](1)
    assert mechanism.loss.delta(0) > 0


def test_no_mechanism_without_noise():
    for make in (Geometric, Laplace, Gaussian, DiscreteGaussian):
        with pytest.raises(InvalidParameter, match="how much noise"):
            make(sensitivity=1)


def test_the_cost_is_never_negative():
    """Converting through Renyi orders can give an epsilon below 0, which some accountants then report."""
    for loss in (PrivacyLoss.zcdp(1e-9), PrivacyLoss.gaussian(1e-6), PrivacyLoss.pure(1e-9) * 3):
        for delta in (0.1, 0.5, 0.99):
            assert loss.epsilon(delta) >= 0


def naive(epsilon):
    """The check that let it happen: NaN is not below 0, infinity is not, and True is 1."""
    if epsilon <= 0:
        raise InvalidParameter("epsilon must be positive.")
    return 1 / epsilon


def test_the_check_catches_the_naive_validation():
    accepted = [bad for bad in (math.inf, math.nan, True, 0, -1) if not refuses(naive, bad)]
    assert accepted == [math.inf, pytest.approx(math.nan, nan_ok=True), True]
    assert naive(math.inf) == 0
