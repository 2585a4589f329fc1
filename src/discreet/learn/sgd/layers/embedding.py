"""Embeddings: the gradient of a table is a few chosen rows."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from discreet.learn.sgd.book import Book
from discreet.learn.sgd.contributions import Chosen
from discreet.learn.sgd.layers.applying import applied

__all__ = ["embedding"]


def embedding(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of an embedding that keeps book."""
    assert isinstance(module, nn.Embedding)  # noqa: S101 - chosen by its type

    def forward(index: Tensor) -> Tensor:
        book.check(index, module)

        def note(gradients: Tensor) -> None:
            rows = gradients.reshape(index.shape[0], -1, module.embedding_dim)
            places = index.reshape(index.shape[0], -1)
            if module.padding_idx is not None:
                rows = torch.where((places != module.padding_idx)[:, :, None], rows, rows.new_zeros(()))
            book.note(module.weight, Chosen(places, rows, module.num_embeddings))

        found: Tensor = applied(_Embedding, index, module.weight.detach(), book.anchor, note)
        return found

    return forward


class _Embedding(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  torch's context has no public type
        index: Tensor,
        weight: Tensor,
        anchor: Tensor,  # noqa: ARG004  it asks for a gradient, so that the backward pass comes by
        note: Callable[[Tensor], None],
    ) -> Tensor:
        ctx.note = note
        return functional.embedding(index, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, None, None]:  # noqa: ANN401
        ctx.note(gradient)
        return None, None, None, None
