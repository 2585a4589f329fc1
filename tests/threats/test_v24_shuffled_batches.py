"""Shuffled batches must not be charged as sampled ones.

Where each record takes part once in a pass, whoever was there is certain to be seen once; amplification by sampling
counts on the chance that nobody looked. At noise multiplier 1 and a hundred steps the usual formula says 1.2 where more
than 4 is certain.

Defence: the training draws its own Poisson samples, loaders and other samplers are refused, and batches dealt in passes
are charged without amplification; that is checked against an exact lower bound, and what is released is audited.
Source: Opacus issue 80; Chua et al., How Private are DP-SGD Implementations?, ICML 2024.
"""

import warnings

import numpy as np
import pytest
import torch
from scipy.special import log_ndtr
from torch import nn

from discreet.auditing.audit import audit
from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.learn.sgd import Training, private
from discreet.learn.sgd.sampling import Sampler
from discreet.testing import seeded

torch.set_num_threads(1)

ALPHA = 1e-9
POISSON = Training(records=2, batch=1, steps=2, noise_multiplier=0.125)
PASSES = Training(records=2, batch=1, steps=2, noise_multiplier=0.125, sampling="passes")
WITHOUT, WITH = torch.zeros(1, 1), torch.tensor([[0.0], [1.0]])


def certain_delta(epsilon, *, steps, noise):
    """A lower bound on delta for one pass over shuffled batches: some released sum is large, at the best threshold.

    All other records have the gradient -1 and this one has 1, or 0 once it is zeroed out: so its batch stands 2 or 1
    above all the others, wherever it is.
    """
    c = np.linspace(0, 15, 3000)
    others = (steps - 1) * log_ndtr(c / noise)
    there, away = (-np.expm1(others + log_ndtr((c - shift) / noise)) for shift in (2, 1))
    return float((there - np.exp(epsilon) * away).max())


def charged_enough(plan, epsilons=(0.5, 1, 2, 3, 4)):
    """Check that a plan whose batches are dealt in one pass says no less than what is certain."""
    return all(plan.loss.delta(e) >= certain_delta(e, steps=plan.steps, noise=plan.noise_multiplier) for e in epsilons)


@pytest.mark.parametrize("noise", [0.5, 1, 2])
@pytest.mark.parametrize("steps", [4, 100])
def test_passes_are_charged_for_what_is_certain(steps, noise):
    plan = Training(records=steps, batch=1, steps=steps, noise_multiplier=noise, sampling="passes")
    assert charged_enough(plan)


def test_another_sampler_costs_more():
    """At noise multiplier 1 and a hundred steps: 4.38 in place of 1.21, and more than 4 is certain."""
    dealt, drawn = (
        Training(records=100, batch=1, steps=100, noise_multiplier=1, sampling=s).loss.epsilon(1e-5)
        for s in ("passes", "poisson")
    )
    assert dealt == pytest.approx(4.377, abs=1e-3)
    assert drawn < 1.3
    assert certain_delta(4.0, steps=100, noise=1) > 1e-5


def test_the_check_catches_passes_that_are_charged_as_samples():
    amplified = Training(records=100, batch=1, steps=100, noise_multiplier=1)
    assert not charged_enough(amplified)


@pytest.mark.parametrize("sampling", ["shuffle", "shuffled", "epoch", None, "Poisson"])
def test_no_other_sampling_has_a_name(sampling):
    with pytest.raises(InvalidParameter, match="sampling must be one of"):
        Training(records=2, batch=1, steps=2, noise_multiplier=1, sampling=sampling)


def released(plan):
    """Return a release of all sums of a plan's steps: the model stays where it is, and its gradient is the record."""

    def batch(rows, count):
        model = nn.Linear(1, 1, bias=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        given = {"records": 2, "batch": 1, "noise_multiplier": plan.noise_multiplier, "sampling": plan.sampling}
        parts = private(model, optimizer, (rows,), steps=plan.steps * count, **given)
        seen = []
        for (x,) in parts.batches:
            model(x).mean().backward()
            parts.optimizer.step()
            if not parts.optimizer.moved:
                continue  # made-up records
            seen.append(float(model.weight.grad))
        return np.array(seen).reshape(count, plan.steps)

    return batch


def attacked(plan, claims, name, draws):
    batch = released(plan)
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(name):
        return audit(
            lambda rows: batch(rows, 1)[0],
            claims=claims,
            neighbours=(WITH, WITHOUT),
            batch=batch,
            draws=draws,
            alpha=ALPHA,
        )


@pytest.mark.parametrize("plan", [POISSON, PASSES], ids=lambda plan: plan.sampling)
def test_both_ways_to_draw_batches_stand_an_audit(plan):
    found = attacked(plan, plan.loss, f"audited {plan.sampling}", 200)
    assert not found.refuted, str(found)


def dealt(self, step):
    """Shuffle all records once a pass and hand them out in order, as a loader does."""
    turn = step % self.plan.per_pass
    if turn == 0:
        self.places = np.random.default_rng(step).permutation(self.present)
    return self.places[turn * self.plan.batch : (turn + 1) * self.plan.batch]


def test_the_audit_catches_shuffled_batches_charged_as_poisson(monkeypatch):
    """Sampled twice with probability 1/2, nobody is seen with probability 1/4; dealt, nobody is missed."""
    monkeypatch.setattr(Sampler, "draw", dealt)
    found = attacked(POISSON, POISSON.loss, "shuffled", 500)
    assert found.refuted, str(found)
