"""Any other module that owns parameters: gradients of single examples by ``torch.func``.

The module is run again on each example by itself, vectorised over examples. It must be a function of one example and
its parameters, with examples along the first dimension of every tensor it takes and gives.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.attention import SDPBackend, sdpa_kernel

from discreet.learn.sgd.book import Book, trainable
from discreet.learn.sgd.contributions import Each
from discreet.learn.sgd.layers.applying import applied
from discreet.learn.sgd.trees import flattened, leaves

__all__ = ["other"]


def other(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return a forward function that keeps book by running the module on every example alone."""
    plain = module.forward

    def forward(*args: Any, **options: Any) -> Any:  # noqa: ANN401  whatever the module takes and gives
        inputs, taken = flattened((args, options))
        parameters = trainable(module)
        free = {name: parameter.detach() for name, parameter in parameters.items()}
        module.__dict__["forward"], patched = plain, module.__dict__.get("forward")
        try:
            outputs, given_back = flattened(torch.func.functional_call(module, free, args, options))
        finally:
            module.__dict__["forward"] = patched
        kept = [value.detach() if isinstance(value, Tensor) else value for value in inputs]
        common = _common(module, *args, **options)
        mapped = book.follows(module, tuple(options), inputs, common)
        unknown = book.following.learning

        def note(place: int, gradient: Tensor) -> None:
            if unknown:  # it is being learnt which inputs follow the batch
                return

            def one(values: dict[str, Tensor], tensors: list[Tensor], cotangent: Tensor) -> Tensor:
                given = list(kept)
                for index, tensor in zip(
                    [index for index, is_mapped in enumerate(mapped) if is_mapped], tensors, strict=True
                ):
                    given[index] = tensor.unsqueeze(0)
                again, named = taken(given)
                found = leaves(torch.func.functional_call(module, values, again, named))[place]
                total: Tensor = (found.squeeze(0) * cotangent).sum()
                return total

            tensors = [value for value, is_mapped in zip(kept, mapped, strict=True) if is_mapped]
            module.__dict__["forward"], patched = plain, module.__dict__.get("forward")
            try:
                single = torch.func.vmap(torch.func.grad(one), in_dims=(None, 0, 0), randomness="different")
                with sdpa_kernel(SDPBackend.MATH):  # the fast kernels of attention do not vectorise
                    gradients = single(free, tensors, gradient)
            finally:
                module.__dict__["forward"] = patched
            for name, parameter in parameters.items():
                book.note(parameter, Each(gradients[name]))

        marked = []
        for place, value in enumerate(outputs):
            if isinstance(value, Tensor) and value.is_floating_point():
                book.check(value, module)
                value = applied(_Tap, value, book.anchor, place, note)  # noqa: PLW2901
            marked.append(value)
        return given_back(marked)

    return forward


def _common(module: nn.Module, *args: Any, **options: Any) -> Tensor | None:  # noqa: ANN401  what the module takes
    """Return the mask of positions that all examples share, however many they are."""
    mask = None
    if isinstance(module, nn.MultiheadAttention):
        mask = signature(nn.MultiheadAttention.forward).bind(module, *args, **options).arguments.get("attn_mask")
    return mask if mask is not None and mask.dim() == 2 else None


class _Tap(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  torch's context has no public type
        value: Tensor,
        anchor: Tensor,  # noqa: ARG004  it asks for a gradient, so that the backward pass comes by
        place: int,
        note: Callable[[int, Tensor], None],
    ) -> Tensor:
        ctx.place, ctx.note = place, note
        return value.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:  # noqa: ANN401
        ctx.note(ctx.place, gradient)
        return gradient, None, None, None
