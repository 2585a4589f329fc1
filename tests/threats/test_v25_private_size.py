"""The divisor of a gradient, and the rate of its batches, must not be the true number of records.

A sum with noise that is divided by how many records there are tells that number by the size of its noise, in every one
of a million parameters at once. A rate that is computed from it tells it more slowly, and costs another epsilon than
the one that was charged.

Defence: gradients are divided by the expected batch of a plan, and coins have the plan's rate; both follow from a size
that is declared in public, and there is no default for it. The released gradients of n and n + 1 records are audited in
many dimensions.
Source: Opacus issues 571 and 819.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from discreet.auditing.audit import audit
from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.learn.sgd import Training, private
from discreet.learn.sgd import run as runs
from discreet.learn.sgd import sampling as samplers
from discreet.testing import seeded

torch.set_num_threads(1)

ALPHA = 1e-9
WIDTH = 200
PLAN = Training(records=2, batch=2, steps=1, noise_multiplier=4)


def parts_of(rows, records=2, **options):
    model = nn.Linear(rows.shape[1], 1, bias=False)
    nn.init.zeros_(model.weight)
    given = {"batch": records, "steps": 1, "noise_multiplier": 4, "probe": False, **options}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    return private(model, optimizer, (rows,), records=records, **given)


def released(rows, count):
    """Take many steps from the same model on records that are all zero: what is seen is noise, divided."""
    parts, seen = parts_of(rows, steps=count), []
    for (x,) in parts.batches:
        parts.model(x).mean().backward()
        parts.optimizer.step()
        seen.append(parts.model.weight.grad[0].double().numpy().copy())
    return np.array(seen)


def attacked(name):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(name):
        return audit(
            lambda rows: released(rows, 1)[0],
            claims=PLAN.loss,
            neighbours=(torch.zeros(2, WIDTH), torch.zeros(1, WIDTH)),
            batch=released,
            draws=200,
            alpha=ALPHA,
        )


def rates_of(sizes):
    """Return the rates at which batches are drawn from so many true records."""
    seen, kept = [], samplers.bernoulli
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samplers, "bernoulli", lambda rate, size: seen.append(rate) or kept(rate, size=size))
        for size in sizes:
            parts = parts_of(torch.zeros(size, 3), records=100, batch=10)
            next(parts.batches.step())
    return set(seen)


def test_a_record_more_does_not_show_in_the_noise():
    found = attacked("a constant divides")
    assert not found.refuted, str(found)


def test_the_rate_is_that_of_the_declared_size():
    assert rates_of([0, 1, 99, 100, 101, 300]) == {Training(records=100, batch=10, steps=1, noise_multiplier=1).rate}


def test_plans_and_charges_are_the_same_whatever_is_there():
    plans = {parts_of(torch.zeros(size, 3), records=100, batch=10).run.plan for size in (0, 99, 100, 101)}
    assert len(plans) == 1


def test_the_size_is_never_read_from_the_data():
    with pytest.raises(InvalidParameter, match="records= is missing"):
        parts_of(torch.zeros(2, 3), records=None, batch=2)


def test_the_audit_catches_a_divisor_that_is_the_true_batch(monkeypatch):
    """Noise divided by the number of records in the batch: 2 on one side and 1 on the other."""
    drawn, draw, begin = [], samplers.Sampler.draw, runs.begin

    def counted(self, step):
        drawn.append(draw(self, step))
        return drawn[-1]

    monkeypatch.setattr(samplers.Sampler, "draw", counted)
    monkeypatch.setattr(runs, "begin", lambda *given: begin(*given[:-1], 1 / max(1, len(drawn[-1]))))
    found = attacked("the true batch divides")
    assert found.refuted, str(found)


def test_the_check_catches_a_rate_of_the_true_size(monkeypatch):
    start = samplers.Sampler.__init__

    def curious(self, plan, present):
        start(self, replace(plan, records=max(present, plan.batch)), present)

    monkeypatch.setattr(samplers.Sampler, "__init__", curious)
    assert len(rates_of([99, 100, 101])) == 3
