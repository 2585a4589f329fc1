"""Adding up four float samples does not repair a float sampler.

Some libraries answer Mironov by combining several draws, so that the noise cannot be inverted. The noise is then
harder to enumerate, but the sum with the answer is still rounded to the answer's spacing, and the lowest bits betray
it as before.

Defence: none of this kind is offered; the grid is the defence, and the check shows that it is what helps.
Source: Haney, Desfontaines, Hartman, Shrestha and Hay, Precision-based attacks and interval refining, 2022.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

epsilon_lower = runpy.run_path(str(Path(__file__).with_name("test_v01_float_bits.py")))["epsilon_lower"]


def four_normals(values):
    """Return the answer plus five times the sum of four normal variables, which has a sigma of 10."""
    return values + np.random.default_rng(1).normal(size=(4, values.size)).sum(axis=0) * 5


def four_uniforms(values):
    """Return the answer plus a Laplace variable made of four uniforms."""
    u = np.random.default_rng(1).random((4, values.size))
    return values + np.log1p(-u[0]) * np.cos(np.pi * u[1]) + np.log1p(-u[2]) * np.cos(np.pi * u[3])


def one_grid(values):
    """Return the same sum, rounded to a public grid before and after: an honest release to compare with."""
    step = 2.0**-20
    return np.rint(values / step) * step + np.rint(four_uniforms(np.zeros_like(values)) / step) * step


@pytest.mark.parametrize(("sampler", "epsilon"), [(four_normals, 0.5), (four_uniforms, 1)])
def test_four_samples_are_caught_like_one(sampler, epsilon):
    assert epsilon_lower(sampler, 0, 1, delta=1e-5, draws=300_000) > 1.5 * epsilon


def test_the_grid_is_what_helps():
    assert epsilon_lower(one_grid, 0, 1) <= 1
