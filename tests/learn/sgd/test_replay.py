"""Recorded passes take the same steps; here a recording is a function that is run again, as there is no accelerator."""

import copy

import pytest
import torch
from torch import nn

from discreet.learn.sgd import run as runs
from discreet.learn.sgd.noise import Begun
from discreet.learn.sgd.private import private
from discreet.learn.sgd.replay import Replay


class Recording:
    """Plays the passes again on whatever lies in the copies, and leaves sums where they lay the first time."""

    def __init__(self, replay):
        self.replay_of, self.played, self.flat = replay, 0, None

    def replay(self):
        """Run the passes, and leave the book as it was: a true recording does not touch it."""
        self.played += 1
        self.replay_of.passes()
        self.flat = self.replay_of.flat if self.flat is None else self.flat.copy_(self.replay_of.flat)
        self.replay_of.flat = self.flat
        self.replay_of.run.book.open(len(self.replay_of.mask))


@pytest.fixture
def no_noise(monkeypatch):
    """Leave noise out, so that both ways can be compared."""
    monkeypatch.setattr(runs, "begin", lambda total, *rest: Begun(total * rest[-1]))


def built(x, y, **options):
    """Return a training of the same model on the same records, and its replay."""
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    settings = {
        "records": len(x),
        "noise_multiplier": 1.0,
        "steps": 4,
        "batch": len(x),
        "clip": 0.2,
        "probe": False,
    } | options
    return private(model, optimizer, (x, y), **settings)


def stepped(parts, replay=None):
    """Run all steps; return how many physical batches were run as ever, and the weights."""
    as_ever = 0
    for batch in parts.batches:
        if replay is None or not replay(batch):
            as_ever += 1
            inputs, targets = batch
            nn.functional.cross_entropy(parts.model(inputs), targets).backward()
            parts.optimizer.step()
    return as_ever, torch.cat([p.detach().flatten() for p in parts.model.parameters()])


def recorded(parts):
    """Return a replay whose recording is a function."""
    replay = Replay(parts.model, nn.functional.cross_entropy, parts.optimizer)
    assert not replay.possible  # on a processor
    replay.possible = True

    def record(batch, mask):
        replay.batch, replay.mask = tuple(part.clone() for part in batch), mask.clone()
        replay.graph = Recording(replay)
        return True

    replay._recorded = record
    return replay


@pytest.mark.parametrize(("rows", "micro_batch"), [(16, None), (16, 8), (600, 304)])
def test_recorded_steps_are_the_same_steps(no_noise, rows, micro_batch):
    x, y = torch.randn(rows, 3), torch.randint(0, 2, (rows,))
    options = {"micro_batch": micro_batch, "steps": 8}
    _, expected = stepped(built(x, y, **options))
    parts = built(x, y, **options)
    replay = recorded(parts)
    as_ever, found = stepped(parts, replay)
    assert as_ever == 3
    assert replay.graph.played == (8 if micro_batch is None else 16) - 3
    assert parts.run.finished == parts.run.started == 8
    torch.testing.assert_close(found, expected)


def test_a_batch_that_is_not_finite_runs_as_ever(no_noise):
    x, y = torch.randn(16, 3), torch.randint(0, 2, (16,))
    x[5] = float("nan")
    _, expected = stepped(built(x, y))
    parts = built(x, y)
    replay = recorded(parts)
    as_ever, found = stepped(parts, replay)
    assert (as_ever, replay.graph.played) == (4, 1)
    assert bool(torch.isfinite(found).all())
    torch.testing.assert_close(found, expected)


def test_what_may_not_be_used_is_not_released():
    parts = built(torch.randn(16, 3), torch.randint(0, 2, (16,)))
    before = copy.deepcopy(parts.model.state_dict())
    inputs, targets = next(iter(parts.batches))
    nn.functional.cross_entropy(parts.model(inputs), targets).backward()
    assert parts.run.add()
    assert not parts.optimizer.finish(lambda: False)
    assert parts.run.finished == 0
    assert not parts.run.moments
    assert parts.run.total is None
    assert all(parameter.grad is None for parameter in parts.model.parameters())
    for name, value in parts.model.state_dict().items():
        torch.testing.assert_close(value, before[name])


def test_a_clip_that_moves_is_never_recorded():
    parts = built(torch.randn(16, 3), torch.randint(0, 2, (16,)), clipping="adaptive")
    assert not Replay(parts.model, nn.functional.cross_entropy, parts.optimizer).possible
