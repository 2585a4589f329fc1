"""Passes over a physical batch as one recorded sequence of kernels: on a fast accelerator, starting them takes longest.

Physical batches have one shape and a mask, so that forward pass, backward pass, norms and clipped sums are the same
kernels on the same memory for every one of them: they are recorded once as a CUDA graph and played again. Nothing that
is computed changes. What cannot be recorded (a model that asks for values on its way, a clip that moves) runs as ever.
"""

from typing import Any

import torch
from torch import Tensor

from discreet.learn.sgd.distributed import several
from discreet.learn.sgd.optimizer import PrivateOptimizer
from discreet.learn.sgd.trees import leaves, mapped

__all__ = ["Replay"]

WARM = 3
"""Physical batches that are run as ever before one is recorded: by then libraries have chosen their kernels."""


def _forget_workspaces() -> None:
    """Let go of the memory in which matrix products were made so far: a recording has its own, as large again."""
    clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)  # noqa: SLF001  torch has no public name for it
    if clear is not None:
        clear()


class _Answer:
    """A yes or no that an accelerator gives on its way: it is copied while other work goes on, and waited for alone."""

    def __init__(self) -> None:
        self.here: Tensor | None = None
        self.ready: torch.cuda.Event | None = None

    def ask(self, value: Tensor) -> None:
        """Have a value copied when all before it is done."""
        if not value.is_cuda:
            self.here = value
            return
        if self.here is None or self.ready is None:
            self.here = torch.empty((), dtype=torch.bool, pin_memory=True)
            self.ready = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self.here.copy_(value, non_blocking=True)
        self.ready.record()

    def wait(self) -> bool:
        """Return the value that was asked for last."""
        if self.ready is not None:
            self.ready.synchronize()
        return bool(self.here)


class Replay:
    """What plays the passes over physical batches of one training.

    A call takes the step that belongs to a batch and tells whether it did. Where it did not, nothing has happened, and
    the batch is to be run as ever: in the beginning, where recording failed, and for batches in which the gradient of
    an example is not finite.
    """

    def __init__(self, model: torch.nn.Module, criterion: Any, optimizer: PrivateOptimizer) -> None:  # noqa: ANN401
        self.model, self.criterion, self.optimizer, self.run = model, criterion, optimizer, optimizer.run
        self.graph: torch.cuda.CUDAGraph | None = None
        self.possible = self.run.plan.clipping != "adaptive" and self.run.ahead.device.type == "cuda"
        self.answer = _Answer()
        self.seen = 0

    def __call__(self, batch: Any) -> bool:  # noqa: ANN401  inputs and targets, in the form of a record
        """Take the step of the batch that is open, or tell that it is to be run as ever."""
        if not self.possible or self.run.probing:
            return False
        self.seen += 1
        mask = self.run.mask
        if mask is None or self.seen <= WARM or not (self.graph or self._recorded(batch, mask)):
            return False
        given, held = leaves(batch), leaves(self.batch)
        if [part.shape for part in given] != [part.shape for part in held] or self.mask.shape != mask.shape:
            return False
        for kept, new in zip(held, given, strict=True):
            kept.copy_(new)
        self.mask.copy_(mask)
        assert self.graph is not None  # noqa: S101 - it was recorded
        self.graph.replay()
        self.answer.ask(self.finite)
        run = self.run
        at_once = run.last and run.total is None and run.stream is None and not several()
        if not at_once and not self._sure():
            return False
        self.optimizer.moved = False
        run.keep(self.flat if at_once else self.flat.to(torch.float64, copy=True))  # the next is played over it
        if run.last and not self.optimizer.finish(self._sure):
            return False
        run.mask, run.book.examples = None, None
        return True

    def passes(self) -> None:
        """Run forward and backward pass on the copies, clip and add up: what is recorded."""
        inputs, targets = self.batch
        self.criterion(self.model(inputs), targets).backward()
        self.flat, found = self.run.summed(self.mask, wait=False)
        self.finite = found.finite

    def _sure(self) -> bool:
        """Wait for the passes and tell whether all gradients were finite."""
        return self.answer.wait()

    def _recorded(self, batch: Any, mask: Tensor) -> bool:  # noqa: ANN401
        """Record the passes on copies of a batch; what is recorded is not run yet."""
        self.batch: Any = mapped(torch.clone, batch)
        self.mask = mask.clone()
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        _forget_workspaces()
        torch.cuda.empty_cache()  # what earlier steps took is not needed beside what is recorded
        try:
            with torch.cuda.graph(graph):
                self.passes()
        except Exception:  # whatever a model cannot do while it is recorded, it can do otherwise
            self.possible = False
        else:
            self.graph = graph
        self.run.book.open(mask.shape[0])
        return self.graph is not None
