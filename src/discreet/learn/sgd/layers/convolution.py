"""Convolutions in one, two and three dimensions: linear layers on patches.

The gradient of one example is a product of its output gradients and its unfolded input; where it is small beside the
image it is written down for all examples at once, and otherwise for a few at a time to know their norms. The weighted
sum is then torch's own weight gradient, of output gradients that carry the weights.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from discreet.learn.sgd.book import Book
from discreet.learn.sgd.contributions import WRITTEN, Contribution, Each, Outer, share, single
from discreet.learn.sgd.layers.applying import applied

__all__ = ["Patches", "Taps", "convolution"]

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
    small = shape.numel() * inputs.shape[0] <= WRITTEN.get(inputs.device.type, 1 << 24)
    if inputs.device.type == "cpu":
        return Each(made.each()) if small else made
    if small and made.by_shifts:
        return Taps(made.taps(), shape)
    return Each(made.each()) if small and not made.by_positions else made


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

    @property
    def by_shifts(self) -> bool:
        """Whether a product for each tap of the kernel takes less room than patches, and channels fill the products."""
        strides, channels = set(self.geometry.stride), self.shape[1]
        taps, positions = math.prod(self.geometry.kernel), self.gradients[0, 0].numel()
        return (
            strides == {1} and self.geometry.groups == 1 and taps > 1 and channels >= 8 and self.shape[0] <= positions
        )

    def taps(self) -> Tensor:
        """Return gradients of single examples as (taps of the kernel, examples, channels out, channels in).

        Images and output gradients are laid out as rows of positions with the same padding, so that each tap of the
        kernel sees the image shifted by so many rows: a view, of which nothing is copied.
        """
        kernel, _, padding, dilation, _ = self.geometry
        padded = [n + 2 * pad for n, pad in zip(self.inputs.shape[2:], padding, strict=True)]
        x = _in_rows(self.inputs, padded, padding)
        gradients = _in_rows(self.gradients, padded, [0] * len(padded))
        steps = [d * math.prod(padded[k + 1 :]) for k, d in enumerate(dilation)]
        last = sum((k - 1) * step for k, step in zip(kernel, steps, strict=True))
        left = gradients[:, : math.prod(padded) - last].transpose(1, 2)
        found = x.new_empty(math.prod(kernel), x.shape[0], self.shape[0], self.shape[1])
        for tap, places in enumerate(itertools.product(*map(range, kernel))):
            shift = sum(place * step for place, step in zip(places, steps, strict=True))
            torch.bmm(left, x[:, shift : shift + left.shape[2]], out=found[tap])
        return found

    def squared_norms(self) -> Tensor:
        """Norms of gradients that are written down for a few examples at a time, or inner products of positions."""
        return torch.cat([part._norms() for part in self._parts(self.shape.numel())])  # noqa: SLF001

    def _norms(self) -> Tensor:
        if self.by_positions:
            patches = unfolded(self.inputs, self.geometry)[:, 0].transpose(1, 2)
            return Outer(self.gradients.flatten(2).transpose(1, 2), patches).squared_norms()
        return Each(self._product()).squared_norms() + share(single(self.inputs[:0])) * self._length().square()

    def _length(self) -> Tensor:
        """Return the lengths of output gradients times those of their patches, added up over positions."""
        groups, run = self.geometry.groups, (functional.conv1d, functional.conv2d, functional.conv3d)
        x, gradients = (
            part.reshape(len(part), groups, -1, *part.shape[2:]).square().sum(2)
            for part in (single(self.inputs), single(self.gradients))
        )
        ones = x.new_ones(groups, 1, *self.geometry.kernel)
        patches = run[x.dim() - 3](x, ones, None, *self.geometry[1:4], groups)
        return (patches * gradients).clamp(min=0).sqrt().flatten(1).sum(1)

    def _parts(self, least: int) -> "list[Patches]":
        """Return the same in pieces, in which neither gradients nor patches take too much room."""
        room = WRITTEN.get(self.inputs.device.type, 1 << 24)
        patches = self.gradients[0, 0].numel() * self.shape[1:].numel() * self.geometry.groups
        count = max(1, room // max(least, patches))
        pieces = zip(torch.split(self.inputs, count), torch.split(self.gradients, count), strict=True)
        return [Patches(x, gradients, self.shape, self.geometry) for x, gradients in pieces]

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """The weight gradient of a batch whose output gradients carry the weights."""
        x, gradients = single(self.inputs), single(self.gradients)
        spread = weights.to(gradients.dtype).view(-1, *[1] * (gradients.dim() - 1))
        _, found, _ = _backward(
            gradients * spread, x, x.new_empty(1).expand(self.shape), self.geometry, (False, True, False)
        )
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


@dataclass(frozen=True, slots=True)
class Taps:
    """Gradients of single examples, written down tap by tap: (taps, examples, channels out, channels in)."""

    parts: Tensor
    shape: torch.Size

    def squared_norms(self) -> Tensor:
        """The sum of squares over all but the examples."""
        wide = torch.float64 if self.parts.dtype == torch.float64 else torch.float32
        found: Tensor = torch.linalg.vector_norm(self.parts.flatten(2), dim=2, dtype=wide).square().sum(0)
        return found

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """A vector times a matrix for each tap."""
        return self.in_blocks(weights, len(weights))[0]

    def in_blocks(self, weights: Tensor, rows: int, /) -> Tensor:
        """Return the weighted sum of each block of so many examples."""
        taps, examples = self.parts.shape[:2]
        flat = single(self.parts).reshape(taps, examples // rows, rows, -1)
        found = weights.to(flat.dtype).view(-1, 1, rows) @ flat
        return found.permute(1, 3, 0, 2).reshape(-1, *self.shape)

    def each(self) -> Tensor:
        """The taps in their places."""
        return self.parts.permute(1, 2, 3, 0).reshape(-1, *self.shape)

    def finite(self, keep: Tensor, /) -> "Taps":
        """The same with zeros."""
        return Taps(torch.where(keep.view(1, -1, 1, 1), self.parts, self.parts.new_zeros(())), self.shape)

    def some(self, rows: slice, /) -> "Taps":
        """A part of the examples."""
        return Taps(self.parts[:, rows], self.shape)


def _in_rows(images: Tensor, padded: list[int], before: Sequence[int]) -> Tensor:
    """Return (examples, positions, channels) with zeros around each image, ``before`` of them at the lower ends."""
    found = images.new_zeros(images.shape[0], *padded, images.shape[1])
    inside = tuple(slice(low, low + size) for low, size in zip(before, images.shape[2:], strict=True))
    found[(slice(None), *inside)] = images.movedim(1, -1)
    return found.flatten(1, -2)


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
