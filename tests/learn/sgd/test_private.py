"""The whole loop: what reaches the inner optimizer, and what cannot be done wrong."""

import math

import numpy as np
import pytest
import torch
from sgd_brute_force import Attention, looped
from torch import nn

from discreet.accounting import Budget
from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.learn.sgd import private, train
from discreet.learn.sgd import run as runs
from discreet.learn.sgd.noise import Begun

MSE = nn.MSELoss()


def small(present=40, **options):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.randn(present, 3)
    data = x, torch.sin(3 * x[:, :1])
    given = {"records": 40, "batch": 20, "steps": 3, "noise_multiplier": 1.0, **options}
    return private(model, torch.optim.SGD(model.parameters(), lr=0.1), data, **given), data


@pytest.fixture
def no_noise(monkeypatch):
    """See the sums themselves: what is under test is what noise is added to."""
    seen = []

    def begin(total, sigma, *rest):
        seen.append((total.clone(), sigma))
        return Begun(total * rest[-1])

    monkeypatch.setattr(runs, "begin", begin)
    return seen


@pytest.mark.parametrize("micro_batch", [1, 7, 20, 1000])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_gradients_are_clipped_sums_over_the_expected_batch(no_noise, micro_batch, reduction):
    parts, (x, y) = small(micro_batch=micro_batch, clip=0.3, reduction=reduction, probe=False)
    criterion = nn.MSELoss(reduction=reduction)
    drawn = []
    draw = parts.batches.sampler.draw
    parts.batches.sampler.draw = lambda step: drawn.append(draw(step)) or drawn[-1]
    for pieces in range(3):
        before = None
        for inputs, targets in parts.batches.step():
            if before is None:
                index = torch.from_numpy(drawn[-1])
                mask = torch.ones(len(index), dtype=torch.bool)
                parts.run.book.examples = None
                before, _ = looped(
                    parts.model, lambda m, a, b: ((m(a) - b) ** 2).sum(), (x[index], y[index]), mask, 0.3
                )
                parts.run.book.examples = len(inputs)
            parts.optimizer.zero_grad()
            criterion(parts.model(inputs), targets).backward()
            parts.optimizer.step()
        assert parts.optimizer.moved
        assert pieces + 1 == parts.run.finished
        for parameter, total in before.items():
            torch.testing.assert_close(parameter.grad, total / 20, rtol=2e-3, atol=1e-4)
    assert {sigma for _, sigma in no_noise} == {0.3 * (1 + 1 / 60)}


def test_an_empty_batch_is_a_step_of_noise_alone():
    parts, _ = small(present=0)
    before = [p.detach().clone() for p in parts.model.parameters()]
    run = train(parts, MSE)
    assert run.finished == 3
    assert all(not torch.equal(p, q) for p, q in list(zip(parts.model.parameters(), before, strict=True))[:3])


def test_noise_has_the_planned_deviation(repeatable):
    model = nn.Linear(100, 100)
    data = torch.zeros(0, 100), torch.zeros(0, 100)
    parts = private(
        model,
        torch.optim.SGD(model.parameters(), lr=0.0),
        data,
        records=50,
        batch=10,
        steps=1,
        noise_multiplier=2.0,
        clip=0.5,
    )
    train(parts, MSE)
    deviation = float(model.weight.grad.std()) * 10
    assert math.isclose(deviation, 2.0 * 0.5 * (1 + 1 / 60), rel_tol=0.03)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e38])
def test_an_example_without_a_finite_gradient_adds_nothing(no_noise, bad):
    found = []
    for value in (bad, None):
        parts, (x, _) = small(batch=40, steps=1, clip=0.3)
        if value is None:
            parts.batches.sampler.draw = lambda step: np.delete(np.arange(40), 5)
        else:
            x[5] = value
        train(parts, MSE)
        found.append([p.grad.clone() for p in parts.model.parameters()])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
        assert a.any()


def test_no_record_moves_a_sum_by_more_than_the_clip(no_noise):
    for seed in range(5):
        sums = []
        for leave in (None, seed):
            torch.manual_seed(seed)
            model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 2))
            x, y = 100 * torch.randn(12, 3), torch.randint(0, 2, (12,))
            rows = [i for i in range(12) if i != leave]
            optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
            parts = private(
                model, optimizer, (x[rows], y[rows]), records=12, batch=12, steps=1, noise_multiplier=1, clip=0.1
            )
            no_noise.clear()
            train(parts, nn.CrossEntropyLoss())
            sums.append(torch.cat([total.flatten().double() for total, _ in no_noise]))
        assert float((sums[0] - sums[1]).norm()) <= 0.1 * (1 + 1 / 60)


@pytest.mark.parametrize("optimizer", [torch.optim.Adam, torch.optim.RMSprop, torch.optim.AdamW])
def test_any_optimizer_and_scheduler(optimizer):
    model = nn.Linear(3, 1)
    inner = optimizer(model.parameters(), lr=0.1)
    data = torch.randn(30, 3), torch.randn(30, 1)
    model, wrapped, batches = private(model, inner, data, records=30, batch=10, steps=4, noise_multiplier=1)
    scheduler = torch.optim.lr_scheduler.StepLR(wrapped, step_size=1, gamma=0.5)
    for x, y in batches:
        MSE(model(x), y).backward()
        wrapped.step()
        if wrapped.moved:
            scheduler.step()
    assert math.isclose(inner.param_groups[0]["lr"], 0.1 * 0.5**4)


def test_spending_is_counted_before_records_are_seen():
    parts, _ = small(probe=False)
    pieces = parts.batches.step()
    assert parts.run.loss.epsilon(1e-5) == 0
    next(pieces)
    assert parts.run.loss == parts.run.plan.loss_after(1)
    assert parts.run.finished == 0


def test_no_step_beyond_the_plan():
    parts, _ = small(steps=2)
    run = train(parts, MSE)
    assert list(parts.batches) == []
    with pytest.raises(BudgetExceeded):
        run.begin()


def test_an_account_is_charged_for_the_whole_plan_at_once():
    account = Budget(epsilon=9, delta=1e-5, filter="renyi").open()
    parts, _ = small(account=account)
    assert account.odometer()[0] > 0.5
    assert parts.run.started == 0
    with pytest.raises(BudgetExceeded):
        small(account=Budget(epsilon=0.01, delta=1e-5, filter="renyi").open())


def test_a_batch_is_stepped_on_once():
    parts, _ = small()
    batches = iter(parts.batches)
    x, y = next(batches)
    MSE(parts.model(x), y).backward()
    parts.optimizer.step()
    with pytest.raises(InvalidParameter, match="no batch"):
        parts.optimizer.step()
    next(batches)
    with pytest.raises(InvalidParameter, match="without its step"):
        next(batches)


def test_a_model_is_as_ever_outside_of_batches():
    parts, (x, y) = small()
    MSE(parts.model(x), y).backward()
    assert parts.model[0].weight.grad is not None
    parts.model.eval()
    with torch.no_grad():
        assert parts.model(x).shape == y.shape
    parts.run.book.detach()
    assert "forward" not in parts.model[0].__dict__


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)

    def forward(self, x):
        return nn.functional.linear(self.embed(x), self.embed.weight)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.mean.add_(x.mean(0))
        return self.layer(x)


@pytest.mark.parametrize(
    ("model", "x", "words"),
    [
        (Functional(), torch.zeros(8, 2, dtype=torch.long), "outside of its own layer"),
        (Counting(), torch.zeros(8, 3), "buffer mean"),
        (nn.LSTM(3, 2), torch.zeros(8, 50, 3), "first dimension"),
    ],
)
def test_what_would_escape_the_clip_is_refused(model, x, words):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    parts = private(model, optimizer, (x,), records=8, batch=4, steps=1, noise_multiplier=1)

    def go():
        for (inputs,) in parts.batches:
            found = model(inputs)
            (found[0] if isinstance(found, tuple) else found).sum().backward()
            parts.optimizer.step()

    with pytest.raises(InvalidParameter, match=words):
        go()


@pytest.mark.parametrize(
    "layer",
    [
        nn.BatchNorm1d(3),
        nn.InstanceNorm1d(3, affine=True, track_running_stats=True),
        nn.Embedding(3, 3, max_norm=1.0),
        nn.Embedding(3, 3, scale_grad_by_freq=True),
        nn.LazyLinear(3),
    ],
)
def test_layers_that_mix_or_keep_examples_are_refused(layer):
    model = nn.Sequential(nn.Linear(3, 3), layer)
    with pytest.raises(InvalidParameter, match="1 "):
        private(
            model,
            torch.optim.SGD(model[0].parameters(), lr=0.1),
            torch.zeros(4, 3),
            records=4,
            steps=1,
            noise_multiplier=1,
        )


def test_the_optimizer_holds_the_parameters_of_the_model():
    model, other = nn.Linear(3, 1), nn.Linear(3, 1)
    for held in ([model.weight], [*model.parameters(), *other.parameters()]):
        with pytest.raises(InvalidParameter, match="optimizer"):
            private(model, torch.optim.SGD(held, lr=0.1), torch.zeros(4, 3), records=4, steps=1, noise_multiplier=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"records": None}, "records="),
        ({"steps": None}, "either epochs= or steps="),
        ({"epochs": 2}, "either epochs= or steps="),
        ({"noise_multiplier": None}, "epsilon= and delta="),
        ({"epsilon": 1}, "not both"),
        ({"reduction": "none"}, "reduction"),
        ({"micro_batch": 0}, "micro_batch"),
    ],
)
def test_missing_settings_are_named(options, words):
    with pytest.raises(InvalidParameter, match=words):
        small(**options)


def test_adaptive_clips_reach_the_quantile(repeatable):
    torch.manual_seed(0)
    model = nn.Linear(1, 1, bias=False)
    x = torch.linspace(0.5, 1.5, 400)[:, None]
    parts = private(
        model,
        torch.optim.SGD(model.parameters(), lr=0.0),
        (x,),
        records=400,
        batch=200,
        steps=40,
        noise_multiplier=1.0,
        clip=0.05,
        clipping="adaptive",
        quantile=0.5,
    )
    for (inputs,) in parts.batches:
        parts.model(inputs).mean().backward()
        parts.optimizer.step()
    assert abs(parts.run.clip - 1.0) < 0.25
    assert parts.run.history[0].clip == 0.05


@pytest.mark.parametrize("strategy", ["tree", "banded", "square_root"])
def test_correlated_noise_leaves_sums_alone(no_noise, strategy):
    found = []
    for given in ({"strategy": strategy}, {}):
        np.random.seed(0)  # noqa: NPY002
        parts, _ = small(sampling="passes", batch=10, steps=8, clip=0.2, bands=3, **given)
        parts.batches.sampler.places = np.arange(40) % 4
        parts.batches.sampler.draw = lambda step, s=parts.batches.sampler: np.flatnonzero(s.places == step % 4)
        train(parts, MSE)
        found.append([p.detach().clone() for p in parts.model.parameters()])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_mixed_precision(no_noise):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), Attention(), nn.Linear(8, 2))
    x = torch.randn(10, 3, 8)
    grads = []
    for mixed in (False, True):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        parts = private(model, optimizer, (x,), records=10, batch=10, steps=1, noise_multiplier=1, clip=0.5)
        for (inputs,) in parts.batches:
            with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
                loss = model(inputs).square().mean((1, 2)).mean()
            loss.backward()
            parts.optimizer.step()
        grads.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
        parts.run.book.detach()
    assert grads[1].dtype == torch.float32
    assert float((grads[0] - grads[1]).norm() / grads[0].norm()) < 0.02
    assert float(grads[1].norm()) <= 0.5 * 1.01
