"""What a layer adds to the gradient of a parameter, kept in the form in which it is cheapest.

Goodfellow, "Efficient Per-Example Gradient Computations", 2015; Li, Tramer, Liang and Hashimoto, ICLR 2022; Bu, Wang,
Zha and Karypis, "Differentially Private Optimization on Large Foundation Models", ICML 2023. The gradient of one
example is a sum of outer products of output gradients and inputs. Its norm needs inner products alone, and a weighted
sum over all examples is one matrix product, so that gradients of single examples need not be written down.

A parameter may be used several times (a layer that is called twice, tied weights). Its gradient is then the *sum* of
all contributions, whose norm has cross terms; ``squared_norms`` takes them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import torch
from torch import Tensor

__all__ = ["Chosen", "Contribution", "Each", "Outer", "squared_norms"]

WRITTEN = {"cpu": 1 << 24, "cuda": 1 << 28}
"""Numbers that gradients of single examples may take in memory at a time, by kind of device."""


class Contribution(Protocol):
    """The part of each example's gradient that comes from one use of a parameter; examples lie along dimension 0."""

    def squared_norms(self) -> Tensor:
        """Return the squared norm for each example, in float32 or better."""
        ...

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """Return the sum over examples, each times its weight, shaped as the parameter."""
        ...

    def each(self) -> Tensor:
        """Return the gradient of every example."""
        ...

    def finite(self, keep: Tensor, /) -> "Contribution":
        """Return the same with examples set to 0 where ``keep`` is false."""
        ...

    def some(self, rows: slice, /) -> "Contribution":
        """Return the same for a few of the examples."""
        ...


@dataclass(frozen=True, slots=True)
class Each:
    """Gradients of single examples, written down: biases, norm layers and whatever has no better form."""

    gradients: Tensor

    def squared_norms(self) -> Tensor:
        """The sum of squares."""
        return _squares(self.gradients.flatten(1))

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """A vector times a matrix."""
        flat = self.gradients.flatten(1)
        return (weights.to(flat.dtype) @ flat).view(self.gradients.shape[1:])

    def each(self) -> Tensor:
        """Themselves."""
        return self.gradients

    def finite(self, keep: Tensor, /) -> "Each":
        """The same with zeros."""
        return Each(_kept(self.gradients, keep))

    def some(self, rows: slice, /) -> "Each":
        """A part of them."""
        return Each(self.gradients[rows])

    def in_blocks(self, weights: Tensor, rows: int, /) -> Tensor:
        """Return the weighted sum of each block of so many examples."""
        flat = self.gradients.flatten(1)
        found = weights.to(flat.dtype).view(-1, 1, rows) @ flat.view(-1, rows, flat.shape[1])
        return found.view(-1, *self.gradients.shape[1:])


@dataclass(frozen=True, slots=True)
class Outer:
    """``sum over t of left[t] right[t]^T`` for each example: a linear layer at T positions."""

    left: Tensor
    right: Tensor

    def squared_norms(self) -> Tensor:
        """Products of norms at one position, inner products of positions or the written gradients at several."""
        positions, rows, columns = self.left.shape[1], self.left.shape[2], self.right.shape[2]
        if positions == 1:
            return _squares(self.left[:, 0]) * _squares(self.right[:, 0])
        if 2 * positions**2 <= rows * columns:
            return _guarded(_gram(self.left), _gram(self.right))
        return torch.cat([_squares(part.each().flatten(1)) for part in self._parts(rows * columns)])

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """One matrix product, with the weights on the smaller factor."""
        factor = weights.to(self.left.dtype)[:, None, None]
        smaller = self.left.shape[2] <= self.right.shape[2]
        left, right = (self.left * factor, self.right) if smaller else (self.left, self.right * factor)
        return left.flatten(0, 1).T @ right.flatten(0, 1)

    def each(self) -> Tensor:
        """A batch of matrix products."""
        return self.left.transpose(1, 2) @ self.right

    def finite(self, keep: Tensor, /) -> "Outer":
        """The same with zeros in both factors."""
        return Outer(_kept(self.left, keep), _kept(self.right, keep))

    def some(self, rows: slice, /) -> "Outer":
        """A part of both factors."""
        return Outer(self.left[rows], self.right[rows])

    def wide(self) -> "Outer":
        """Return the same in float64."""
        return Outer(self.left.double(), self.right.double())

    def _parts(self, size: int) -> "list[Outer]":
        count = max(1, WRITTEN.get(self.left.device.type, 1 << 24) // size)
        return [
            Outer(left, right)
            for left, right in zip(torch.split(self.left, count), torch.split(self.right, count), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Chosen:
    """``rows[t]`` added to row ``index[t]`` of a table: an embedding at T positions."""

    index: Tensor
    rows: Tensor
    size: int

    def squared_norms(self) -> Tensor:
        """Inner products of the positions that chose the same row."""
        gram = _gram(self.rows)
        same = self.index[:, :, None] == self.index[:, None, :]
        return _guarded(gram, same.to(gram.dtype))

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """Rows added up where they were chosen."""
        total = self.rows.new_zeros(self.size, self.rows.shape[2])
        weighted = self.rows * weights.to(self.rows.dtype)[:, None, None]
        return total.index_add_(0, self.index.flatten(), weighted.flatten(0, 1))

    def each(self) -> Tensor:
        """One table for each example."""
        examples, _, width = self.rows.shape
        tables = self.rows.new_zeros(examples, self.size, width)
        return tables.scatter_add_(1, self.index[:, :, None].expand_as(self.rows), self.rows)

    def finite(self, keep: Tensor, /) -> "Chosen":
        """The same with zeros."""
        return Chosen(self.index, _kept(self.rows, keep), self.size)

    def some(self, rows: slice, /) -> "Chosen":
        """A part of index and rows."""
        return Chosen(self.index[rows], self.rows[rows], self.size)

    def wide(self) -> "Chosen":
        """Return the same in float64."""
        return Chosen(self.index, self.rows.double(), self.size)


def squared_norms(contributions: Sequence[Contribution]) -> Tensor:
    """Return the squared norm of the sum of all contributions to one parameter, for each example."""
    if len(contributions) == 1:
        return contributions[0].squared_norms()
    outer = [part for part in contributions if isinstance(part, Outer)]
    chosen = [part for part in contributions if isinstance(part, Chosen)]
    if len(outer) + len(chosen) < len(contributions):
        return _squares(reduce(torch.add, [part.each() for part in contributions]).flatten(1))
    products = Outer(*(torch.cat(side, 1) for side in zip(*((p.left, p.right) for p in outer), strict=True)))
    if not chosen:
        return products.squared_norms()
    rows = Chosen(torch.cat([p.index for p in chosen], 1), torch.cat([p.rows for p in chosen], 1), chosen[0].size)
    if not outer:
        return rows.squared_norms()
    return (products.squared_norms() + rows.squared_norms() + 2 * _crossed(products, rows)).clamp(min=0)


def _crossed(outer: Outer, chosen: Chosen) -> Tensor:
    """Return the inner product of ``sum left[s] right[s]^T`` and the table of chosen rows, for each example."""
    positions = outer.left.shape[1]
    index = chosen.index[:, None, :].expand(-1, positions, -1)
    products = outer.left.gather(2, index) * (outer.right @ chosen.rows.transpose(1, 2))
    return products.flatten(1).sum(1)


def _squares(rows: Tensor) -> Tensor:
    wide = torch.float64 if rows.dtype == torch.float64 else torch.float32
    norms: Tensor = torch.linalg.vector_norm(rows, dim=1, dtype=wide)
    return norms.square()


def _gram(vectors: Tensor) -> Tensor:
    wide = vectors.float() if vectors.dtype.itemsize < 4 else vectors
    return wide @ wide.transpose(1, 2)


def _guarded(a: Tensor, b: Tensor) -> Tensor:
    """Return the sum of products of two Gram matrices, and what rounding may have taken from it.

    Where the terms of one example cancel, their sum is known up to a share of ``(sum of lengths)^2`` alone. That share
    is added, so that the norm is never taken for less than it is.
    """
    found = (a * b).flatten(1).sum(1).clamp(min=0)
    lengths = (a.diagonal(dim1=1, dim2=2) * b.diagonal(dim1=1, dim2=2)).clamp(min=0).sqrt().sum(1)
    return found + _share(a) * lengths.square()


def _share(values: Tensor) -> float:
    if values.dtype == torch.float64:
        return 2.0**-46
    return 2.0**-12 if values.is_cuda and torch.backends.cuda.matmul.allow_tf32 else 2.0**-18


def _kept(values: Tensor, keep: Tensor) -> Tensor:
    return torch.where(keep.view(-1, *[1] * (values.dim() - 1)), values, values.new_zeros(()))
