"""Any other module that owns parameters: gradients of single examples by ``torch.func``.

The module is run again on each example by itself, vectorised over examples. It must be a function of one example and
its parameters, with examples along the first dimension of every tensor it takes and gives.
"""

import random
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.prune import BasePruningMethod
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from discreet.learn.sgd.book import Book, trainable
from discreet.learn.sgd.contributions import Each
from discreet.learn.sgd.layers.applying import applied
from discreet.learn.sgd.trees import flattened, leaves

__all__ = ["other"]

HOOKS = tuple(name for name in vars(nn.Module()) if name.startswith(("_forward", "_backward")))
OWN = torch.Generator | np.random.Generator | random.Random


def other(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return a forward function that keeps book by running the module on every example alone.

    If the module draws random numbers, as dropout does, its outputs come from a vectorised pass as well, and the pass
    for gradients starts from the same state of torch's generators: both have the same masks.
    """
    plain, drew = module.forward, [False]

    def forward(*args: Any, **options: Any) -> Any:  # noqa: ANN401  whatever the module takes and gives
        parameters = trainable(module)
        if not parameters:  # all of it was frozen on the way
            return plain(*args, **options)
        inputs, taken = flattened((args, options))
        free = {name: parameter.detach() for name, parameter in parameters.items()}
        common = _common(module, *args, **options)
        mapped = book.follows(module, tuple(options), inputs, common)
        unknown = book.following.learning

        def alone(values: dict[str, Tensor], tensors: list[Tensor], given: list[Any]) -> list[Any]:
            """Return what the module gives for one example."""
            given = list(given)
            for index, tensor in zip([i for i, follows in enumerate(mapped) if follows], tensors, strict=True):
                given[index] = tensor.unsqueeze(0)
            again, named = taken(given)
            return [
                value.squeeze(0) if isinstance(value, Tensor) else value
                for value in leaves(torch.func.functional_call(module, values, again, named))
            ]

        draws = _Draws(module, next(iter(free.values())).device, recorded=drew[0])
        with _unrecorded(module, plain):
            outputs, given_back = flattened(torch.func.functional_call(module, free, args, options))
            if draws.made():
                drew[0] = True
                if not unknown:
                    draws.rewind()
                    outputs = _vectorised(alone, free, inputs, mapped, outputs)
        kept = [value.detach() if isinstance(value, Tensor) else value for value in inputs]

        def note(place: int, gradient: Tensor) -> None:
            if unknown:  # it is being learnt which inputs follow the batch
                return

            def one(values: dict[str, Tensor], tensors: list[Tensor], cotangent: Tensor) -> Tensor:
                total: Tensor = (alone(values, tensors, kept)[place] * cotangent).sum()
                return total

            single = torch.func.vmap(torch.func.grad(one), in_dims=(None, 0, 0), randomness="different")
            with _unrecorded(module, plain), draws.again(), sdpa_kernel(SDPBackend.MATH):
                gradients = single(free, _chosen(kept, mapped), gradient)
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


class _Draws:
    """Generators as they were before a pass: whether it drew random numbers, and the same ones once more.

    They are the global ones of torch, numpy and Python, and those that the module itself holds.

    While passes are recorded the generators cannot be asked. A module that drew random numbers before is not recorded.
    """

    def __init__(self, module: nn.Module, device: torch.device, *, recorded: bool) -> None:
        self.generators: list[Any] = [torch.default_generator, np.random, random]
        for part in module.modules():
            self.generators += [one for one in vars(part).values() if isinstance(one, OWN)]
        if device.type == "cuda":
            if torch.cuda.is_current_stream_capturing():
                if recorded:
                    raise RuntimeError("random numbers that are drawn twice cannot be recorded")
                self.generators.pop(0)
            else:
                self.generators.append(torch.cuda.default_generators[device.index])
        self.before = self._states()
        self._made = False

    def made(self) -> bool:
        """Tell whether random numbers were drawn since."""
        self._made = any(not _same(a, b) for a, b in zip(self.before, self._states(), strict=True))
        return self._made

    def rewind(self) -> None:
        """Go back to where the pass began."""
        self._put(self.before)

    @contextmanager
    def again(self) -> Iterator[None]:
        """Draw the same numbers inside, and go on as if that had not happened."""
        if not self._made:
            yield
            return
        now = self._states()
        self.rewind()
        try:
            yield
        finally:
            self._put(now)

    def _states(self) -> list[Any]:
        found: list[Any] = []
        for one in self.generators:
            if isinstance(one, np.random.Generator):
                found.append(one.bit_generator.state)
            else:
                found.append(one.getstate() if one is random or isinstance(one, random.Random) else one.get_state())
        return found

    def _put(self, states: list[Any]) -> None:
        for one, state in zip(self.generators, states, strict=True):
            if isinstance(one, np.random.Generator):
                one.bit_generator.state = state
            elif one is random or isinstance(one, random.Random):
                one.setstate(state)
            else:
                one.set_state(state)


def _same(a: Any, b: Any) -> bool:  # noqa: ANN401  the state of a generator
    if isinstance(a, Tensor):
        return torch.equal(a, b)
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b))
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b)) if any(isinstance(x, np.ndarray) for x in a) else a == b
    return all(_same(a[key], b[key]) for key in a) if isinstance(a, dict) else a == b


def _vectorised(
    alone: Callable[[dict[str, Tensor], list[Tensor], list[Any]], list[Any]],
    free: dict[str, Tensor],
    inputs: list[Any],
    mapped: list[bool],
    outputs: list[Any],
) -> list[Any]:
    """Return outputs again, from a pass over single examples at once; what is no tensor stays."""

    def tensors_of(tensors: list[Tensor]) -> list[Tensor]:
        return [value for value in alone(free, tensors, inputs) if isinstance(value, Tensor)]

    with sdpa_kernel(SDPBackend.MATH):  # the fast kernels of attention do not vectorise
        found = iter(torch.func.vmap(tensors_of, randomness="different")(_chosen(inputs, mapped)))
    return [next(found) if isinstance(value, Tensor) else value for value in outputs]


def _chosen(values: list[Any], mapped: list[bool]) -> list[Tensor]:
    return [value for value, follows in zip(values, mapped, strict=True) if follows]


@contextmanager
def _unrecorded(module: nn.Module, plain: Callable[..., Any]) -> Iterator[None]:
    """Let a module run its own forward function, and of its hooks those alone that make its weights.

    The others run about the whole: they change what goes in and what comes out once, and not once more inside.
    """
    held: dict[str, Any] = {"forward": plain} | {name: OrderedDict() for name in HOOKS}
    for key, hook in module._forward_pre_hooks.items():  # noqa: SLF001
        if isinstance(hook, WeightNorm | SpectralNorm | BasePruningMethod):
            held["_forward_pre_hooks"][key] = hook
    before = {name: vars(module)[name] for name in held}
    vars(module).update(held)
    try:
        yield
    finally:
        vars(module).update(before)


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
