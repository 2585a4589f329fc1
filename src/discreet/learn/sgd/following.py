"""Which inputs of a module follow the batch: those whose first dimension changes with the number of made-up records.

A mask of 8 by 8 positions and 8 examples look alike. Passes over made-up records of two numbers tell them apart.
"""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn

from discreet.errors import InvalidParameter

__all__ = ["Following"]

Form = tuple[Any, ...]
"""What kind of arguments a module was called with: their names and numbers of dimensions, not their sizes."""

Shapes = tuple[tuple[int, ...], ...]


class Following:
    """What passes over made-up records of two numbers told of the inputs of modules.

    Without such passes nothing is ``known``, and sizes are compared.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[nn.Module, Form], tuple[bool, ...]] | None = None
        self._passes: list[tuple[int, dict[tuple[nn.Module, Form], set[Shapes]]]] = []
        self.learning = False

    def learn(self, examples: int) -> None:
        """Begin a pass over so many made-up records."""
        self.learning = True
        self._passes.append((examples, {}))

    def settle(self, name_of: Callable[[nn.Module], str]) -> None:
        """Decide from all passes so far, which had different numbers of records."""
        passes, self._passes, self.learning = self._passes, [], False
        known = {}
        for call in set().union(*(seen for _, seen in passes)):
            shapes = [(examples, seen.get(call, set())) for examples, seen in passes]
            if all(seen for _, seen in shapes):
                known[call] = self._decided(shapes, name_of(call[0]))
        self.known = known

    @staticmethod
    def _decided(passes: Sequence[tuple[int, set[Shapes]]], name: str) -> tuple[bool, ...]:
        found = []
        for place in range(len(next(iter(passes[0][1])))):
            sizes = [(examples, {shapes[place] for shapes in seen}) for examples, seen in passes]
            follows = all(shape[:1] == (examples,) for examples, seen in sizes for shape in seen)
            if not follows and any(seen != sizes[0][1] for _, seen in sizes):
                raise InvalidParameter(
                    f"{name} takes an input that changes with the number of examples, but not along its first "
                    "dimension, so that it cannot be told what each example adds to its gradient. Give it inputs that "
                    "have examples along the first dimension, or none at all."
                )
            found.append(follows)
        return tuple(found)

    def of(self, module: nn.Module, form: Form, inputs: Sequence[Any], examples: int, name: str) -> list[bool] | None:
        """Return which inputs follow the batch, or None where nothing is known."""
        call = module, (form, tuple(value.dim() if isinstance(value, Tensor) else -1 for value in inputs))
        if self.learning:
            shapes = tuple(tuple(value.shape) if isinstance(value, Tensor) else () for value in inputs)
            self._passes[-1][1].setdefault(call, set()).add(shapes)
            return None
        if self.known is None:
            return None
        found = self.known.get(call)
        if found is None:
            raise InvalidParameter(
                f"{name} was called in a way in which it was not called with made-up records, so that it is not known "
                "which of its inputs have examples along the first dimension. Call it alike in every pass."
            )
        for value, follows in zip(inputs, found, strict=True):
            if follows and value.shape[0] != examples:
                raise InvalidParameter(
                    f"{name} took an input that has not the examples of the batch along its first dimension, as it had "
                    "with made-up records."
                )
        return list(found)
