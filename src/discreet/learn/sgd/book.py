"""The book: which layers of a model keep what their parameters' gradients are made of.

While a batch is open, each layer notes its inputs and the gradients of its outputs in the one backward pass, and the
parameters themselves ask for no gradient. Outside of that the model behaves as ever.

A layer is known by its exact type; any other module that owns parameters is one unit whose gradients are found by
``torch.func`` (see ``layers.other``). What mixes examples, or keeps something of them beside its parameters, is
refused.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from discreet.errors import InvalidParameter
from discreet.learn.sgd.contributions import Contribution

__all__ = ["Book", "Layer", "trainable"]

Layer = Callable[["Book", nn.Module], Callable[..., Any]]
"""What makes the forward function of a layer that keeps book."""


class Book:
    """What the layers of one model noted about the open batch.

    Satisfies, for each trainable parameter: the contributions noted add up to the gradient of each example's loss,
    whenever examples lie along the first dimension of the inputs and outputs of every layer.
    """

    def __init__(self, model: nn.Module) -> None:
        from discreet.learn.sgd.layers import layer_for, refuse

        self.model = model
        self.examples: int | None = None
        self.notes: dict[Tensor, list[Contribution]] = {}
        self.anchor = torch.zeros((), requires_grad=True)
        self.names: dict[Tensor, str] = {
            parameter: name for name, parameter in model.named_parameters() if parameter.requires_grad
        }
        if not self.names:
            raise InvalidParameter("the model has no parameter that asks for a gradient; there is nothing to train.")
        refuse(model)
        self._patched: list[nn.Module] = []
        self._kept: dict[str, tuple[Tensor, int]] = {}
        for module in units(model):
            plain = module.forward
            module.forward = _either(self, plain, layer_for(module)(self, module))
            self._patched.append(module)

    @property
    def recording(self) -> bool:
        """Whether a forward pass belongs to an open batch."""
        return self.examples is not None and torch.is_grad_enabled()

    def open(self, examples: int) -> None:
        """Begin a batch of so many examples, padding included."""
        self.examples = examples
        self.notes = {parameter: [] for parameter in self.names}
        self._kept = self._versions()

    def close(self) -> dict[Tensor, list[Contribution]]:
        """End the batch and return the contributions to each parameter, those of none included."""
        self.examples = None
        notes, self.notes = self.notes, {}
        for parameter in notes:
            if parameter.grad is not None:
                parameter.grad = None
                raise InvalidParameter(
                    f"{self.names[parameter]} got a gradient outside of its own layer, which is not clipped. Use a "
                    "parameter through the module that owns it: tie weights by sharing the parameter between two "
                    "modules, and call optimizer.zero_grad() before the backward pass."
                )
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad and parameter not in self.names:
                raise InvalidParameter(
                    f"{name} was not trained when the training was made private and asks for a gradient now, which is "
                    "not clipped. Call requires_grad_(True) on all that shall be trained before private()."
                )
        for name, (kept, version) in self._versions().items():
            before, number = self._kept.get(name, (None, -1))
            if before is not kept or number != version:
                raise InvalidParameter(
                    f"the buffer {name} was changed by a forward pass. What a model keeps of its inputs is released "
                    "with it and is not clipped; take it out, or replace the layer by one without such statistics."
                )
        return notes

    def _versions(self) -> dict[str, tuple[Tensor, int]]:
        """Return what a model holds beside the parameters that are trained, and how often each was written to."""
        held = (*self.model.named_buffers(), *self.model.named_parameters())
        return {name: (kept, kept._version) for name, kept in held if kept not in self.names}  # noqa: SLF001

    def note(self, parameter: Tensor, contribution: Contribution) -> None:
        """Add to what the gradient of a parameter is made of; parameters that are not trained are passed over."""
        if parameter in self.notes:
            self.notes[parameter].append(contribution)

    def check(self, rows: Tensor, module: nn.Module) -> None:
        """Refuse inputs whose first dimension is not that of the examples."""
        if self.examples is not None and (rows.dim() < 1 or rows.shape[0] != self.examples):
            raise InvalidParameter(
                f"{type(module).__name__} saw inputs of shape {tuple(rows.shape)} in a batch of {self.examples} "
                "examples. Examples must lie along the first dimension of every layer's input."
            )

    def detach(self) -> None:
        """Give every layer its own forward function back."""
        for module in self._patched:
            module.__dict__.pop("forward", None)
        self._patched.clear()


def units(model: nn.Module) -> Iterator[nn.Module]:
    """Yield the modules that keep book: known layers, and others that own parameters, with all they hold."""
    from discreet.learn.sgd.layers import is_known

    seen: set[nn.Module] = set()

    def walk(module: nn.Module) -> Iterator[nn.Module]:
        if module in seen:
            return
        seen.add(module)
        if not any(parameter.requires_grad for parameter in module.parameters()):
            return
        own = any(parameter.requires_grad for parameter in module.parameters(recurse=False))
        if is_known(module) or own or torch.nn.utils.parametrize.is_parametrized(module):
            yield module
        else:
            for child in module.children():
                yield from walk(child)

    yield from walk(model)


def trainable(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters of a module, by name, that ask for a gradient."""
    return {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}


def _either(book: Book, plain: Callable[..., Any], kept: Callable[..., Any]) -> Callable[..., Any]:
    """Return what runs a layer with its book while a batch is open; torch.compile leaves it as it is."""

    def forward(*args: Any, **options: Any) -> Any:  # noqa: ANN401  whatever the layer takes and gives
        return kept(*args, **options) if book.recording else plain(*args, **options)

    found: Callable[..., Any] = torch.compiler.disable(forward)  # type: ignore[no-untyped-call]
    return found
