"""Norm layers without memory: each example is normalised by itself, then scaled and shifted.

Forward and backward passes are torch's own. Beside them a layer notes what its scale and shift have of each example:
``sum dy xhat`` and ``sum dy`` over positions, where ``xhat = (x - mean) / deviation`` is never written down.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from discreet.learn.sgd.book import Book
from discreet.learn.sgd.contributions import Each
from discreet.learn.sgd.fusing import fused
from discreet.learn.sgd.layers.applying import applied

__all__ = ["group_norm", "instance_norm", "layer_norm", "rms_norm"]

Note = Callable[[Tensor, Tensor, Tensor, Tensor], None]


def layer_norm(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of a layer norm that keeps book."""
    assert isinstance(module, nn.LayerNorm)  # noqa: S101 - chosen by its type
    shape = list(module.normalized_shape)

    def note(gradients: Tensor, x: Tensor, mean: Tensor, inverse: Tensor) -> None:
        summed = tuple(range(1, x.dim() - len(shape)))
        run = fused(_layer_sums) if x.is_cuda else _layer_sums
        scales, shifts = run(gradients, x, mean, inverse, summed)
        book.note(module.weight, Each(scales))
        if module.bias is not None:
            book.note(module.bias, Each(shifts))

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        weight, bias = _detached(module)
        found: Tensor = applied(_LayerNorm, _whole(x), weight, bias, book.anchor, note, shape, module.eps)
        return found

    return forward


def rms_norm(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of a root mean square norm that keeps book."""
    assert isinstance(module, nn.RMSNorm)  # noqa: S101 - chosen by its type
    trailing = len(module.normalized_shape)

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        normal = functional.rms_norm(x, module.normalized_shape, None, module.eps)
        summed = tuple(range(1, x.dim() - trailing))

        def note(inputs: Tensor, gradients: Tensor) -> None:
            product = _wide(gradients) * inputs
            book.note(module.weight, Each(product.sum(summed) if summed else product))

        found: Tensor = applied(_Scale, normal, module.weight.detach(), book.anchor, note)
        return found

    return forward


def group_norm(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of a group norm that keeps book."""
    assert isinstance(module, nn.GroupNorm)  # noqa: S101 - chosen by its type
    return _grouped(book, module, lambda _: module.num_groups)


def instance_norm(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of an instance norm that keeps book; one with running statistics was refused."""
    assert isinstance(module, nn.InstanceNorm1d | nn.InstanceNorm2d | nn.InstanceNorm3d)  # noqa: S101
    return _grouped(book, module, lambda channels: channels)


def _grouped(book: Book, module: Any, groups: Callable[[int], int]) -> Callable[..., Any]:  # noqa: ANN401 - a norm
    def note(gradients: Tensor, x: Tensor, mean: Tensor, inverse: Tensor) -> None:
        dy, inputs = (_wide(part).reshape(*part.shape[:2], -1) for part in (gradients, x))
        channels = inputs.shape[1] // mean.shape[1]
        centre, stretch = (part.to(dy.dtype).repeat_interleave(channels, 1) for part in (mean, inverse))
        shifts = dy.sum(2)
        scales = (torch.einsum("ncp,ncp->nc", dy, inputs) - centre * shifts) * stretch
        book.note(module.weight, Each(scales))
        if module.bias is not None:
            book.note(module.bias, Each(shifts))

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        weight, bias = _detached(module)
        count = groups(x.shape[1])
        found: Tensor = applied(_GroupNorm, _whole(x), weight, bias, book.anchor, note, count, module.eps)
        return found

    return forward


def _layer_sums(
    gradients: Tensor, x: Tensor, mean: Tensor, inverse: Tensor, summed: tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    dy = _wide(gradients)
    scales = dy * ((_wide(x) - mean) * inverse)
    return (scales.sum(summed), dy.sum(summed)) if summed else (scales, dy)


def _detached(module: Any) -> tuple[Tensor, Tensor | None]:  # noqa: ANN401 - any norm layer
    return module.weight.detach(), None if module.bias is None else module.bias.detach()


def _wide(values: Tensor) -> Tensor:
    return values.float() if values.dtype.itemsize < 4 else values


def _whole(x: Tensor) -> Tensor:
    """Return inputs in one piece, in single precision where torch would normalise in it by itself."""
    return (_wide(x) if torch.is_autocast_enabled(x.device.type) else x).contiguous()


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  torch's context has no public type
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        anchor: Tensor,  # noqa: ARG004  it asks for a gradient, so that the backward pass comes by
        note: Note,
        shape: list[int],
        eps: float,
    ) -> Tensor:
        found, mean, inverse = torch.ops.aten.native_layer_norm(x, shape, weight, bias, eps)
        ctx.save_for_backward(x, mean, inverse, weight)
        ctx.note, ctx.shape = note, shape
        return found  # type: ignore[no-any-return]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        x, mean, inverse, weight = ctx.saved_tensors
        dy = gradient.to(x.dtype).contiguous()
        ctx.note(dy, x, mean, inverse)
        if not ctx.needs_input_grad[0]:
            return (None,) * 7
        wanted = [True, False, False]
        back, _, _ = torch.ops.aten.native_layer_norm_backward(dy, x, ctx.shape, mean, inverse, weight, None, wanted)
        return back, *(None,) * 6


class _GroupNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  torch's context has no public type
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        anchor: Tensor,  # noqa: ARG004  it asks for a gradient, so that the backward pass comes by
        note: Note,
        groups: int,
        eps: float,
    ) -> Tensor:
        sizes = x.shape[0], x.shape[1], prod(x.shape[2:])
        found, mean, inverse = torch.ops.aten.native_group_norm(x, weight, bias, *sizes, groups, eps)
        ctx.save_for_backward(x, mean, inverse, weight)
        ctx.note, ctx.groups = note, groups
        return found  # type: ignore[no-any-return]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        x, mean, inverse, weight = ctx.saved_tensors
        dy = gradient.to(x.dtype).contiguous()
        ctx.note(dy, x, mean, inverse)
        if not ctx.needs_input_grad[0]:
            return (None,) * 7
        sizes, wanted = (x.shape[0], x.shape[1], prod(x.shape[2:])), [True, False, False]
        back, _, _ = torch.ops.aten.native_group_norm_backward(dy, x, mean, inverse, weight, *sizes, ctx.groups, wanted)
        return back, *(None,) * 6


class _Scale(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  torch's context has no public type
        x: Tensor,
        weight: Tensor,
        anchor: Tensor,  # noqa: ARG004  it asks for a gradient, so that the backward pass comes by
        note: Callable[[Tensor, Tensor], None],
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.note = note
        return x * weight

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None, None, None]:  # noqa: ANN401
        x, weight = ctx.saved_tensors
        ctx.note(x, gradient)
        return (gradient * weight).to(x.dtype) if ctx.needs_input_grad[0] else None, None, None, None
