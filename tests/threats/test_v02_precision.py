"""Even perfect noise must not be added in floating point.

A sum of two doubles keeps the coarser spacing of the two: next to 1 no bit below 2^-52 survives, next to 0 many do. So
the bits of ``answer + noise`` betray the size of the answer although the noise itself is drawn exactly. The answer must
be put on a grid that does not depend on it first.

Defence: the grid depends on public parameters alone, and the answer is split on it exactly before any noise is added.
Source: Haney, Desfontaines, Hartman, Shrestha and Hay, Precision-based attacks and interval refining, 2022.
"""

import runpy
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import NotPrivateWarning
from discreet.noise import grid_for, on_grid
from discreet.noise.densities import Gaussian, Laplace
from discreet.testing import seeded

epsilon_lower = runpy.run_path(str(Path(__file__).with_name("test_v01_float_bits.py")))["epsilon_lower"]


@pytest.fixture(autouse=True)
def repeatable():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("V02"):
        yield


def added_in_floats(values):
    """Draw Laplace noise to 80 bits behind the point, all of them right, and add it as a double."""
    return values + on_grid(Laplace(), np.zeros(values.size), 1, grid=Fraction(1, 2**80))


@pytest.mark.parametrize(("a", "b"), [(0, 1), (2**20, 2**20 + 1), (2.0**45, 2.0**45 + 1), (2.0**60, 2.0**60 + 1)])
def test_large_values_with_small_noise_tell_no_more_than_epsilon(a, b):
    assert epsilon_lower(lambda v: on_grid(Laplace(), v, 1, grid=grid_for(1)), a, b) <= 1


def test_exact_integers_are_not_rounded_before_their_noise():
    """Doubles next to 2^60 lie 256 apart; two whole numbers on either side of a middle are still neighbours."""
    a, b = 2**60 + 128, 2**60 + 129

    def release(values):
        return on_grid(Laplace(), [b if v else a for v in values], 1, grid=grid_for(1)) - 2.0**60

    assert epsilon_lower(release, 0, 1, draws=3000) <= 1


def test_the_check_catches_values_rounded_before_their_noise():
    a, b = 2**60 + 128, 2**60 + 129

    def release(values):
        return (
            np.array([float(b if v else a) for v in values])
            + np.random.default_rng(1).laplace(size=values.size)
            - 2.0**60
        )

    assert epsilon_lower(release, 0, 1, draws=3000) > 4


def test_gaussian_noise_tells_no_more_either():
    assert epsilon_lower(lambda v: on_grid(Gaussian(), v, 10, grid=grid_for(10)), 0, 1, delta=1e-6) <= 0.5


def test_the_check_catches_perfect_noise_added_in_floats():
    assert epsilon_lower(added_in_floats, 0, 1, draws=1000) > 1.5
