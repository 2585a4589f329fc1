"""Copies, frozen layers, weights made of others, random masks: what surrounds a training works as with torch alone."""

import copy
import io
import random
import warnings

import numpy as np
import pytest
import torch
from sgd_brute_force import assert_same, booked, looped, squared, summed
from torch import nn
from torch.multiprocessing import spawn
from torch.nn.utils import prune
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from discreet import InvalidParameter
from discreet.learn.sgd import private
from discreet.learn.sgd.book import Book, Recorded

X = torch.randn(40, 5, generator=torch.Generator().manual_seed(3))
Y = torch.randn(40, 2, generator=torch.Generator().manual_seed(4))


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 6), nn.LayerNorm(6), nn.Tanh(), Owns(), nn.Linear(6, 2))


class Owns(nn.Module):
    """A module of a user's own, with a parameter and a layer in it."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(6))
        self.inner = nn.Linear(6, 6)

    def forward(self, x):
        return self.inner(x) * self.scale


def begun(model, **options):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    plan = {"records": 40, "batch": 20, "steps": 4, "noise_multiplier": 1.0} | options
    return private(model, optimizer, (X, Y), **plan)


def trained(parts, after=lambda: None):
    for x, y in parts.batches:
        nn.functional.mse_loss(parts.model(x), y).backward()
        parts.optimizer.step()
        after()
    return parts.model


def copied(model):
    return copy.deepcopy(model)


def reloaded(model):
    held = io.BytesIO()
    torch.save(model, held)
    held.seek(0)
    return torch.load(held, weights_only=False)


def averaged(model):
    return AveragedModel(model).module


@pytest.mark.parametrize("way", [copied, reloaded, averaged])
def test_a_copy_has_weights_of_its_own(way):
    parts = begun(network())
    made = way(parts.model)
    before = made(X).detach()
    trained(parts)
    assert torch.equal(made(X), before)
    assert not torch.allclose(parts.model(X), before)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.zero_()
    assert torch.equal(made(X), torch.zeros(40, 2))


@pytest.mark.parametrize("way", [copied, reloaded])
def test_a_copy_can_be_trained_in_private_and_without(way):
    parts = begun(network())
    trained(parts)
    again = way(parts.model)
    torch.nn.functional.mse_loss(again(X), Y).backward()
    assert all(parameter.grad is not None for parameter in again.parameters())
    again.zero_grad()
    book = Book(again)
    kinds = [vars(module)["forward"].kept.__qualname__.split(".")[0] for module in book._patched]
    assert kinds == ["linear", "layer_norm", "other", "linear"]
    book.detach()
    assert_same(way(parts.model), summed, (X[:5],))


def test_an_average_follows_the_training():
    parts = begun(network())
    average = AveragedModel(parts.model, multi_avg_fn=get_ema_multi_avg_fn(0.5))
    expected = {name: value.detach().clone() for name, value in parts.model.named_parameters()}
    seen = []

    def update():
        if parts.optimizer.moved:
            average.update_parameters(parts.model)
            for name, value in parts.model.named_parameters():
                expected[name] = (0.5 * expected[name] + 0.5 * value.detach()) if seen else value.detach().clone()
            seen.append(average(X).detach())

    trained(parts, update)
    for name, value in average.module.named_parameters():
        torch.testing.assert_close(value.detach(), expected[name])
    assert len({float(one.sum()) for one in seen}) == len(seen) == 4


def test_a_copy_in_the_middle_of_a_batch_is_no_part_of_it():
    parts = begun(network())
    for x, y in parts.batches:
        teacher = copy.deepcopy(parts.model)
        with torch.no_grad():
            target = teacher(x)
        nn.functional.mse_loss(parts.model(x), 0.5 * (target + y)).backward()
        parts.optimizer.step()
    assert parts.run.finished == 4


def test_a_training_itself_is_not_copied():
    """Two copies would have the same steps left, and each would spend them."""
    parts = begun(network())
    for held in (parts.run, parts.optimizer, parts.batches, parts):
        with pytest.raises(InvalidParameter, match="cannot be copied"):
            copy.deepcopy(held)
    with pytest.raises(InvalidParameter, match="cannot be copied"):
        copy.copy(parts.run)


def test_a_second_training_of_a_model_ends_the_first():
    model = network()
    first, second = begun(model), begun(model)
    trained(second)
    with pytest.raises(InvalidParameter, match=r"outside of its own layer|no backward pass"):
        trained(first)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    "change",
    [
        nn.utils.weight_norm,
        nn.utils.parametrizations.weight_norm,
        lambda layer: prune.random_unstructured(layer, "weight", amount=0.4),
        lambda layer: prune.ln_structured(layer, "weight", amount=1, n=2, dim=0),
    ],
    ids=["old weight_norm", "weight_norm", "prune", "prune rows"],
)
@pytest.mark.parametrize("build", [lambda: nn.Linear(5, 6), lambda: nn.Conv1d(5, 6, 1)], ids=["linear", "conv"])
def test_weights_that_are_made_of_others_have_their_gradients(change, build):
    torch.manual_seed(1)
    layer = build()
    change(layer)
    rest = [nn.Tanh(), nn.Linear(6, 2)] if isinstance(layer, nn.Linear) else [nn.Tanh()]
    model, x = nn.Sequential(layer, *rest), X[:6] if isinstance(layer, nn.Linear) else X[:6, :, None].repeat(1, 1, 3)
    assert_same(model, summed, (x,))
    assert_same(model, squared, (x,))


def test_a_forward_function_of_ones_own_is_the_one_that_counts():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 2))
    layer = model[0]
    layer.forward = lambda x: nn.functional.linear(x, layer.weight.square(), 3 * layer.bias)
    assert_same(model, summed, (X[:6],))
    book = Book(model)
    book.detach()
    assert not isinstance(vars(layer)["forward"], Recorded)
    torch.testing.assert_close(layer(X), nn.functional.linear(X, layer.weight.square(), 3 * layer.bias))


class Dropped(nn.Module):
    """A module with a parameter whose gradient depends on random masks."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 4))

    def forward(self, x):
        return nn.functional.dropout(x @ self.weight, 0.5, self.training)


@pytest.mark.parametrize(
    "build",
    [
        Dropped,
        lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.4, batch_first=True),
        lambda: nn.MultiheadAttention(4, 2, dropout=0.4, batch_first=True),
    ],
    ids=["own module", "transformer layer", "attention"],
)
def test_masks_are_the_same_in_both_passes(build):
    """What is summed up are the gradients of the very outputs that the loss was made of, masks included."""
    torch.manual_seed(2)
    layer = build()
    model = nn.Sequential(layer) if isinstance(layer, Dropped) else layer
    x = X[:6] if isinstance(layer, Dropped) else torch.randn(6, 3, 4)
    call = (lambda: model(x, x, x)[0]) if isinstance(layer, nn.MultiheadAttention) else lambda: model(x)
    book = Book(model)
    torch.manual_seed(5)
    book.open(6)
    outputs = call()
    given = torch.randn_like(outputs)
    (outputs * given).sum().backward()
    after = torch.rand(1)
    notes = book.close()
    book.detach()
    torch.manual_seed(5)
    again = torch.func.vmap(  # the definition: each example alone, with the masks it had
        lambda one: layer(*[one.unsqueeze(0)] * (3 if isinstance(layer, nn.MultiheadAttention) else 1)),
        randomness="different",
    )
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        found = again(x)
    found = found[0] if isinstance(found, tuple) else found
    torch.testing.assert_close(found.reshape(outputs.shape), outputs)
    (found.reshape(outputs.shape) * given).sum().backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            continue
        total = sum(part.weighted_sum(torch.ones(6)).reshape(parameter.shape) for part in notes[parameter])
        torch.testing.assert_close(total, parameter.grad, rtol=1e-4, atol=1e-5, msg=lambda text, name=name: name + text)
    assert not torch.equal(after, torch.rand(1))


def test_a_layer_that_is_frozen_on_the_way_stays_as_it_is():
    parts = begun(network(), steps=6)
    frozen, held = parts.model[0], []

    def freeze():
        if parts.optimizer.moved and parts.run.finished == 2:
            frozen.requires_grad_(False)
            held.extend(p.detach().clone() for p in frozen.parameters())

    last = parts.model[4].weight.detach().clone()
    trained(parts, freeze)
    assert parts.run.finished == 6
    assert all(torch.equal(a, b) for a, b in zip(held, frozen.parameters(), strict=True))
    assert not torch.equal(parts.model[4].weight, last)


def test_a_frozen_layer_takes_no_room_in_the_clip():
    """What is clipped is the gradient of what is trained."""
    model, mask = network(), torch.ones(6, dtype=torch.bool)
    book = Book(model)
    book.detach()
    model[0].requires_grad_(False)
    expected, _ = looped(model, summed, (X[:6],), mask, 0.05)
    found = booked(model, summed, (X[:6],), mask, 0.05).sums
    for parameter, total in expected.items():
        torch.testing.assert_close(found[parameter], total, rtol=3e-3, atol=1e-4)


def test_two_backward_passes_are_one_loss():
    """They count as the sum of their losses: each record's gradient of both together is clipped once."""
    model, mask = network(), torch.ones(6, dtype=torch.bool)

    def apart(model, x):
        found = model(x)
        (found[:, 0].sum() / len(x)).backward(retain_graph=True)
        return torch.sin(found[:, 1]).sum()

    def together(model, x):
        found = model(x)
        return found[:, 0].sum() + torch.sin(found[:, 1]).sum()

    for clip in (0.1, 1.0, 10.0):
        expected, _ = looped(model, together, (X[:6],), mask, clip)
        found = booked(model, apart, (X[:6],), mask, clip).sums
        for parameter, total in expected.items():
            torch.testing.assert_close(found[parameter], total, rtol=3e-3, atol=3e-3 * clip)


def _steps(parts, batches):
    for _ in batches:
        parts.optimizer.step()


def test_a_step_without_a_backward_pass_is_refused():
    parts = begun(network())
    batches = iter(parts.batches)
    with pytest.raises(InvalidParameter, match=r"call loss.backward\(\) once before"):
        _steps(parts, batches)


def one_process(rank, file, results, shape):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    try:
        torch.manual_seed(rank)  # as processes do that were told nothing
        model = nn.Sequential(nn.Linear(5, 3 + rank * shape), nn.Tanh(), nn.Linear(3 + rank * shape, 2))
        model.register_buffer("shift", torch.randn(2))
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        try:
            parts = private(
                model, optimizer, (X[rank::2], Y[rank::2]), records=40, batch=20, steps=2, noise_multiplier=1.0
            )
        except InvalidParameter as error:
            torch.save(
                {"refused": torch.tensor("built" in str(error) or "build" in str(error))}, f"{results}/{rank}.pt"
            )
            return
        start = torch.cat([p.detach().flatten() for p in (*model.parameters(), *model.buffers())])
        trained(parts)
        end = torch.cat([p.detach().flatten() for p in model.parameters()])
        torch.save({"start": start, "end": end}, f"{results}/{rank}.pt")
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_processes_train_one_model(tmp_path):
    spawn(one_process, (tmp_path / "meeting", str(tmp_path), 0), nprocs=2)
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in (0, 1))
    assert torch.equal(first["start"], second["start"])
    assert torch.equal(first["end"], second["end"])


@pytest.mark.slow
def test_processes_with_models_of_two_shapes_are_refused(tmp_path):
    spawn(one_process, (tmp_path / "meeting", str(tmp_path), 1), nprocs=2)
    assert all(torch.load(tmp_path / f"{rank}.pt", weights_only=True)["refused"] for rank in (0, 1))


def test_no_warning_is_shown(recwarn):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained(begun(network()))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("layer", "inputs"),
    [
        (nn.Linear(3, 2), {"input": torch.ones(4, 3)}),
        (nn.Conv1d(3, 2, 1), {"input": torch.ones(4, 3, 5)}),
        (nn.LayerNorm(3), {"input": torch.ones(4, 3)}),
        (nn.RMSNorm(3), {"x": torch.ones(4, 3)}),
        (nn.GroupNorm(1, 3), {"input": torch.ones(4, 3)}),
        (nn.Embedding(5, 2), {"input": torch.zeros(4, 3, dtype=torch.long)}),
        (nn.LSTM(3, 2, batch_first=True), {"input": torch.ones(4, 3, 3)}),
        (nn.GRU(3, 2, batch_first=True), {"hx": torch.zeros(1, 4, 2), "input": torch.ones(4, 3, 3)}),
    ],
    ids=["linear", "convolution", "layer norm", "rms norm", "group norm", "embedding", "lstm", "gru"],
)
def test_layers_take_their_inputs_by_name(layer, inputs):
    expected = layer(**inputs)
    book = Book(layer)
    book.open(4)
    found = layer(**inputs)
    book.examples = None
    book.detach()
    for a, b in zip(*((one if isinstance(one, tuple) else (one,)) for one in (found, expected)), strict=True):
        torch.testing.assert_close(a, b)


class Scaled(nn.Module):
    """A module whose input meets a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 4))

    def forward(self, x):
        return torch.tanh(x @ self.weight)


def test_hooks_of_a_module_run_once():
    torch.manual_seed(3)
    model = nn.Sequential(Scaled(), nn.Linear(4, 2))
    model[0].register_forward_hook(lambda module, inputs, output: 2 * output)
    model[0].register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1,))
    assert_same(model, summed, (X[:6],))


class Chancy(nn.Module):
    """A module that draws from a generator of its own choice."""

    def __init__(self, draw):
        super().__init__()
        self.weight, self.draw = nn.Parameter(torch.randn(5, 4)), draw
        self.own = torch.Generator().manual_seed(1)
        self.dice = np.random.default_rng(1)

    def forward(self, x):
        return x @ self.weight * self.draw(self)


@pytest.mark.parametrize(
    "draw",
    [
        lambda _: 1.0 if random.random() < 0.5 else 3.0,
        lambda _: float(np.random.standard_normal()),  # noqa: NPY002  as models do
        lambda module: torch.rand(4, generator=module.own),
        lambda module: float(module.dice.random()),
    ],
    ids=["python", "numpy", "own generator", "own numpy generator"],
)
def test_numbers_from_other_generators_are_the_same_in_both_passes(draw):
    torch.manual_seed(3)
    model = Chancy(draw)
    for _ in range(5):
        book = Book(model)
        book.open(6)
        outputs = model(X[:6])
        outputs.sum().backward()
        notes = book.close()
        book.detach()
        factor = outputs / (X[:6] @ model.weight)  # what was drawn, for each example
        expected = torch.einsum("ni,nj->ij", X[:6], factor)
        total = sum(part.weighted_sum(torch.ones(6)).reshape(5, 4) for part in notes[model.weight])
        torch.testing.assert_close(total, expected.detach(), rtol=1e-3, atol=1e-3)


def test_a_module_of_ones_own_can_be_frozen_on_the_way():
    parts = begun(network(), steps=4)
    before = []

    def freeze():
        if parts.optimizer.moved and parts.run.finished == 2:
            parts.model[3].requires_grad_(False)
            before.extend(p.detach().clone() for p in parts.model[3].parameters())

    trained(parts, freeze)
    assert parts.run.finished == 4
    assert all(torch.equal(a, b) for a, b in zip(before, parts.model[3].parameters(), strict=True))
