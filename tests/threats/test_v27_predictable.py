"""Noise must not be predictable: no seed, no global state, no stream shared by two processes.

Whoever can repeat the noise can subtract it. Statistical generators can be reconstructed from their outputs or set
by anybody in the process, and a process that forks hands the same stream to its child. Training on torch is where seeds
are set by habit.

Defence: AES-256 in counter mode, keyed by the operating system, anew in a forked child; no signature takes a seed, and
torch's generator decides neither the noise of a training nor who is in its batches.
Source: Garfinkel and Leclerc, Randomness Concerns When Deploying Differential Privacy, WPES 2020.
"""

import inspect
import os
import random

import numpy as np
import pytest
import torch
from torch import nn

from discreet import noise
from discreet.learn import sgd
from discreet.learn.sgd.sampling import Sampler
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
        torch.manual_seed(1)
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


def trained(**options):
    """Return the weights of a training on nobody: they are made of noise and where the model began."""
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    nobody = torch.zeros(0, 4), torch.zeros(0, 1)
    parts = sgd.private(model, optimizer, nobody, records=10, batch=5, steps=2, noise_multiplier=1, **options)
    sgd.train(parts, nn.MSELoss())
    return torch.cat([p.detach().flatten() for p in model.parameters()]).numpy()


def batch_of_a_training():
    return np.sort(Sampler(sgd.Training(records=400, batch=200, steps=2, noise_multiplier=1), 400).draw(0))


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


@pytest.mark.parametrize("draw", [trained, batch_of_a_training])
def test_a_seed_of_torch_makes_no_training_predictable(draw):
    """Two batches of 200 from 400 are the same with a probability far below 1e-100, the noise with less."""
    assert not repeats_after_seeding(draw)


def test_the_check_catches_noise_of_torchs_own_generator():
    """The one kind that does repeat says of itself that everything may be lost."""
    assert repeats_after_seeding(lambda: trained(noise="insecure_fast"))
    plan = sgd.Training(records=10, batch=5, steps=2, noise_multiplier=1, noise="insecure_fast")
    assert plan.loss.delta(100) == 1


@pytest.mark.parametrize("function", [sgd.private, sgd.train, sgd.Training, sgd.save, sgd.resume])
def test_no_training_takes_a_seed(function):
    assert not {"seed", "random_state", "rng", "generator", "key"} & set(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", [n for n in noise.__all__ if callable(getattr(noise, n))])
def test_nothing_takes_a_seed(name):
    forbidden = {"seed", "random_state", "rng", "generator", "key"}
    assert not forbidden & set(inspect.signature(getattr(noise, name)).parameters)


def test_the_source_in_production_is_secure():
    assert noise.source().private
