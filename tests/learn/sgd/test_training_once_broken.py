"""What once left a training without noise, or moved a noisy sum by more than was charged."""

import json
import math
import os
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

import discreet.learn.sgd.run as runs
from discreet.errors import InvalidParameter, UnknownKind
from discreet.learn.sgd import private, resume, save, train
from discreet.learn.sgd.noise import Ahead, Begun, noisy
from discreet.learn.sgd.normal import coarse_grid
from discreet.learn.sgd.replay import Replay
from discreet.learn.sgd.run import Moment


@pytest.fixture
def no_noise(monkeypatch):
    """See the sums themselves: what is under test is what noise is added to."""
    seen = []
    monkeypatch.setattr(runs, "begin", lambda total, *rest: seen.append(total.clone()) or Begun(total * rest[-1]))
    return seen


def whole(model, data, records=8, **options):
    """Train on all records at once: one batch in each pass."""
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.0)
    return private(
        model,
        optimizer,
        data,
        records=records,
        batch=records,
        noise_multiplier=1,
        **{"steps": 1, "sampling": "passes"} | options,
    )


class Keeping(nn.Module):
    """A layer with a memory of its inputs, as a buffer that is put in anew or a parameter that is not trained."""

    def __init__(self, trained):
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self.trained = trained
        if trained:
            self.register_buffer("mean", torch.zeros(1))
        else:
            self.mean = nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, x):
        if self.trained:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        else:
            self.mean.copy_(x.detach().mean(0))
        return self.layer(x)


@pytest.mark.parametrize("buffer", [True, False])
def test_what_a_model_keeps_of_its_inputs_is_refused(buffer):
    with pytest.raises(InvalidParameter, match="mean was changed"):
        train(whole(Keeping(buffer), (torch.ones(4, 1), torch.ones(4, 1))), nn.MSELoss())


@pytest.mark.parametrize("when", ["after private()", "gradient left"])
def test_parameters_that_are_trained_later_are_refused(when):
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    model[0].requires_grad_(False)
    data = torch.full((4, 1), 1e3), torch.zeros(4, 1)
    parts = private(
        model, torch.optim.SGD(model.parameters(), lr=1.0), data, records=4, batch=4, steps=2, noise_multiplier=1
    )
    before = model[0].weight.detach().clone()
    if when == "after private()":
        model[0].requires_grad_(True)
    else:
        model[0].weight.grad = torch.ones_like(before)
    with pytest.raises(InvalidParameter, match="not clipped"):
        train(parts, nn.MSELoss())
    assert torch.equal(model[0].weight, before)


def test_unlisted_parameters_that_are_trained_later_are_refused():
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    model[0].requires_grad_(False)
    parts = whole(model, (torch.ones(4, 1), torch.ones(4, 1)))
    model[0].requires_grad_(True)
    with pytest.raises(InvalidParameter, match=r"0\.weight"):
        train(parts, nn.MSELoss())


def test_noise_made_ahead_is_not_used_by_two_processes():
    count = 1 << 14
    ahead = Ahead(torch.device("cpu"))
    ahead.prepare(count, 300.0)
    ahead._next[1].result()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, ahead.take(count, 300.0).parts[:8].numpy().tobytes())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(read, 32), dtype=np.float32)
    assert len(theirs) == 8
    assert not np.array_equal(theirs, ahead.take(count, 300.0).parts[:8].numpy())


@pytest.mark.parametrize("strategy", ["square_root", "banded", "tree"])
def test_steps_of_correlated_noise_are_not_left_out(no_noise, strategy):
    model = nn.Linear(1, 1, bias=False)
    data = torch.ones(1, 1), torch.full((1, 1), 100.0)
    parts = private(
        model,
        torch.optim.SGD(model.parameters(), lr=0.0),
        data,
        records=4,
        batch=1,
        noise_multiplier=1,
        steps=8,
        sampling="passes",
        strategy=strategy,
        probe=False,
    )
    parts.batches.sampler.places = np.zeros(1, dtype=np.int64)

    def taken(answered):
        pieces = parts.batches.step()
        x, y = next(pieces)
        if answered:
            nn.functional.mse_loss(model(x), y).backward()
            parts.optimizer.step()
        pieces.close()

    taken(answered=True)
    taken(answered=False)
    with pytest.raises(InvalidParameter, match="left before its end"):
        taken(answered=True)
    assert len(no_noise) == 1


def language(records, said):
    """Return sequences of 20 places, of which those said have a class and the others are ignored."""
    targets = torch.full((records, 20), -100)
    for place, count in enumerate(said):
        targets[place, :count] = 1
    return torch.ones(records, 20, 1), targets


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 2, bias=False)
        nn.init.zeros_(self.layer.weight)

    def forward(self, x):
        return self.layer(x).transpose(1, 2)


def test_how_many_have_a_class_moves_no_other_example(no_noise):
    for said in ([1] * 8, [1] * 8 + [20]):
        train(whole(Words(), language(len(said), said), clip=0.5), nn.CrossEntropyLoss())
    assert float((no_noise[0] - no_noise[1]).norm()) <= 0.5 * (1 + 1 / 60)


@pytest.mark.parametrize("kind", [nn.CrossEntropyLoss, nn.NLLLoss])
def test_weights_of_classes_move_no_other_example(no_noise, kind):
    for records in (8, 9):
        model = nn.Linear(1, 2, bias=False)
        nn.init.zeros_(model.weight)
        targets = torch.ones(records, dtype=torch.long)
        targets[8:] = 0
        train(whole(model, (torch.ones(records, 1), targets), clip=0.5), kind(weight=torch.tensor([1e3, 1.0])))
    assert float((no_noise[0] - no_noise[1]).norm()) <= 0.5 * (1 + 1 / 60)


def test_a_criterion_of_another_reduction_is_refused():
    parts = whole(nn.Linear(1, 1), (torch.ones(8, 1), torch.ones(8, 1)))
    with pytest.raises(InvalidParameter, match="reduction"):
        train(parts, nn.MSELoss(reduction="sum"))
    assert parts.run.started == 0


@pytest.mark.parametrize("inside", [True, False])
def test_sums_under_autocast_move_by_no_more_than_the_clip(no_noise, inside):
    found = []
    for records in (256, 257, 258, 259):
        model = nn.Linear(1, 1, bias=False)
        nn.init.zeros_(model.weight)
        parts = whole(model, (torch.ones(records, 1), torch.full((records, 1), 100.0)), records=256)
        for x, y in parts.batches:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                outputs = model(x)
                loss = (outputs.float() - y).square().mean()
                if inside:
                    loss.backward()
                    parts.optimizer.step()
            if not inside:
                loss.backward()
                parts.optimizer.step()
        found.append(float(no_noise[-1]))
    assert max(abs(b - a) for a, b in pairwise(found)) <= 1 + 1 / 60


class Causal(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.mask = torch.triu(torch.ones(steps, steps, dtype=torch.bool), 1)

    def forward(self, x):
        return self.attention(x, x, x, attn_mask=self.mask, need_weights=False)[0].flatten(1)


def test_as_many_examples_as_positions_do_not_share_out_a_mask(no_noise):
    torch.manual_seed(3)
    model, x = Causal(8), torch.randn(9, 8, 4)
    for records in (8, 9):
        parts = whole(model, (x[:records], torch.ones(records, 32)))
        train(parts, nn.MSELoss())
        parts.run.book.detach()
    assert float((no_noise[0] - no_noise[1]).norm()) <= 1 + 1 / 60


def test_attention_over_the_first_dimension_is_refused():
    with pytest.raises(InvalidParameter, match="batch_first"):
        whole(nn.TransformerEncoderLayer(4, 2, 8), (torch.ones(4, 3, 4), torch.ones(4, 3, 4)))


def test_no_physical_batch_is_of_one_or_two_rows():
    parts = whole(nn.Linear(1, 1), (torch.ones(1, 1), torch.ones(1, 1)), records=4, probe=False)
    x, _ = next(iter(parts.batches))
    assert len(x) == 8


def test_what_is_public_of_a_step_does_not_tell_how_long_it_took():
    assert tuple(Moment.__dataclass_fields__) == ("step", "clip", "norm")


@pytest.mark.parametrize("change", [{"steps": -3}, {"steps": 9}, {"steps": True}, {"clip": 0.0}, {"clip": math.inf}])
def test_a_checkpoint_is_at_a_step_of_its_plan(tmp_path, change):
    def made():
        torch.manual_seed(0)
        return whole(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4, 1)), steps=4)

    parts = made()
    save(parts, tmp_path)
    told = json.loads((tmp_path / "training.json").read_text())
    (tmp_path / "training.json").write_text(json.dumps(told | change))
    again = made()
    with pytest.raises(UnknownKind, match="no step"):
        resume(again, tmp_path)
    assert again.run.started == 0


def test_a_pass_is_not_resumed_without_who_has_had_a_turn(tmp_path):
    def made():
        torch.manual_seed(0)
        return whole(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4, 1)), steps=4, strategy="banded")

    save(made(), tmp_path)
    told = json.loads((tmp_path / "training.json").read_text())
    (tmp_path / "training.json").write_text(json.dumps(told | {"steps": 2}))
    with pytest.raises(UnknownKind, match="turn"):
        resume(made(), tmp_path)


class Played:
    """A recorded graph without an accelerator: the same passes, into the same memory."""

    def __init__(self, replay):
        self.replayed = replay

    def replay(self):
        held = self.replayed
        inputs, targets = held.batch
        held.criterion(held.model(inputs), targets).backward()
        held.flat.copy_(held.run.summed(held.mask)[0])


@pytest.mark.parametrize("options", [{"micro_batch": 4}, {"strategy": "square_root", "batch": 4}])
def test_sums_that_are_played_again_are_kept(no_noise, options):
    records, found = 8, []
    x, y = torch.arange(1.0, 9.0)[:, None], torch.full((8, 1), 100.0)
    for played in (False, True):
        no_noise.clear()
        torch.manual_seed(1)
        model = nn.Linear(1, 1, bias=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        given = {"batch": records, "steps": 2, "sampling": "passes", "clip": 1e6} | options
        parts = private(model, optimizer, (x, y), records=records, noise_multiplier=1, **given)
        parts.batches.fill = parts.batches.size = 8 if "batch" in options else 4
        parts.batches.sampler.places = np.arange(8) % parts.run.plan.per_pass
        parts.batches.sampler.draw = lambda step, sampler=parts.batches.sampler: np.flatnonzero(
            sampler.places == step % sampler.plan.per_pass
        )
        replay = Replay(model, nn.MSELoss(), parts.optimizer)
        for batch in parts.batches:
            if played and replay.graph is None:
                replay.possible, replay.seen, replay.graph = True, 99, Played(replay)
                replay.batch, replay.mask = tuple(map(torch.clone, batch)), parts.run.mask.clone()
                replay.flat, replay.finite = torch.zeros(1, dtype=torch.float64), torch.tensor(True)
            if not replay(batch):
                nn.functional.mse_loss(model(batch[0]), batch[1]).backward()
                parts.optimizer.step()
        found.append(torch.cat(no_noise).double())
    torch.testing.assert_close(found[0], found[1], rtol=1e-5, atol=0.0)


def test_noise_made_ahead_is_not_used_by_a_process_of_the_same_number(monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: 1)
    ahead = Ahead(torch.device("cpu"))
    ahead.prepare(1 << 14, 300.0)
    ahead._next[1].result()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, ahead.take(1 << 14, 300.0).words[:8].numpy().tobytes())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(read, 32), dtype=np.int32)
    assert len(theirs) == 8
    assert not np.array_equal(theirs, ahead.take(1 << 14, 300.0).words[:8].numpy())


class Late:
    """Noise that is decided when it is waited for."""

    def __init__(self, out):
        self.out = out

    def finish(self):
        """Decide everything."""
        self.out.fill_(7.0)
        return True


class Wider(nn.Module):
    """A step from single to double precision."""

    def forward(self, x):
        """Return the same in double precision."""
        return x.double()


def test_what_is_decided_late_reaches_parameters_of_every_type(monkeypatch):
    def begin(total, sigma, kind, ahead, given, share):
        out = torch.full_like(total, math.nan, dtype=given)
        return Begun(out, Late(out))

    monkeypatch.setattr(runs, "begin", begin)
    model = nn.Sequential(nn.Linear(3, 4), Wider(), nn.Linear(4, 1).double())
    parts = whole(model, (torch.randn(8, 3), torch.randn(8, 1).double()), probe=False)
    x, y = next(iter(parts.batches))
    nn.functional.mse_loss(parts.model(x), y).backward()
    parts.optimizer.step()
    assert all(bool((parameter.grad == 7.0).all()) for parameter in model.parameters())


@pytest.mark.parametrize(("kind", "huge"), [(torch.float32, 3e38), (torch.float64, 1e308)])
def test_huge_sums_look_alike_whenever_they_are_decided(kind, huge):
    """Those near an edge were infinite or no number, and all others 0: it told which were near an edge."""
    found = noisy(torch.full((20_000,), huge, dtype=kind), 1.0, "secure", Ahead(torch.device("cpu")))
    assert bool((found.abs() < 9).all())


def test_steps_in_inference_mode_do_not_end_with_the_first():
    model = nn.Linear(300, 300)
    parts = whole(model, (torch.randn(8, 300), torch.randn(8, 300)), steps=3)
    for x, y in parts.batches:
        nn.functional.mse_loss(parts.model(x), y).backward()
        with torch.inference_mode():
            parts.optimizer.step()
    assert parts.run.finished == 3


def test_noise_made_ahead_is_for_the_clip_to_come():
    model = nn.Linear(300, 300)
    parts = whole(model, (torch.randn(8, 300), torch.randn(8, 300)), steps=2, clipping="adaptive", probe=False)
    for step, (x, y) in enumerate(parts.batches):
        nn.functional.mse_loss(parts.model(x), y).backward()
        parts.optimizer.step()
        if not step:
            sigma = parts.run._sigma()
            assert parts.run.ahead._next[0][1] == sigma / float(coarse_grid(sigma))


def test_noise_for_what_is_not_contiguous_and_for_nothing():
    ahead = Ahead(torch.device("cpu"))
    assert noisy(torch.zeros(3, 5).T, 1.0, "secure", ahead).shape == (5, 3)
    assert noisy(torch.zeros(0), 1.0, "secure", ahead).shape == (0,)
    with pytest.raises(InvalidParameter, match="deviation"):
        noisy(torch.zeros(3), 2.0**-125, "secure", ahead)
