"""The batches of a private training: drawn by secret coins, padded, and handed out in physical pieces."""

from collections.abc import Iterator
from typing import Any

import torch

from discreet.errors import InvalidParameter
from discreet.learn.sgd.data import Records
from discreet.learn.sgd.failures import Guard, enter, in_fixed_words, leave
from discreet.learn.sgd.probe import LEFT, Probe
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

    Before the first step, and again at times, some batches hold made-up records, to see what the model and the loop do
    with them (see ``discreet.learn.sgd.probe``). They are answered like any other; no step is taken, none counts, and
    ``optimizer.moved`` is false. Errors of torch and of this library on private records are raised in fixed
    words.
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
        probe: Probe | None = None,
    ) -> None:
        self.records, self.run, self.size, self.fill, self.device = records, run, size, fill, device
        self.sampler = Sampler(run.plan, len(records))
        self.progress, self.probe = progress, probe
        self.guard = Guard()

    def __len__(self) -> int:
        """Return the number of steps that are left; physical batches may be more."""
        return self.run.plan.steps - self.run.started

    def __iter__(self) -> Iterator[Any]:
        while self.run.started < self.run.plan.steps:
            yield from self.step()
            if self.progress is not None:
                self.progress.show(self.run)

    def step(self) -> Iterator[Any]:
        """Draw one batch and yield its pieces; where a look is due, yield made-up batches first."""
        if self.probe is not None and self.probe.due(self.run.started):
            yield from self.probe.passes(self.run.started)
        chosen = self.sampler.draw(self.run.begin())
        starts = range(0, max(len(chosen), 1), self.size)
        for start in starts:
            index = chosen[start : start + self.size]
            rows = max(self.fill, -(-len(index) // self.fill) * self.fill)
            batch = in_fixed_words(self.records.take, index, rows, shown=())
            mask = torch.arange(rows, device=self.device) < len(index)
            self.run.open(mask, last=start == starts[-1])
            enter(self.guard)
            self.guard.on = self._is_open
            try:
                yield mapped(lambda tensor: tensor.to(self.device), batch)
            finally:
                self.guard.on = None
                leave(self.guard)
            in_fixed_words(self._answered)

    def _answered(self) -> None:
        """Refuse a batch that was left without its step: whether it was may depend on what it holds."""
        if self.run.mask is not None:
            self.run.book.examples = None
            self.run.mask = None
            raise InvalidParameter(LEFT)

    def _is_open(self) -> bool:
        """Tell whether a batch waits for its step."""
        return self.run.mask is not None
