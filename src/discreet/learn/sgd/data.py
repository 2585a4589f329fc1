"""The records of a training: tensors, arrays, or a data set that gives one record at a time.

Batches are drawn here and nowhere else, so a loader with a sampler of its own is refused: what it draws is not what is
accounted for.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, Sampler, TensorDataset, default_collate

from discreet.errors import InvalidParameter
from discreet.learn.sgd.trees import mapped

__all__ = ["Items", "Records", "records_of"]

Indices = npt.NDArray[np.int64]


class Records(Protocol):
    """Records by their place; ``take`` pads with zeros up to ``size`` of them."""

    def __len__(self) -> int: ...

    def take(self, index: Indices, size: int, /) -> Any:  # noqa: ANN401  tensors in the form of one record
        """Return a batch of ``size`` records, those asked for first."""
        ...


class Tensors:
    """Records that lie along the first dimension of tensors."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors = tuple(tensors)
        if not self.tensors or any(t.dim() < 1 or t.shape[0] != self.tensors[0].shape[0] for t in self.tensors):
            raise InvalidParameter("data must be tensors of the same length, one entry for each record.")

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])

    def take(self, index: Indices, size: int, /) -> tuple[Tensor, ...]:
        """Return rows of the tensors and zeros after them."""
        places = torch.from_numpy(index)
        return tuple(_padded(tensor[places.to(tensor.device)], size) for tensor in self.tensors)


class Items:
    """Records that a data set gives one at a time."""

    def __init__(self, items: Any) -> None:  # noqa: ANN401  whatever has a length and places
        self.items = items
        if not len(items):
            raise InvalidParameter("a data set must hold a record, from which the shape of all others is known.")

    def __len__(self) -> int:
        return len(self.items)

    def take(self, index: Indices, size: int, /) -> Any:  # noqa: ANN401  tensors in the form of one record
        """Return records put together as torch's loaders do, and zeros after them."""
        batch = default_collate([self.items[int(i)] for i in (index if len(index) else [0])])
        return mapped(lambda tensor: _padded(tensor[: len(index)], size), batch)


def records_of(data: object) -> Records:
    """Return records that batches can be drawn from.

    >>> len(records_of((torch.zeros(5, 2), torch.zeros(5))))
    5
    """
    if isinstance(data, DataLoader | Sampler):
        raise InvalidParameter(
            f"data must be the records themselves, got a {type(data).__name__}. Batches are drawn here, by the coins "
            "that are accounted for; hand over its dataset."
        )
    if isinstance(data, IterableDataset):
        raise InvalidParameter("data must give any record by its place; a stream of batches cannot be sampled.")
    if isinstance(data, TensorDataset):
        return Tensors(data.tensors)
    if isinstance(data, Tensor | np.ndarray):
        data = (data,)
    if isinstance(data, tuple | list) and data and all(isinstance(part, Tensor | np.ndarray) for part in data):
        return Tensors([part if isinstance(part, Tensor) else torch.from_numpy(part) for part in data])
    if hasattr(data, "__getitem__") and hasattr(data, "__len__"):
        return Items(data)
    raise InvalidParameter(
        "data must be tensors or arrays of the same length, or a data set with a length whose records are indexed, got "
        f"{type(data).__name__}."
    )


def _padded(rows: Tensor, size: int) -> Tensor:
    found = rows.new_zeros(size, *rows.shape[1:])
    found[: rows.shape[0]] = rows
    return found
