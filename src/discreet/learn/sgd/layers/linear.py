"""Linear layers: the gradient of a weight is a sum of outer products of output gradients and inputs."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from discreet.learn.sgd.book import Book
from discreet.learn.sgd.contributions import Each, Outer
from discreet.learn.sgd.layers.applying import applied

__all__ = ["linear", "tapped_linear"]


def linear(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of a linear layer that keeps book."""
    assert isinstance(module, nn.Linear)  # noqa: S101 - chosen by its type

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        return tapped_linear(book, x, module.weight, module.bias)

    return forward


def tapped_linear(book: Book, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return ``x weight^T + bias``, noting what the gradients of both are made of when the backward pass comes."""

    def note(inputs: Tensor, gradients: Tensor) -> None:
        left, right = _positions(gradients), _positions(inputs.to(gradients.dtype))
        book.note(weight, Outer(left, right))
        if bias is not None:
            book.note(bias, Each(_over_positions(left)))

    found: Tensor = applied(_Linear, x, weight.detach(), None if bias is None else bias.detach(), book.anchor, note)
    return found


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  torch's context has no public type
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        anchor: Tensor,  # noqa: ARG004  it asks for a gradient, so that the backward pass comes by
        note: Callable[[Tensor, Tensor], None],
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.note = note
        return functional.linear(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None, None, None, None]:  # noqa: ANN401
        x, weight = ctx.saved_tensors
        ctx.note(x, gradient)
        back = (gradient @ weight.to(gradient.dtype)).to(x.dtype) if ctx.needs_input_grad[0] else None
        return back, None, None, None, None


def _positions(values: Tensor) -> Tensor:
    """Return (examples, positions, features)."""
    return values.unsqueeze(1) if values.dim() == 2 else values.flatten(1, -2)


def _over_positions(values: Tensor) -> Tensor:
    if values.shape[1] == 1:
        return values.squeeze(1)
    return values.sum(1, dtype=torch.float32) if values.dtype.itemsize < 4 else values.sum(1)
