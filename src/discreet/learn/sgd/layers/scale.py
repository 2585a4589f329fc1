"""Norm layers without memory: each example is normalised by itself, then scaled and shifted.

The parameters act on the normalised input alone, so that their gradients are short vectors for each example.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from discreet.learn.sgd.book import Book
from discreet.learn.sgd.contributions import Each
from discreet.learn.sgd.layers.applying import applied

__all__ = ["group_norm", "instance_norm", "layer_norm", "rms_norm"]


def layer_norm(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of a layer norm that keeps book."""
    assert isinstance(module, nn.LayerNorm)  # noqa: S101 - chosen by its type
    trailing = len(module.normalized_shape)

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        normal = functional.layer_norm(x, module.normalized_shape, None, None, module.eps)
        return _scaled(book, normal, module.weight, module.bias, range(1, x.dim() - trailing))

    return forward


def rms_norm(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of a root mean square norm that keeps book."""
    assert isinstance(module, nn.RMSNorm)  # noqa: S101 - chosen by its type
    trailing = len(module.normalized_shape)

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        normal = functional.rms_norm(x, module.normalized_shape, None, module.eps)
        return _scaled(book, normal, module.weight, None, range(1, x.dim() - trailing))

    return forward


def group_norm(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of a group norm that keeps book."""
    assert isinstance(module, nn.GroupNorm)  # noqa: S101 - chosen by its type

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        normal = functional.group_norm(x, module.num_groups, None, None, module.eps)
        return _scaled(book, normal, module.weight, module.bias, range(2, x.dim()))

    return forward


def instance_norm(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of an instance norm that keeps book; one with running statistics was refused."""
    assert isinstance(module, nn.InstanceNorm1d | nn.InstanceNorm2d | nn.InstanceNorm3d)  # noqa: S101

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        normal = functional.instance_norm(x, eps=module.eps)
        return _scaled(book, normal, module.weight, module.bias, range(2, x.dim()))

    return forward


def _scaled(book: Book, normal: Tensor, weight: Tensor, bias: Tensor | None, positions: range) -> Tensor:
    summed = tuple(positions)

    def note(inputs: Tensor, gradients: Tensor) -> None:
        wide = gradients.float() if gradients.dtype.itemsize < 4 else gradients
        if summed and summed[-1] == inputs.dim() - 1:
            rows = wide.flatten(2), inputs.to(wide.dtype).flatten(2)
            book.note(weight, Each(torch.einsum("ncp,ncp->nc", *rows)))
        else:
            product = wide * inputs
            book.note(weight, Each(product.sum(summed) if summed else product))
        if bias is not None:
            book.note(bias, Each(wide.sum(summed) if summed else wide))

    spread = tuple(None if k in summed else slice(None) for k in range(1, normal.dim()))
    found: Tensor = applied(
        _Scale, normal, weight.detach()[spread], None if bias is None else bias.detach()[spread], book.anchor, note
    )
    return found


class _Scale(torch.autograd.Function):
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
        return x * weight if bias is None else torch.addcmul(bias, x, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None, None, None, None]:  # noqa: ANN401
        x, weight = ctx.saved_tensors
        ctx.note(x, gradient)
        return (gradient * weight).to(x.dtype) if ctx.needs_input_grad[0] else None, None, None, None, None
