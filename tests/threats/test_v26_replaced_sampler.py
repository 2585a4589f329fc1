"""The sampling rate that is charged must be that of the sampler that runs.

Wrappers of loaders guess the rate from what they are given, and a loader with another sampler, or another length,
makes them guess wrong: Opacus charges a rate of 1/8 for a weighted sampler that takes one record in six thousand, and
could as well charge too little.

Defence: batches are drawn by the plan's own coins and nothing else is accepted in their place; loaders, samplers and
streams are refused, and so is a step on a batch that was not drawn here. The rate is the plan's, and it is counted.
Source: Opacus issue 813.
"""

import logging
import warnings

import numpy as np
import pytest
import torch
from scipy.stats import binom
from torch import nn
from torch.utils import data as loading

from discreet.errors import InvalidParameter, NotPrivateWarning, ReleaseFailed
from discreet.learn.sgd import Training, private
from discreet.learn.sgd.sampling import Sampler
from discreet.testing import seeded

RECORDS = 80
FALSE_ALARM = 1e-10
SET = loading.TensorDataset(torch.zeros(RECORDS, 3))
SAMPLERS = {
    "in order": lambda: loading.SequentialSampler(SET),
    "shuffled": lambda: loading.RandomSampler(SET),
    "with replacement": lambda: loading.RandomSampler(SET, replacement=True, num_samples=30),
    "weighted": lambda: loading.WeightedRandomSampler([1.0] * RECORDS, 8),
    "a part": lambda: loading.SubsetRandomSampler(range(40)),
    "distributed": lambda: loading.DistributedSampler(SET, num_replicas=2, rank=0),
    "batches": lambda: loading.BatchSampler(loading.RandomSampler(SET), 8, drop_last=False),
}


class Stream(loading.IterableDataset):
    def __iter__(self):
        return iter(SET)


OTHERS = {
    "a stream": Stream,
    "a generator": lambda: (row for row in SET),
    "a map": lambda: map(tuple, SET),
    "a loader of a stream": lambda: loading.DataLoader(Stream(), batch_size=8),
    "shuffle": lambda: loading.DataLoader(SET, batch_size=8, shuffle=True),
}


def parts_of(given):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return private(model, optimizer, given, records=RECORDS, batch=8, steps=4, noise_multiplier=1, probe=False)


@pytest.mark.parametrize("name", SAMPLERS)
def test_every_other_sampler_is_refused(name):
    sampler = SAMPLERS[name]()
    batched = "batch_sampler" if name == "batches" else "sampler"
    size = {} if name == "batches" else {"batch_size": 8}
    for given in (loading.DataLoader(SET, **{batched: sampler}, **size), sampler):
        with pytest.raises(InvalidParameter):
            parts_of(given)


@pytest.mark.parametrize("name", OTHERS)
def test_streams_and_loaders_are_refused(name):
    with pytest.raises(InvalidParameter):
        parts_of(OTHERS[name]())


def test_a_batch_that_was_not_drawn_here_is_refused():
    parts = parts_of(SET)
    for (x,) in loading.DataLoader(SET, batch_size=8, shuffle=True):
        parts.model(x).mean().backward()
        with pytest.raises(InvalidParameter, match="no batch to step on"):
            parts.optimizer.step()
    assert parts.run.started == 0


def test_a_batch_of_another_size_is_refused_while_one_is_open(caplog):
    parts = parts_of(SET)
    next(parts.batches.step())
    with caplog.at_level(logging.ERROR, "discreet.curator"), pytest.raises(ReleaseFailed):
        parts.model(torch.zeros(37, 3)).mean().backward()
    assert "examples of the batch" in str(caplog.records[-1].exc_info[1])


@pytest.mark.parametrize("present", [5, RECORDS, 3 * RECORDS])
def test_the_length_of_the_data_moves_no_charge(present):
    plan = parts_of(torch.zeros(present, 3)).run.plan
    assert plan.loss == Training(records=RECORDS, batch=8, steps=4, noise_multiplier=1).loss


def runs_at(rate, batches, records):
    """Check that records take part at the rate that is charged: wrong with probability at most 1e-10."""
    seen = sum(len(batch) for batch in batches)
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], len(batches) * records, rate)
    return low <= seen <= high


def test_the_sampler_runs_at_the_rate_that_is_charged():
    plan = Training(records=RECORDS, batch=8, steps=4, noise_multiplier=1)
    for present in (RECORDS // 2, RECORDS, 2 * RECORDS):
        with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(f"rate {present}"):
            sampler = Sampler(plan, present)
            assert runs_at(float(plan.rate), [sampler.draw(0) for _ in range(400)], present)


def test_the_check_catches_a_rate_that_is_guessed_from_a_loader():
    """One batch of 8 is all that the weighted sampler gives, so its loader has length 1, and the guess is 1."""
    for sampler in (loading.WeightedRandomSampler([1.0] * RECORDS, 8), loading.SubsetRandomSampler(range(40))):
        loader = loading.DataLoader(SET, batch_size=8, sampler=sampler)
        guessed = 1 / len(loader)
        batches = [np.asarray(batch[0]) for _ in range(50) for batch in loader]
        assert not runs_at(guessed, batches, RECORDS)
