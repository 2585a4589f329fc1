"""Noise must not be predictable: no seed, no global state, no stream shared by two processes.

Whoever can repeat the noise can subtract it. Statistical generators can be reconstructed from their outputs or set
by anybody in the process, and a process that forks hands the same stream to its child.

Defence: AES-256 in counter mode, keyed by the operating system, anew in a forked child; no signature takes a seed.
Source: Garfinkel and Leclerc, Randomness Concerns When Deploying Differential Privacy, WPES 2020.
"""

import inspect
import os
import random

import numpy as np
import pytest

from discreet import noise
from discreet.noise.densities import Gumbel, Laplace

DRAWS = {
    "laplace": lambda: noise.discrete_laplace(1e9, size=4),
    "gaussian": lambda: noise.discrete_gaussian(1e9, size=4),
    "geometric": lambda: noise.geometric(1e9, size=4),
    "dice": lambda: noise.uniform_below(2**62, size=4),
    "coins": lambda: noise.bernoulli(0.5, size=256),
    "grid": lambda: noise.on_grid(Laplace(), np.zeros(4), 1, grid=2.0**-40),
    "race": lambda: np.array([noise.race(Gumbel(), np.zeros(1000), np.zeros(1000), lambda i: 0) for _ in range(20)]),
}

each = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)


def repeats_after_seeding(draw):
    seen = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        seen.append(draw().tolist())
    return seen[0] == seen[1]


def repeats_in_a_child(draw):
    """Draw once to fill any buffer, fork, and compare what child and parent draw next."""
    draw()
    out, back = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(back, np.ascontiguousarray(draw()).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(back)
    with os.fdopen(out, "rb") as pipe:
        return pipe.read() == np.ascontiguousarray(draw()).tobytes()


def careless():
    return np.random.laplace(size=4)  # noqa: NPY002


@each
def test_global_seeds_have_no_effect(draw):
    assert not repeats_after_seeding(draw)


@each
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_draws_other_noise(draw):
    assert not repeats_in_a_child(draw)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_the_checks_catch_a_global_generator():
    assert repeats_after_seeding(careless)
    assert repeats_in_a_child(careless)


@pytest.mark.parametrize("name", [n for n in noise.__all__ if callable(getattr(noise, n))])
def test_nothing_takes_a_seed(name):
    forbidden = {"seed", "random_state", "rng", "generator", "key"}
    assert not forbidden & set(inspect.signature(getattr(noise, name)).parameters)


def test_the_source_in_production_is_secure():
    assert noise.source().private
