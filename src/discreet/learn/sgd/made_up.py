"""Made-up records, in the form of the private ones: their types and shapes, and no value of theirs.

Numbers lie between 0 and 1, whole numbers are 0 or 1, bytes are bytes. Where it was seen that a whole number chooses a
class or a row of a table, all of those are chosen. Whoever knows better what a record may look like gives an example.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from discreet.errors import InvalidParameter
from discreet.learn.sgd.data import Items, Records, records_of
from discreet.learn.sgd.failures import in_fixed_words
from discreet.learn.sgd.trees import flattened, leaves

__all__ = ["Choices", "MadeUp"]


class MadeUp:
    """Made-up records; ``example`` holds public ones to draw from.

    >>> found = MadeUp(records_of((torch.zeros(9, 2), torch.zeros(9).long()))).pair(4, turn=0)
    >>> [part.shape for part in found[0]], found[0][1].tolist(), found[1][1].tolist()
    ([torch.Size([4, 2]), torch.Size([4])], [0, 1, 0, 1], [1, 0, 1, 0])
    """

    def __init__(self, records: Records, example: object = None) -> None:
        self.pool = None if example is None else records_of(example)
        if self.pool is not None and len(self.pool) < 2:
            raise InvalidParameter("example= must hold at least two records that differ, made up or public.")
        self.records = records
        self.of_private = example is None and isinstance(records, Items)
        """Whether the form is that of one private record; tensors have one form for all of theirs."""

    def pair(
        self, count: int, turn: int, choices: Mapping[int, int] | None = None, *, usual: int = 2
    ) -> tuple[Any, Any]:
        """Return so many records, and others in their places.

        ``choices`` tells by the place of a part what its whole numbers choose from; others choose from the ``usual``.
        """
        given = torch.Generator().manual_seed(1_000_003 * turn + count)
        if self.pool is not None:
            return self._drawn(self.pool, count, given)
        form = in_fixed_words(self.records.take, np.zeros(0, dtype=np.int64), 1, shown=())
        parts, back = flattened(form)
        found = [_made(part, count, turn, (choices or {}).get(place, usual), given) for place, part in enumerate(parts)]
        return back([one for one, _ in found]), back([other for _, other in found])

    def _drawn(self, pool: Records, count: int, given: torch.Generator) -> tuple[Any, Any]:
        """Return records of an example, and for each another one of them."""
        first = torch.randint(len(pool), (count,), generator=given)
        other = (first + torch.randint(1, len(pool), (count,), generator=given)) % len(pool)
        one, two = (pool.take(index.numpy(), count) for index in (first, other))
        form = in_fixed_words(self.records.take, np.zeros(0, dtype=np.int64), 1, shown=())
        kinds = [[(part.dtype, part.shape[1:]) for part in leaves(rows)] for rows in (one, form)]
        if kinds[0] != kinds[1]:
            raise InvalidParameter(
                "example= must have the form of the records: as many parts, of their types and shapes."
            )
        return one, two


class Choices(TorchFunctionMode):
    """What is seen of made-up whole numbers on their way: how many classes or rows of a table they choose from."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[int, int] = {}
        self._places: dict[int, int] = {}

    def watch(self, batch: Any) -> None:  # noqa: ANN401  tensors in the form of a record
        """Look for the parts of one batch from now on."""
        parts = enumerate(leaves(batch))
        self._places = {part.untyped_storage().data_ptr(): place for place, part in parts if _is_whole(part)}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        options = kwargs or {}
        if func in (functional.cross_entropy, functional.nll_loss):
            scores = args[0] if args else options.get("input")
            if isinstance(scores, Tensor):
                self._see(_second(args, options, "target"), scores.shape[min(1, scores.dim() - 1)])
        elif func is functional.embedding:
            table = _second(args, options, "weight")
            self._see(args[0] if args else options.get("input"), len(table) if isinstance(table, Tensor) else 0)
        elif func is functional.one_hot:
            size = _second(args, options, "num_classes")
            self._see(args[0] if args else options.get("input"), size if isinstance(size, int) else 0)
        return func(*args, **options)

    def _see(self, index: object, size: int) -> None:
        if isinstance(index, Tensor) and _is_whole(index) and size > 0:
            place = self._places.get(index.untyped_storage().data_ptr())
            if place is not None:
                self.found[place] = min(size, self.found.get(place, size))


def _second(args: tuple[Any, ...], options: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401
    return args[1] if len(args) > 1 else options.get(name)


def _is_whole(part: Tensor) -> bool:
    return not part.is_floating_point() and not part.is_complex() and part.dtype != torch.bool


def _made(part: Tensor, count: int, turn: int, choices: int, given: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return made-up values of the type and shape of one part of a record, and others."""
    shape = (count, *part.shape[1:])

    def drawn() -> Tensor:
        return torch.rand(shape, generator=given, dtype=torch.float64)

    if part.is_complex():
        return tuple(torch.complex(drawn(), drawn()).to(part.dtype) for _ in range(2))  # type: ignore[return-value]
    if part.is_floating_point():
        return drawn().to(part.dtype), drawn().to(part.dtype)
    if part.dtype == torch.uint8 and len(shape) > 1:
        return (256 * drawn()).to(part.dtype), (256 * drawn()).to(part.dtype)
    size = 2 if part.dtype == torch.bool else max(choices, 1)
    if len(shape) > 1 and size == 2:
        return (drawn() < 0.5).to(part.dtype), (drawn() < 0.5).to(part.dtype)
    values = (torch.arange(math.prod(shape)) + (turn - 1) * count) % size
    first = values.view(shape)
    step = 1 if size <= 2 else 1 + (max(size - count, 1) + turn - 2) % (size - 1)
    return first.to(part.dtype), ((first + step) % size).to(part.dtype)
