"""What stands around a training: compiled models, several processes, a bar, models without batch norms."""

import io
import sys

import pytest
import torch
from sgd_brute_force import booked, summed
from torch import nn
from torch.multiprocessing import spawn

from discreet.learn.sgd import private, train, without_batch_norm
from discreet.learn.sgd.progress import Progress


def test_compiled_models_are_clipped_alike():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
    x, mask = torch.randn(6, 4), torch.ones(6, dtype=torch.bool)
    plain = booked(model, summed, (x,), mask, 0.3).sums
    compiled = booked(torch.compile(model, backend="aot_eager"), summed, (x,), mask, 0.3).sums
    for parameter in model.parameters():
        torch.testing.assert_close(plain[parameter], compiled[parameter])


def one_of_two(rank, file, results):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    try:
        from discreet.learn.sgd import run as runs

        kept, exact = runs.begin, []
        runs.begin = lambda total, *rest: exact.append(total.clone()) or kept(total, *rest)
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        x = torch.randn(12, 3, generator=torch.Generator().manual_seed(1))[rank::2]
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        parts = private(
            model, optimizer, (x,), records=12, batch=12, steps=2, noise_multiplier=1.0, clip=0.2, clipping="adaptive"
        )
        for (inputs,) in parts.batches:
            model(inputs).square().sum(1).mean().backward()
            parts.optimizer.step()
        flat = torch.cat([p.detach().flatten() for p in model.parameters()])
        torch.save({"model": flat, "exact": exact[:1], "clip": parts.run.clip}, f"{results}/{rank}.pt")
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_several_processes_add_noise_once(tmp_path):
    spawn(one_of_two, (tmp_path / "meeting", str(tmp_path)), nprocs=2)
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in (0, 1))
    assert torch.equal(first["model"], second["model"])
    assert first["clip"] == second["clip"]
    assert len(first["exact"]) == 1
    assert second["exact"] == []
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    x = torch.randn(12, 3, generator=torch.Generator().manual_seed(1))
    mask = torch.ones(12, dtype=torch.bool)
    whole = booked(model, lambda m, a: m(a).square().sum(), (x,), mask, 0.2).sums
    expected = torch.cat([whole[p].flatten() for p in model.parameters()])
    torch.testing.assert_close(first["exact"][0].float(), expected, rtol=1e-4, atol=1e-5)


def test_the_bar_shows_epsilon_and_time():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    parts = private(model, optimizer, torch.zeros(20, 2), records=20, batch=5, steps=4, noise_multiplier=2)
    out = io.StringIO()
    parts.batches.progress = Progress(1e-5, out, every=0.0)
    for (x,) in parts.batches:
        model(x).mean().backward()
        parts.optimizer.step()
    lines = out.getvalue().strip().split("\r")
    assert len(lines) == 4
    assert "step 4/4" in lines[-1]
    assert f"epsilon {parts.run.plan.loss.epsilon(1e-5):.3f}" in lines[-1]
    assert "0 s left" in lines[-1]


def test_a_bar_goes_to_the_error_stream(capsys):
    model = nn.Linear(2, 1)
    data = torch.zeros(20, 2), torch.zeros(20, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(
        private(model, optimizer, data, records=20, batch=5, steps=2, noise_multiplier=2, progress=True), nn.MSELoss()
    )
    assert "step 2/2" in capsys.readouterr().err
    assert sys.stderr is not None


def test_batch_norms_are_replaced():
    model = nn.Sequential(nn.Conv2d(3, 12, 3), nn.BatchNorm2d(12), nn.Sequential(nn.ReLU(), nn.BatchNorm2d(12)))
    weight = model[1].weight
    assert without_batch_norm(model) is model
    assert isinstance(model[1], nn.GroupNorm)
    assert model[1].weight is weight
    assert not any(isinstance(module, nn.BatchNorm2d) for module in model.modules())
    private(
        model,
        torch.optim.SGD(model.parameters(), lr=0.1),
        torch.zeros(4, 3, 8, 8),
        records=4,
        steps=1,
        noise_multiplier=1,
    )
