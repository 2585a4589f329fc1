"""Gaussian noise must not be drawn by a float sampler.

The usual samplers (Box-Muller, the polar method, ziggurats) map a limited number of uniforms to doubles, so that only
some values can come out, and rounding after scaling thins them further. An attacker tests whether a release minus a
guessed answer is one of them.

Defence: Gaussian noise is discrete, or rounded to a public grid by an exact decision; no float sampler is involved.
Source: Jin, McMurtry, Rubinstein and Ohrimenko, Are We There Yet?, S&P 2022.
"""

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import NotPrivateWarning
from discreet.noise import discrete_gaussian, grid_for, on_grid
from discreet.noise.densities import Gaussian
from discreet.testing import seeded

epsilon_lower = runpy.run_path(str(Path(__file__).with_name("test_v01_float_bits.py")))["epsilon_lower"]

# sigma, epsilon: the Gaussian mechanism of sensitivity 1 is (epsilon, 10^-5)-private, with room
SETTINGS = [(1, 5), (10, 0.5), (1000, 0.05)]


@pytest.fixture(autouse=True)
def repeatable():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("V03"):
        yield


@pytest.mark.parametrize(("sigma", "epsilon"), SETTINGS)
@pytest.mark.parametrize(("a", "b"), [(0, 1), (0.1, 1.1)])
def test_the_bits_tell_no_more_than_epsilon(sigma, epsilon, a, b):
    assert epsilon_lower(lambda v: on_grid(Gaussian(), v, sigma, grid=grid_for(sigma)), a, b, delta=1e-5) <= epsilon


@pytest.mark.parametrize(("sigma", "epsilon"), SETTINGS)
def test_whole_numbers_tell_no_more_either(sigma, epsilon):
    assert epsilon_lower(lambda v: v + discrete_gaussian(sigma, size=v.size), 0, 1, delta=1e-5) <= epsilon


def box_muller(values):
    u, v = np.random.default_rng(1).random((2, values.size))
    return values + np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)


def ziggurat(values):
    return values + np.random.default_rng(1).normal(size=values.size)


@pytest.mark.parametrize("sampler", [box_muller, ziggurat])
def test_the_check_catches_float_samplers(sampler):
    assert epsilon_lower(sampler, 0, 1, delta=1e-5) > 5
