"""Private training audited in one run: the right one stands, and three that are wrong are caught.

Every audit has alpha 1e-9, so each test is wrong with less than that probability, were its noise not seeded. What one
run cannot see is in ``tests/threats``: shuffled batches (V24) and divisors (V25) are audited there over many runs.
"""

import pytest
import torch
from torch import nn

from discreet.auditing import audit_training
from discreet.auditing.trained.canaries import dirac, gradient_scores
from discreet.learn.sgd import Training, private
from discreet.learn.sgd import run as runs
from discreet.learn.sgd.noise import Begun

CANARIES, OTHERS, WIDTH = 1000, 200, 8
STRENGTH = 50.0
ALPHA = 1e-9
QUIET = Training(records=1200, batch=600, steps=8, noise_multiplier=5)
"""Its claim is so small that whoever tells canaries apart refutes it."""

CLIPPED, BEGIN = runs.clipped, runs.begin
pytestmark = pytest.mark.usefixtures("repeatable")


class TwoLayers(nn.Module):
    """A linear model on two kinds of features, with a layer for each."""

    def __init__(self):
        super().__init__()
        self.left = nn.Linear(CANARIES, 1, bias=False)
        self.right = nn.Linear(WIDTH, 1, bias=False)
        for layer in (self.left, self.right):
            nn.init.zeros_(layer.weight)

    def forward(self, x):
        return self.left(x[:, :CANARIES]) + self.right(x[:, CANARIES:])


def logistic(outputs, targets):
    return nn.functional.softplus(-targets * outputs).mean()


def canaries():
    return dirac(CANARIES, CANARIES + WIDTH, strength=STRENGTH), torch.ones(CANARIES, 1)


def others():
    generator = torch.Generator().manual_seed(1)
    x = torch.zeros(OTHERS, CANARIES + WIDTH)
    x[:, CANARIES:] = torch.randn(OTHERS, WIDTH, generator=generator)
    return x, torch.sign(x[:, -1:])


def trained(plan, **options):
    def train(included):
        model, known = TwoLayers(), canaries()
        chosen = torch.from_numpy(included)
        data = [torch.cat([a, b[chosen]]) for a, b in zip(others(), known, strict=True)]
        given = {"batch": plan.batch, "steps": plan.steps, "noise_multiplier": plan.noise_multiplier, **options}
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        parts = private(model, optimizer, data, records=plan.records, **given)
        return gradient_scores(parts, logistic, known)

    return train


@pytest.mark.parametrize(
    ("plan", "options", "least"),
    [
        (Training(records=1200, batch=1200, steps=1, noise_multiplier=0.7), {}, 0.9),
        (Training(records=1200, batch=600, steps=4, noise_multiplier=0.7), {}, 0.8),
        (
            Training(records=1200, batch=600, steps=4, noise_multiplier=0.7, clipping="per_layer"),
            {"clipping": "per_layer"},
            0.3,
        ),
        (
            Training(records=1200, batch=600, steps=4, noise_multiplier=1, sampling="passes"),
            {"sampling": "passes"},
            0.5,
        ),
    ],
    ids=["everyone", "sampled", "per layer", "passes"],
)
def test_a_right_training_stands_and_shows_itself(plan, options, least):
    found = audit_training(trained(plan, **options), CANARIES, claims=plan.loss, alpha=ALPHA)
    assert not found.refuted, str(found)
    assert least < found.epsilon < found.claimed


def test_a_claim_that_is_far_too_small_is_refuted():
    """The same run as above, said to be ten times as noisy."""
    loud = Training(records=1200, batch=1200, steps=1, noise_multiplier=0.4)
    found = audit_training(trained(loud), CANARIES, claims=QUIET.loss, alpha=ALPHA)
    assert found.refuted


def test_the_quiet_training_stands():
    found = audit_training(trained(QUIET), CANARIES, claims=QUIET.loss, alpha=ALPHA)
    assert not found.refuted, str(found)


def unclipped_layer(notes, mask, *, clip, groups, **options):
    """Clip all layers but the first."""
    first, *rest = groups[0]
    found = CLIPPED(dict(notes), mask, clip=clip, groups=[rest], **options)
    found.sums[first].copy_(CLIPPED(dict(notes), mask, clip=1e9, groups=[[first]], **options).sums[first])
    return found


def unclipped(notes, mask, *, clip, **options):
    return CLIPPED(notes, mask, clip=1e9, **options)


def clipped_late(total, *rest):
    """Add the noise, then clip the noisy sum to the norm that a full batch may have."""
    found = BEGIN(total, *rest).out
    return Begun(found * min(1.0, QUIET.batch * rest[-1] / float(found.norm())))


def a_twentieth_of_the_noise(total, sigma, *rest):
    return BEGIN(total, sigma / 20, *rest)


@pytest.mark.parametrize(
    "flaws",
    [{"clipped": unclipped_layer}, {"clipped": unclipped, "begin": clipped_late}, {"begin": a_twentieth_of_the_noise}],
    ids=["one layer is not clipped", "noise comes before the clip", "a twentieth of the noise"],
)
def test_broken_trainings_are_caught(monkeypatch, flaws):
    for name, flaw in flaws.items():
        monkeypatch.setattr(runs, name, flaw)
    found = audit_training(trained(QUIET), CANARIES, claims=QUIET.loss, alpha=ALPHA)
    assert found.refuted, str(found)
    assert found.epsilon > found.claimed
