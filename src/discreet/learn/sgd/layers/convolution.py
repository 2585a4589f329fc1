"""Convolutions in one, two and three dimensions: linear layers on patches.

The gradient of one example is a product of its output gradients and its unfolded input; where it is small beside the
image it is written down for all examples at once, and otherwise for a few at a time to know their norms. The weighted
sum is then torch's own weight gradient, of output gradients that carry the weights.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from discreet.learn.sgd.book import Book
from discreet.learn.sgd.contributions import WRITTEN, Contribution, Each, Outer
from discreet.learn.sgd.layers.applying import applied

__all__ = ["Patches", "convolution"]

Convolution = nn.Conv1d | nn.Conv2d | nn.Conv3d


class Geometry(NamedTuple):
    """How a kernel moves over an image."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int


def convolution(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of a convolution that keeps book."""
    assert isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d)  # noqa: S101 - chosen by its type
    dimensions = len(module.kernel_size)
    beforehand = module.padding_mode != "zeros" or isinstance(module.padding, str)
    geometry = Geometry(
        tuple(module.kernel_size),
        tuple(module.stride),
        (0,) * dimensions if isinstance(module.padding, str) or beforehand else tuple(module.padding),
        tuple(module.dilation),
        module.groups,
    )
    mode = "constant" if module.padding_mode == "zeros" else module.padding_mode

    def forward(x: Tensor) -> Tensor:
        book.check(x, module)
        if beforehand:
            x = functional.pad(x, module._reversed_padding_repeated_twice, mode=mode)  # noqa: SLF001
        weight, bias = module.weight, module.bias

        def note(inputs: Tensor, gradients: Tensor) -> None:
            book.note(weight, noted(inputs.to(gradients.dtype), gradients, weight.shape, geometry))
            if bias is not None:
                wide = torch.float32 if gradients.dtype.itemsize < 4 else gradients.dtype
                book.note(bias, Each(gradients.flatten(2).sum(2, dtype=wide)))

        found: Tensor = applied(
            _Convolution, x, weight.detach(), None if bias is None else bias.detach(), book.anchor, note, geometry
        )
        return found

    return forward


def noted(inputs: Tensor, gradients: Tensor, shape: torch.Size, geometry: Geometry) -> Contribution:
    """Return gradients of single examples where they are small, and what they are made of where not."""
    made = Patches(inputs, gradients, shape, geometry)
    size = shape.numel() * inputs.shape[0]
    if made.by_positions and inputs.device.type != "cpu":
        return made
    return Each(made.each()) if size <= WRITTEN.get(inputs.device.type, 1 << 24) else made


@dataclass(frozen=True, slots=True)
class Patches:
    """Inputs and output gradients of a convolution."""

    inputs: Tensor
    gradients: Tensor
    shape: torch.Size
    geometry: Geometry

    @property
    def by_positions(self) -> bool:
        """Whether inner products of positions are fewer than the entries of a gradient."""
        positions = self.gradients[0, 0].numel()
        return self.geometry.groups == 1 and 2 * positions**2 <= self.shape.numel()

    def squared_norms(self) -> Tensor:
        """Norms of gradients that are written down for a few examples at a time, or inner products of positions."""
        return torch.cat([part._norms() for part in self._parts(self.shape.numel())])  # noqa: SLF001

    def _norms(self) -> Tensor:
        if self.by_positions:
            patches = unfolded(self.inputs, self.geometry)[:, 0].transpose(1, 2)
            return Outer(self.gradients.flatten(2).transpose(1, 2), patches).squared_norms()
        return Each(self._product()).squared_norms()

    def _parts(self, least: int) -> "list[Patches]":
        """Return the same in pieces, in which neither gradients nor patches take too much room."""
        room = WRITTEN.get(self.inputs.device.type, 1 << 24)
        patches = self.gradients[0, 0].numel() * self.shape[1:].numel() * self.geometry.groups
        count = max(1, room // max(least, patches))
        pieces = zip(torch.split(self.inputs, count), torch.split(self.gradients, count), strict=True)
        return [Patches(x, gradients, self.shape, self.geometry) for x, gradients in pieces]

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """The weight gradient of a batch whose output gradients carry the weights."""
        spread = weights.to(self.gradients.dtype).view(-1, *[1] * (self.gradients.dim() - 1))
        empty = self.inputs.new_empty(1).expand(self.shape)
        _, found, _ = _backward(self.gradients * spread, self.inputs, empty, self.geometry, (False, True, False))
        assert found is not None  # noqa: S101 - it was asked for
        return found

    def each(self) -> Tensor:
        """One convolution whose groups are the examples, or a batch of matrix products where those are faster."""
        if self.inputs.device.type == "cpu":
            return self._grouped()
        parts = self._parts(1)
        return parts[0]._product() if len(parts) == 1 else torch.cat([part._product() for part in parts])  # noqa: SLF001

    def _product(self) -> Tensor:
        if self.inputs.device.type == "cpu":
            return self._grouped()
        return self._unfolded()

    def _unfolded(self) -> Tensor:
        patches = unfolded(self.inputs, self.geometry)
        examples, groups = patches.shape[:2]
        gradients = self.gradients.reshape(examples, groups, self.shape[0] // groups, -1)
        return (gradients @ patches.transpose(2, 3)).reshape(examples, *self.shape)

    def _grouped(self) -> Tensor:
        examples = self.inputs.shape[0]
        x, gradients = (part.reshape(1, -1, *part.shape[2:]) for part in (self.inputs, self.gradients))
        empty = self.inputs.new_empty(1).expand(examples * self.shape[0], *self.shape[1:])
        wide = self.geometry._replace(groups=examples * self.geometry.groups)
        _, found, _ = _backward(gradients, x, empty, wide, (False, True, False))
        assert found is not None  # noqa: S101 - it was asked for
        return found.view(examples, *self.shape)

    def some(self, rows: slice, /) -> "Patches":
        """A part of inputs and gradients."""
        return Patches(self.inputs[rows], self.gradients[rows], self.shape, self.geometry)

    def finite(self, keep: Tensor, /) -> "Patches":
        """The same with zeros."""
        spread = keep.view(-1, *[1] * (self.inputs.dim() - 1))
        zero = self.inputs.new_zeros(())
        return Patches(
            torch.where(spread, self.inputs, zero),
            torch.where(spread, self.gradients, zero),
            self.shape,
            self.geometry,
        )


def unfolded(x: Tensor, geometry: Geometry) -> Tensor:
    """Return (examples, groups, channels of a group times kernel, positions)."""
    examples, channels = x.shape[:2]
    kernel, stride, padding, dilation, groups = geometry
    padded = functional.pad(x, [side for pad in reversed(padding) for side in (pad, pad)])
    sizes = [
        (n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(padded.shape[2:], kernel, stride, dilation, strict=True)
    ]
    steps = padded.stride()
    view = padded.as_strided(
        (examples, channels, *kernel, *sizes),
        (
            *steps[:2],
            *(d * at for d, at in zip(dilation, steps[2:], strict=True)),
            *(s * at for s, at in zip(stride, steps[2:], strict=True)),
        ),
    )
    return view.reshape(examples, groups, -1, math.prod(sizes))  # one copy; torch's own unfold goes image by image


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  torch's context has no public type
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        anchor: Tensor,  # noqa: ARG004  it asks for a gradient, so that the backward pass comes by
        note: Callable[[Tensor, Tensor], None],
        geometry: Geometry,
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.note, ctx.geometry = note, geometry
        run = (functional.conv1d, functional.conv2d, functional.conv3d)[x.dim() - 3]
        return run(x, weight, bias, geometry.stride, geometry.padding, geometry.dilation, geometry.groups)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None, None, None, None, None]:  # noqa: ANN401
        x, weight = ctx.saved_tensors
        ctx.note(x, gradient)
        if not ctx.needs_input_grad[0]:
            return None, None, None, None, None, None
        wanted = (True, False, False)
        back, _, _ = _backward(gradient, x.to(gradient.dtype), weight.to(gradient.dtype), ctx.geometry, wanted)
        assert back is not None  # noqa: S101 - it was asked for
        return back.to(x.dtype), None, None, None, None, None


def _backward(
    gradient: Tensor, x: Tensor, weight: Tensor, geometry: Geometry, wanted: tuple[bool, bool, bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    found: tuple[Tensor | None, Tensor | None, Tensor | None] = torch.ops.aten.convolution_backward(
        gradient,
        x,
        weight,
        None,
        geometry.stride,
        geometry.padding,
        geometry.dilation,
        False,
        (0,) * len(geometry.kernel),
        geometry.groups,
        wanted,
    )
    return found
