"""The definition itself: the gradient of each example alone, clipped and added up in a loop."""

import math

import torch
from torch import nn

from discreet.learn.sgd.book import Book
from discreet.learn.sgd.clipping import Clipped, clipped


def looped(model, loss_of, batch, mask, clip, groups=None):
    """Return the clipped sum for each parameter, and the norm of each example's gradient."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = groups or [parameters]
    sums = {p: torch.zeros_like(p) for p in parameters}
    norms = []
    for i in range(len(mask)):
        if not mask[i]:
            continue
        loss = loss_of(model, *(part[i : i + 1] for part in batch))
        found = dict(zip(parameters, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True))
        found = {p: torch.zeros_like(p) if g is None else g for p, g in found.items()}
        for group in groups:
            norm = math.sqrt(sum(float(found[p].double().square().sum()) for p in group))
            norms.append(norm)
            factor = min(1.0, clip / math.sqrt(len(groups)) / norm) if norm else 1.0
            if math.isfinite(norm):
                for p in group:
                    sums[p] += found[p] * factor
    return sums, norms


def booked(model, loss_of, batch, mask, clip, groups=None, scale=None) -> Clipped:
    """Return the same by book-keeping, with a mean over the batch as the loss."""
    book = Book(model)
    try:
        book.open(len(mask))
        (loss_of(model, *batch) / (1 if scale else len(mask))).backward()
        notes = book.close()
        with torch.no_grad():
            return clipped(notes, mask, clip=clip, scale=scale or float(len(mask)), groups=groups or [list(book.names)])
    finally:
        book.detach()


def assert_same(model, loss_of, batch, mask=None, clip=None, tolerance=3e-3, groups=None):
    """Compare both at a clip that some gradients are above and some below."""
    mask = torch.ones(len(batch[0]), dtype=torch.bool) if mask is None else mask
    if clip is None:
        _, norms = looped(model, loss_of, batch, mask, 1.0)
        clip = sorted(norms)[len(norms) // 2] if norms else 1.0
        clip = clip or 1.0
    expected, _ = looped(model, loss_of, batch, mask, clip, groups)
    found = booked(model, loss_of, batch, mask, clip, groups).sums
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            torch.testing.assert_close(
                found[parameter].to(parameter.dtype),
                expected[parameter],
                rtol=tolerance,
                atol=tolerance * clip * max(1, int(mask.sum())) ** 0.5,
                msg=lambda text, name=name: f"{name}: {text}",
            )


def squared(model, x):
    """A loss with one term for each example."""
    found = model(x)
    found = found[0] if isinstance(found, tuple) else found
    return found.flatten(1).square().sum()


def summed(model, x):
    """A loss that is no square, so that signs count."""
    found = model(x)
    found = found[0] if isinstance(found, tuple) else found
    weights = torch.linspace(-1, 1, found[0].numel(), dtype=found.dtype).view(1, *found.shape[1:])
    return torch.sin(found * weights).sum()


class Tied(nn.Module):
    """A small language model whose output layer is its embedding."""

    def __init__(self, words=7, width=4):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.middle = nn.Linear(width, width)
        self.out = nn.Linear(width, words, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x):
        return self.out(torch.tanh(self.middle(self.embed(x))))


class Attention(nn.Module):
    """Self-attention with heads, built from linear layers."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.mixed = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        examples, steps, width = x.shape
        q, k, v = self.mixed(self.norm(x)).view(examples, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        found = nn.functional.scaled_dot_product_attention(q, k, v)
        return x + self.out(found.transpose(1, 2).reshape(examples, steps, width))


class Owner(nn.Module):
    """A module of its own kind, with parameters and a layer inside."""

    def __init__(self, width=4):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))
        self.inside = nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.inside(x) * self.scale)


class Twice(nn.Module):
    """One layer that is used twice."""

    def __init__(self, width=5):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(torch.tanh(self.layer(x)))
