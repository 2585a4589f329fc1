"""The claim of a training, attacked: one record that is there or not, and what is seen of it after a few steps."""

import numpy as np
import pytest
import torch
from torch import nn

from discreet.auditing.audit import audit
from discreet.learn.sgd import Training, private
from discreet.learn.sgd.sampling import Sampler

PLAN = Training(records=2, batch=1, steps=1, noise_multiplier=0.5)
THERE, NOT_THERE = torch.ones(1, 1), torch.zeros(0, 1)


def released(rows, count):
    """Take many steps on a loss whose gradient is the record itself, from the same model, and give back all of them."""
    model = nn.Linear(1, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    parts = private(model, optimizer, (rows,), records=2, batch=1, steps=count, noise_multiplier=0.5)
    seen = []
    for (x,) in parts.batches:
        model(x).mean().backward()
        parts.optimizer.step()
        if not parts.optimizer.moved:
            continue  # made-up records
        seen.append(float(model.weight.grad))
    return seen


def attacked(draws):
    neighbours = THERE, NOT_THERE
    one = lambda rows: released(rows, 1)[0]  # noqa: E731
    return audit(one, batch=released, claims=PLAN.loss, neighbours=neighbours, draws=draws)


@pytest.mark.usefixtures("repeatable")
def test_the_claim_stands():
    found = attacked(500)
    assert not found.refuted


@pytest.mark.usefixtures("repeatable")
def test_a_sampler_that_takes_everyone_is_found_out(monkeypatch):
    monkeypatch.setattr(Sampler, "draw", lambda self, step: np.arange(self.present))
    found = attacked(500)
    assert found.refuted


@pytest.mark.usefixtures("repeatable")
def test_noise_that_is_too_small_is_found_out(monkeypatch):
    from discreet.learn.sgd import run as runs

    kept = runs.begin
    monkeypatch.setattr(runs, "begin", lambda total, sigma, *rest: kept(total, sigma / 8, *rest))
    found = attacked(500)
    assert found.refuted


@pytest.mark.slow
@pytest.mark.usefixtures("repeatable")
def test_the_claim_stands_for_long():
    found = attacked(20_000)
    assert not found.refuted
    assert found.epsilon > 0.3 * PLAN.loss.epsilon(1e-3)
