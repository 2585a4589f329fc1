"""What a layer adds to the gradient of a parameter, kept in the form in which it is cheapest.

Goodfellow, "Efficient Per-Example Gradient Computations", 2015; Li, Tramer, Liang and Hashimoto, ICLR 2022; Bu, Wang,
Zha and Karypis, "Differentially Private Optimization on Large Foundation Models", ICML 2023. The gradient of one
example is a sum of outer products of output gradients and inputs. Its norm needs inner products alone, and a weighted
sum over all examples is one matrix product, so that gradients of single examples need not be written down.

A parameter may be used several times (a layer that is called twice, tied weights). Its gradient is then the *sum* of
all contributions, whose norm has cross terms; ``squared_norms`` takes them all.

Where the gradient of an example is written down, what is clipped and added up is what was computed, whatever rounding
did to it. Where it is not, its terms may be large and cancel. A norm is then taken for more than was computed, by a
share of ``(sum of the lengths of all terms)^2``: so no term is longer than about 500 times the clip when it is added.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from discreet.learn.sgd.fusing import fused

__all__ = ["Chosen", "Contribution", "Each", "InBlocks", "Outer", "merged", "share", "single", "squared_norms"]

WRITTEN = {"cpu": 1 << 24, "cuda": 1 << 28}
"""Numbers that gradients of single examples may take in memory at a time, by kind of device."""

BLOCK = 1 << 16
"""Squares that are added up at a time: of many more the sum of a processor in single precision is far too small."""

LOST = {torch.float32: 2.0**-126, torch.float64: 2.0**-1022}
"""Squares and products below this may be taken for 0."""


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


@runtime_checkable
class InBlocks(Contribution, Protocol):
    """A contribution whose weighted sums over blocks of examples come from one product."""

    def in_blocks(self, weights: Tensor, rows: int, /) -> Tensor:
        """Return the weighted sum of each block of so many examples."""
        ...


@dataclass(frozen=True, slots=True)
class Each:
    """Gradients of single examples, written down: biases, norm layers and whatever has no better form."""

    gradients: Tensor

    def flat(self) -> Tensor:
        """Return a row for each example."""
        return self.gradients.reshape(len(self.gradients), -1)

    def squared_norms(self) -> Tensor:
        """The sum of squares."""
        return _squares(self.flat())

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """A vector times a matrix."""
        flat = single(self.flat())
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
        flat = single(self.flat())
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
            return self.length().square()
        if 2 * positions**2 <= rows * columns:
            return _guarded(_gram(self.left), _gram(self.right), rows, columns)
        written = torch.cat([_squares(part.each().flatten(1)) for part in self._parts(rows * columns)])
        return written + share(self.left) * self.length().square()

    def length(self) -> Tensor:
        """Return the lengths of all positions, added up, for each example."""
        left, right = (_norms(part.flatten(0, 1)) + _floor(part) for part in (self.left, self.right))
        return (left * right).view(self.left.shape[:2]).sum(1)

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """One matrix product, with the weights on the smaller factor."""
        left, right = self._weighted(weights)
        return left.flatten(0, 1).T @ right.flatten(0, 1)

    def weighted_into(self, weights: Tensor, out: Tensor, /) -> None:
        """Write the same to a tensor of its type."""
        left, right = self._weighted(weights)
        torch.mm(left.flatten(0, 1).T, right.flatten(0, 1), out=out)

    def each(self) -> Tensor:
        """A batch of matrix products."""
        return single(self.left).transpose(1, 2) @ single(self.right)

    def finite(self, keep: Tensor, /) -> "Outer":
        """The same with zeros in both factors."""
        return Outer(_kept(self.left, keep), _kept(self.right, keep))

    def some(self, rows: slice, /) -> "Outer":
        """A part of both factors."""
        return Outer(self.left[rows], self.right[rows])

    def in_blocks(self, weights: Tensor, rows: int, /) -> Tensor:
        """Return the weighted sum of each block of so many examples: a batch of matrix products."""
        left, right = self._weighted(weights)
        left, right = (part.reshape(-1, rows * part.shape[1], part.shape[2]) for part in (left, right))
        return left.transpose(1, 2) @ right

    def wide(self) -> "Outer":
        """Return the same in float64."""
        return Outer(self.left.double(), self.right.double())

    def _weighted(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        left, right = single(self.left), single(self.right)
        factor = weights.to(left.dtype)[:, None, None]
        return (left * factor, right) if left.shape[2] <= right.shape[2] else (left, right * factor)

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
        return _guarded(gram, same.to(gram.dtype), self.rows.shape[2], 0)

    def length(self) -> Tensor:
        """Return the lengths of all positions, added up, for each example."""
        return _norms(self.rows.flatten(0, 1)).view(self.rows.shape[:2]).sum(1)

    def weighted_sum(self, weights: Tensor, /) -> Tensor:
        """Rows added up where they were chosen."""
        rows = single(self.rows)
        total = rows.new_zeros(self.size, rows.shape[2])
        weighted = rows * weights.to(rows.dtype)[:, None, None]
        return total.index_add_(0, self.index.flatten(), weighted.flatten(0, 1))

    def each(self) -> Tensor:
        """One table for each example."""
        rows = single(self.rows)
        tables = rows.new_zeros(rows.shape[0], self.size, rows.shape[2])
        return tables.scatter_add_(1, self.index[:, :, None].expand_as(rows), rows)

    def finite(self, keep: Tensor, /) -> "Chosen":
        """The same with zeros."""
        return Chosen(self.index, _kept(self.rows, keep), self.size)

    def some(self, rows: slice, /) -> "Chosen":
        """A part of index and rows."""
        return Chosen(self.index[rows], self.rows[rows], self.size)

    def wide(self) -> "Chosen":
        """Return the same in float64."""
        return Chosen(self.index, self.rows.double(), self.size)


def merged(contributions: Sequence[Contribution]) -> list[Contribution]:
    """Return the same gradients in at most one part of each form, those that are written down added up."""
    if len(contributions) < 2:
        return list(contributions)
    outer = [part for part in contributions if isinstance(part, Outer)]
    chosen = [part for part in contributions if isinstance(part, Chosen)]
    others = [part.each() for part in contributions if not isinstance(part, Outer | Chosen)]
    found: list[Contribution] = [Each(reduce(torch.add, map(single, others)))] if others else []
    if outer:
        found.append(Outer(*(torch.cat(side, 1) for side in zip(*((p.left, p.right) for p in outer), strict=True))))
    if chosen:
        index, rows = (torch.cat(side, 1) for side in zip(*((p.index, p.rows) for p in chosen), strict=True))
        found.append(Chosen(index, rows, chosen[0].size))
    return found


def squared_norms(contributions: Sequence[Contribution]) -> Tensor:
    """Return the squared norm of the sum of all contributions to one parameter, for each example."""
    parts = merged(contributions)
    if len(parts) == 1:
        return parts[0].squared_norms()
    outer = [part for part in parts if isinstance(part, Outer)]
    chosen = [part for part in parts if isinstance(part, Chosen)]
    written = [part for part in parts if isinstance(part, Each)]
    if written:
        found = _squares(reduce(torch.add, [Each(part.each()).flat() for part in parts]))
    else:
        found = outer[0].squared_norms() + chosen[0].squared_norms() + 2 * _crossed(outer[0], chosen[0])
    lengths = [_norms(part.flat()) for part in written]
    lengths += [part.length() for part in outer] + [part.length() for part in chosen]
    return found.clamp(min=0) + share(lengths[0]) * torch.stack(lengths).sum(0).square()


def single(values: Tensor) -> Tensor:
    """Return values in float32 or better: what is added up in less is rounded by more than a clip."""
    return values.float() if values.dtype.itemsize < 4 else values


def share(values: Tensor) -> float:
    """Return what share of the squared length of its terms rounding may take from a squared norm."""
    if values.dtype == torch.float64:
        return 2.0**-46
    return 2.0**-12 if values.is_cuda and torch.backends.cuda.matmul.allow_tf32 else 2.0**-18


def _crossed(outer: Outer, chosen: Chosen) -> Tensor:
    """Return the inner product of ``sum left[s] right[s]^T`` and the table of chosen rows, for each example."""
    left, right, rows = single(outer.left), single(outer.right), single(chosen.rows)
    index = chosen.index[:, None, :].expand(-1, left.shape[1], -1)
    products = left.gather(2, index) * (right @ rows.transpose(1, 2))
    return products.flatten(1).sum(1)


def _squares(rows: Tensor) -> Tensor:
    return _norms(rows).square()


def _norms(rows: Tensor) -> Tensor:
    """Return the norm of each row in float32 or better, of long ones in blocks."""
    wide = torch.float64 if rows.dtype == torch.float64 else torch.float32
    blocks = rows.shape[1] // BLOCK
    if blocks:
        head = rows[:, : blocks * BLOCK].reshape(len(rows), blocks, BLOCK)
        parts = torch.linalg.vector_norm(head, dim=2, dtype=wide)
        rows = torch.cat([parts, _norms(rows[:, blocks * BLOCK :])[:, None]], 1)
    found: Tensor = torch.linalg.vector_norm(rows, dim=1, dtype=wide)
    return found


def _floor(vectors: Tensor) -> float:
    """Return how long a vector can be whose squares were all lost."""
    return math.sqrt(vectors.shape[-1] * LOST[single(vectors[:0]).dtype])


def _gram(vectors: Tensor) -> Tensor:
    wide = single(vectors)
    return wide @ wide.transpose(1, 2)


def _guarded(a: Tensor, b: Tensor, width_a: int, width_b: int) -> Tensor:
    """Return the sum of products of two Gram matrices of vectors so wide, and what rounding may have taken from it.

    Where the terms of one example cancel, their sum is known up to a share of ``(sum of lengths)^2`` alone. That share
    is added, so that the norm is never taken for less than it is; and so is what products that are taken for 0 may
    have been together.
    """
    known = _allowed(width_a, width_b, share(a), a.dtype, a.device)
    found: Tensor = (fused(_products) if a.is_cuda else _products)(a, b, known)
    return found


def _products(a: Tensor, b: Tensor, known: Tensor) -> Tensor:
    lost_a, lost_b, taken = known[0], known[1], known[2]
    found = (a * b).sum((1, 2)).clamp(min=0)
    left = (a.diagonal(dim1=1, dim2=2) + lost_a).clamp(min=0).sqrt()
    right = (b.diagonal(dim1=1, dim2=2) + lost_b).clamp(min=0).sqrt()
    unseen = left.sum(1).square() * lost_b + right.sum(1).square() * lost_a
    return found + taken * (left * right).sum(1).square() + unseen


@cache
def _allowed(width_a: int, width_b: int, taken: float, kind: torch.dtype, device: torch.device) -> Tensor:
    """Return what squares of vectors so wide may have lost, and the share that rounding may take."""
    lost = LOST[kind]
    return torch.tensor([width_a * lost, width_b * lost, taken], dtype=kind, device=device)


def _kept(values: Tensor, keep: Tensor) -> Tensor:
    return torch.where(keep.view(-1, *[1] * (values.dim() - 1)), values, values.new_zeros(()))
