"""The book: which layers of a model keep what their parameters' gradients are made of.

While a batch is open, each layer notes its inputs and the gradients of its outputs in the one backward pass, and the
parameters themselves ask for no gradient. Outside of that the model behaves as ever.

A layer is known by its exact type; any other module that owns parameters is one unit whose gradients are found by
``torch.func`` (see ``layers.other``). What mixes examples, or keeps something of them beside its parameters, is
refused.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from discreet.errors import InvalidParameter
from discreet.learn.sgd.contributions import Contribution
from discreet.learn.sgd.failures import in_fixed_words
from discreet.learn.sgd.following import Following
from discreet.learn.sgd.watch import Watch

__all__ = ["Book", "Layer", "Recorded", "trainable"]

Layer = Callable[["Book", nn.Module], Callable[..., Any]]
"""What makes the forward function of a layer that keeps book."""

FIRST = (
    "{name} took an input that has not the examples of the batch along its first dimension, so that it cannot be told "
    "what each example adds to its gradient. Examples must lie along the first dimension of every layer's input. Give "
    "it an entry for each example, as in positions(torch.arange(T).expand(len(x), T)), not "
    "positions(torch.arange(T)), or call requires_grad_(False) on its parameters."
)

CHANGED = (
    "{name} was changed by a forward or a backward pass. What a model keeps of its inputs is released with it and is "
    "not clipped. Take it out, replace the layer by one without such statistics, or, if it is set once, run the model "
    "on made-up inputs before private()."
)


class Book:
    """What the layers of one model noted about the open batch.

    Satisfies, for each trainable parameter: the contributions noted add up to the gradient of each example's loss,
    whenever examples lie along the first dimension of the inputs and outputs of every layer.
    """

    def __init__(self, model: nn.Module) -> None:
        from discreet.learn.sgd.layers import is_known, layer_for, refuse

        self.model = model
        self.examples: int | None = None
        self.guarded = False  # whether the open batch holds private records
        self.notes: dict[Tensor, list[Contribution]] = {}
        self.anchor = torch.zeros((), requires_grad=True)
        self.names: dict[Tensor, str] = {
            parameter: name for name, parameter in model.named_parameters() if parameter.requires_grad
        }
        if not self.names:
            raise InvalidParameter("the model has no parameter that asks for a gradient; there is nothing to train.")
        refuse(model)
        for module in model.modules():  # of an earlier training, which ends here
            if isinstance(earlier := vars(module).get("forward"), Recorded):
                earlier.restore()
        self._patched: list[nn.Module] = []
        self.watch = Watch(model)
        self.following = Following()
        for module in units(model):
            kept, known = layer_for(module)(self, module), is_known(module)
            module.__dict__["forward"] = Recorded(
                self, module, kept, inspect.signature(module.forward) if known else None
            )
            self._patched.append(module)

    @property
    def recording(self) -> bool:
        """Whether a forward pass belongs to an open batch."""
        return self.examples is not None and torch.is_grad_enabled()

    def open(self, examples: int) -> None:
        """Begin a batch of so many examples, padding included."""
        self.examples = examples
        self.notes = {parameter: [] for parameter in self.names}
        self.watch.open()

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
        if not any(notes.values()) and not self.following.learning:
            raise InvalidParameter(
                "no backward pass went through the model for this batch. Compute the loss from the model that "
                "private() returned, and call loss.backward() once before optimizer.step()."
            )
        if (changed := self.watch.changed()) is not None:
            raise InvalidParameter(CHANGED.format(name=self.kind_of(changed)))
        return notes

    def kind_of(self, name: str) -> str:
        """Return a name in the model with what it is the name of."""
        if name in dict(self.model.named_buffers()):
            return f"the buffer {name}"
        return f"the parameter {name}" if name in dict(self.model.named_parameters()) else f"the attribute {name}"

    def name_of(self, module: nn.Module) -> str:
        """Return where a module is in the model, and its type."""
        names = (name for name, one in self.model.named_modules() if one is module)
        return f"{next(names, '') or 'the model'} ({type(module).__name__})"

    def note(self, parameter: Tensor, contribution: Contribution) -> None:
        """Add to what the gradient of a parameter is made of; parameters that are not trained are passed over."""
        if parameter in self.notes and parameter.requires_grad:
            self.notes[parameter].append(contribution)

    def check(self, rows: Tensor, module: nn.Module) -> None:
        """Refuse inputs whose first dimension is not that of the examples."""
        if self.examples is not None and (rows.dim() < 1 or rows.shape[0] != self.examples):
            raise InvalidParameter(FIRST.format(name=self.name_of(module)))

    def follows(self, module: nn.Module, form: Any, inputs: Sequence[Any], common: Tensor | None) -> list[bool]:  # noqa: ANN401
        """Return which inputs of a module hold the examples of the batch; sizes are compared where nothing is known."""
        assert self.examples is not None  # noqa: S101 - a batch is open
        name = self.name_of(module) if self.following.learning else type(module).__name__
        found = self.following.of(module, form, inputs, self.examples, name)
        if found is None:
            found = [
                isinstance(value, Tensor) and value.shape[:1] == (self.examples,) and value is not common
                for value in inputs
            ]
        if not any(found):
            raise InvalidParameter(FIRST.format(name=self.name_of(module)))
        return found

    def detach(self) -> None:
        """Give every layer its own forward function back."""
        for module in self._patched:
            held = module.__dict__.get("forward")
            if isinstance(held, Recorded):
                held.restore()
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


class Recorded:
    """The forward function of a layer of one training: with its book while a batch is open, and else as it was.

    A copy of the layer, by ``copy`` or from a file, is no part of the training: it has the function that was there
    before, and its own weights.
    """

    def __init__(
        self, book: Book, module: nn.Module, kept: Callable[..., Any], named: inspect.Signature | None
    ) -> None:
        self.book, self.module, self.kept, self.named = book, module, kept, named
        self.own = vars(module).get("forward")
        self.plain: Callable[..., Any] = module.forward

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401  whatever the layer takes and gives
        """Run the layer."""
        if not self.book.recording:
            return self.plain(*args, **options)
        if options and self.named is not None:
            args, options = self.named.bind(*args, **options).args, {}
        if self.book.guarded:
            return in_fixed_words(self.kept, *args, **options)
        return self.kept(*args, **options)

    def restore(self) -> None:
        """Give the layer back what it had."""
        self.module.__dict__.pop("forward")
        if self.own is not None:
            self.module.__dict__["forward"] = self.own

    def __copy__(self) -> Callable[..., Any]:
        return self.plain

    def __deepcopy__(self, memo: dict[int, Any]) -> Callable[..., Any]:
        return deepcopy(self.plain, memo)  # a method of the layer becomes one of its copy, which is in the memo

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self.plain,)


def _same(plain: Callable[..., Any]) -> Callable[..., Any]:
    return plain
