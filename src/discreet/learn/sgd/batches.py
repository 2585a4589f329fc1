"""The batches of a private training: drawn by secret coins, padded, and handed out in physical pieces."""

from collections.abc import Iterator
from typing import Any

import torch

from discreet.errors import InvalidParameter
from discreet.learn.sgd.data import Records
from discreet.learn.sgd.progress import Progress
from discreet.learn.sgd.run import Run
from discreet.learn.sgd.sampling import Sampler
from discreet.learn.sgd.trees import mapped

__all__ = ["Batches"]


class Batches:
    """An iterator over what is left of a training, one physical batch at a time.

    Each is to be answered by one backward pass and one ``optimizer.step()``. A logical batch that is larger than
    ``size`` comes in pieces; one that is empty comes as padding alone, and its step is noise alone. Pieces are filled
    up with zeros to a multiple of ``fill``; what lies there is masked and never counts. How many true records a batch
    holds is as private as they are.
    """

    def __init__(
        self,
        records: Records,
        run: Run,
        *,
        size: int,
        fill: int,
        device: torch.device,
        progress: Progress | None = None,
    ) -> None:
        self.records, self.run, self.size, self.fill, self.device = records, run, size, fill, device
        self.sampler = Sampler(run.plan, len(records))
        self.progress = progress

    def __len__(self) -> int:
        """Return the number of steps that are left; physical batches may be more."""
        return self.run.plan.steps - self.run.started

    def __iter__(self) -> Iterator[Any]:
        while self.run.started < self.run.plan.steps:
            yield from self.step()
            if self.progress is not None:
                self.progress.show(self.run)

    def step(self) -> Iterator[Any]:
        """Draw one batch and yield its pieces."""
        chosen = self.sampler.draw(self.run.begin())
        starts = range(0, max(len(chosen), 1), self.size)
        for start in starts:
            index = chosen[start : start + self.size]
            rows = max(self.fill, -(-len(index) // self.fill) * self.fill)
            batch = self.records.take(index, rows)
            mask = torch.arange(rows, device=self.device) < len(index)
            self.run.open(mask, last=start == starts[-1])
            yield mapped(lambda tensor: tensor.to(self.device), batch)
            if self.run.mask is not None:
                self.run.book.examples = None
                self.run.mask = None
                raise InvalidParameter(
                    "a batch was left without its step. Run one backward pass and one optimizer.step() for each."
                )
