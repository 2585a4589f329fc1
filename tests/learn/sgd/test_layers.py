"""Every layer's clipped sum against the loop over single examples."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sgd_brute_force import Attention, Owner, Tied, Twice, assert_same, squared, summed
from torch import nn

FEW = settings(max_examples=15, deadline=None)


def made(seed, build):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return build()


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@FEW
@given(
    seed=st.integers(0, 10**6),
    examples=st.integers(1, 6),
    middle=st.lists(st.integers(1, 9), max_size=2),
    inputs=st.integers(1, 6),
    outputs=st.integers(1, 6),
    bias=st.booleans(),
)
def test_linear(kind, seed, examples, middle, inputs, outputs, bias):
    def build():
        model = nn.Sequential(nn.Linear(inputs, 3, bias=bias), nn.Tanh(), nn.Linear(3, outputs, bias=bias)).to(kind)
        return model, torch.randn(examples, *middle, inputs, dtype=kind)

    model, x = made(seed, build)
    assert_same(model, summed, (x,))


@FEW
@given(
    seed=st.integers(0, 10**6),
    examples=st.integers(1, 4),
    dimensions=st.integers(1, 3),
    kernel=st.integers(1, 3),
    stride=st.integers(1, 2),
    dilation=st.integers(1, 2),
    groups=st.sampled_from([1, 2]),
    padding=st.sampled_from([0, 1, "same", "circular", "reflect"]),
    bias=st.booleans(),
    size=st.integers(6, 8),
)
def test_convolutions(seed, examples, dimensions, kernel, stride, dilation, groups, padding, bias, size):
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dimensions - 1]
    options = (
        {"padding": padding}
        if isinstance(padding, int)
        else {"padding": "same"}
        if padding == "same"
        else {"padding": 1, "padding_mode": padding}
    )
    if padding == "same":
        stride = 1

    def build():
        model = kind(2, 4, kernel, stride=stride, dilation=dilation, groups=groups, bias=bias, **options)
        return model, torch.randn(examples, 2, *[size if dimensions < 3 else 6] * dimensions)

    model, x = made(seed, build)
    assert_same(model, summed, (x,))


def test_convolutions_whose_gradients_are_not_written_down(monkeypatch):
    from discreet.learn.sgd.contributions import WRITTEN

    monkeypatch.setitem(WRITTEN, "cpu", 40)
    model, x = made(
        0,
        lambda: (
            nn.Sequential(nn.Conv2d(2, 8, 3), nn.ReLU(inplace=True), nn.Conv2d(8, 16, 4)),
            torch.randn(5, 2, 7, 7),
        ),
    )
    assert_same(model, summed, (x,))


@FEW
@given(seed=st.integers(0, 10**6), examples=st.integers(1, 5), steps=st.integers(1, 6), padding=st.booleans())
def test_embeddings(seed, examples, steps, padding):
    def build():
        model = nn.Sequential(nn.Embedding(5, 3, padding_idx=0 if padding else None), nn.Linear(3, 2))
        return model, torch.randint(0, 5, (examples, steps))

    model, x = made(seed, build)
    assert_same(model, summed, (x,))


@FEW
@given(seed=st.integers(0, 10**6), examples=st.integers(1, 5), steps=st.integers(1, 6))
def test_tied_weights_have_the_norm_of_their_sum(seed, examples, steps):
    model, x = made(seed, lambda: (Tied(), torch.randint(0, 7, (examples, steps))))
    assert_same(model, summed, (x,))


def test_the_norm_of_tied_weights_is_not_that_of_their_parts():
    model, x = made(1, lambda: (Tied(), torch.randint(0, 7, (4, 3))))
    from discreet.learn.sgd.book import Book
    from discreet.learn.sgd.contributions import squared_norms

    book = Book(model)
    book.open(4)
    summed(model, x).backward()
    parts = book.close()[model.embed.weight]
    apart = sum(part.squared_norms() for part in parts)
    together = squared_norms(parts)
    written = sum(part.each() for part in parts).flatten(1).square().sum(1)
    torch.testing.assert_close(together, written, rtol=1e-3, atol=1e-5)
    assert not torch.allclose(apart, written, rtol=1e-2)
    book.detach()


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: nn.LayerNorm(4), (4,)),
        (lambda: nn.LayerNorm(4, bias=False), (5, 4)),
        (lambda: nn.LayerNorm((3, 4)), (2, 3, 4)),
        (lambda: nn.RMSNorm(4), (3, 4)),
        (lambda: nn.GroupNorm(2, 4), (4, 5, 3)),
        (lambda: nn.GroupNorm(2, 4), (4,)),
        (lambda: nn.InstanceNorm1d(4, affine=True), (4, 6)),
        (lambda: nn.InstanceNorm2d(4, affine=True), (4, 5, 3)),
    ],
)
def test_norms(layer, shape):
    def build():
        model = layer()
        for parameter in model.parameters():
            nn.init.normal_(parameter)
        return model, torch.randn(6, *shape)

    model, x = made(0, build)
    assert_same(model, summed, (x,))


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}])
def test_recurrent_layers(kind, options):
    model, x = made(0, lambda: (kind(3, 4, batch_first=True, **options), torch.randn(5, 6, 3)))
    assert_same(model, summed, (x,))


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_recurrent_layers_give_what_torch_gives(kind):
    from discreet.learn.sgd.book import Book

    model, x = made(0, lambda: (kind(3, 4, num_layers=2, bidirectional=True), torch.randn(6, 5, 3)))
    expected = model(x)
    book = Book(model)
    book.open(5)
    found = model(x)
    book.detach()
    flat = [torch.utils._pytree.tree_leaves(part) for part in (found, expected)]
    for a, b in zip(*flat, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (Attention, (4, 8)),
        (Owner, (4,)),
        (Twice, (5,)),
        (Twice, (3, 5)),
        (lambda: nn.Sequential(nn.Linear(4, 4), Owner(), nn.Linear(4, 2)), (4,)),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), (4,)),
        (lambda: nn.ConvTranspose2d(2, 3, 2), (2, 4, 4)),
        (lambda: nn.PReLU(4), (4,)),
        (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (3, 8)),
    ],
)
def test_modules_of_other_kinds(build, shape):
    model, x = made(0, lambda: (build(), torch.randn(4, *shape)))
    assert_same(model, summed, (x,))


def test_parameters_that_are_not_trained_take_no_part():
    model, x = made(0, lambda: (nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)), torch.randn(5, 4)))
    model[0].requires_grad_(False)
    model[1].weight.requires_grad_(False)
    assert_same(model, summed, (x,))


def test_padding_never_counts():
    model, x = made(0, lambda: (nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)), torch.randn(6, 4)))
    mask = torch.tensor([True, True, False, True, False, False])
    assert_same(model, squared, (x,), mask)


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)), (4,)),
        (lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(), nn.Linear(48, 2)), (2, 6, 6)),
    ],
)
def test_sums_in_blocks_are_the_same_sums(build, shape, monkeypatch):
    from discreet.learn.sgd.book import Book
    from discreet.learn.sgd.clipping import clipped
    from discreet.learn.sgd.contributions import WRITTEN

    model, x = made(0, lambda: (build(), torch.randn(10, *shape)))
    monkeypatch.setitem(WRITTEN, "cpu", 400)
    book, found = Book(model), []
    for rows in (None, 3, 6):
        book.open(10)
        summed(model, x).backward()
        with torch.no_grad():
            mask = torch.ones(10, dtype=torch.bool)
            found.append(clipped(book.close(), mask, clip=0.5, scale=1.0, groups=[list(book.names)], rows=rows).sums)
    for parameter in model.parameters():
        for blocks in found[1:]:
            assert blocks[parameter].dtype == torch.float64
            torch.testing.assert_close(found[0][parameter].double(), blocks[parameter], rtol=1e-4, atol=1e-5)
    book.detach()


def test_layers_clipped_one_by_one():
    model, x = made(0, lambda: (nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)), torch.randn(6, 4)))
    groups = [list(model[0].parameters()), list(model[2].parameters())]
    assert_same(model, summed, (x,), groups=groups, clip=1.0)


@FEW
@given(
    seed=st.integers(0, 10**6),
    dimensions=st.integers(1, 3),
    kernel=st.integers(1, 3),
    stride=st.integers(1, 2),
    dilation=st.integers(1, 2),
    padding=st.integers(0, 1),
    groups=st.sampled_from([1, 2]),
)
def test_unfolded_patches_give_what_grouped_convolutions_give(
    seed, dimensions, kernel, stride, dilation, padding, groups
):
    from discreet.learn.sgd.contributions import Each
    from discreet.learn.sgd.layers.convolution import Geometry, Patches, Taps

    geometry = Geometry(*((n,) * dimensions for n in (kernel, stride, padding, dilation)), groups)
    run = (nn.functional.conv1d, nn.functional.conv2d, nn.functional.conv3d)[dimensions - 1]

    def build():
        x, w = torch.randn(3, 2, *[6] * dimensions), torch.randn(4, 2 // groups, *[kernel] * dimensions)
        return x, w, torch.randn_like(run(x, w, None, *geometry[1:]))

    x, w, gradients = made(seed, build)
    patches = Patches(x, gradients, w.shape, geometry)
    torch.testing.assert_close(patches._unfolded(), patches._grouped(), rtol=1e-4, atol=1e-4)
    if stride == 1 and groups == 1:
        taps = Taps(patches.taps(), w.shape)
        torch.testing.assert_close(taps.each(), patches._grouped(), rtol=1e-4, atol=1e-4)
        written, weights = Each(patches._grouped()), torch.tensor([0.5, 0.0, 2.0])
        torch.testing.assert_close(taps.squared_norms(), written.squared_norms(), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(taps.weighted_sum(weights), written.weighted_sum(weights), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(taps.in_blocks(weights, 1), written.in_blocks(weights, 1), rtol=1e-4, atol=1e-4)
        keep = weights > 0
        torch.testing.assert_close(taps.finite(keep).each(), written.finite(keep).each(), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            taps.some(slice(1, 3)).each(), written.some(slice(1, 3)).each(), rtol=1e-4, atol=1e-4
        )
    if patches.by_positions:
        written = patches.each().flatten(1).square().sum(1)
        torch.testing.assert_close(patches.squared_norms(), written, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("positions", [1, 3])
def test_sums_over_blocks_add_up(positions):
    from discreet.learn.sgd.contributions import InBlocks, Outer

    left, right, weights = torch.randn(12, positions, 5), torch.randn(12, positions, 4), torch.rand(12)
    part = Outer(left, right)
    assert isinstance(part, InBlocks)
    blocks = part.in_blocks(weights, 4)
    assert blocks.shape == (3, 5, 4)
    torch.testing.assert_close(blocks[1], part.some(slice(4, 8)).weighted_sum(weights[4:8]))
    torch.testing.assert_close(blocks.sum(0), part.weighted_sum(weights))
