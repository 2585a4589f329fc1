"""Gaussian noise for clipped sums, drawn ahead while the next gradients are computed."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from discreet.learn.sgd.chacha import words_on
from discreet.learn.sgd.normal import Draws, coarse_grid, draw, ratio_of, rounded
from discreet.learn.sgd.plan import Noise
from discreet.noise import source
from discreet.process import process

if TYPE_CHECKING:
    from discreet.learn.sgd.launching import Started

__all__ = ["Ahead", "Begun", "begin", "noisy"]

WORTH_IT = 1 << 14
"""Fewer variables are drawn faster than a thread is woken."""


class Ahead:
    """Normal variables for the next step, drawn in a thread of their own.

    What is drawn does not depend on data; what is taken for another scale is drawn anew. Each variable is handed out
    once: a process that was forked in between draws anew. What was handed out before is written over.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.words = words_on(device)
        self._process = process()
        self._pool: ThreadPoolExecutor | None = None
        self._used: Draws | None = None
        self._next: tuple[tuple[int, float], Future[Draws]] | None = None

    def take(self, count: int, ratio: float) -> Draws:
        """Return so many fresh variables for noise of so many cells."""
        self._leave_to_parent()
        ready, self._next = self._next, None
        if ready is not None and ready[0] == (count, ratio) and source().private:
            self._used = ready[1].result()
        else:
            self._used = draw(count, self.words, ratio)
        return self._used

    def prepare(self, count: int, ratio: float) -> None:
        """Begin to draw what will be taken next; sources that tests put in place know their own thread alone."""
        self._leave_to_parent()
        if self.device.type == "cpu" and count >= WORTH_IT and source().private:
            self._pool = self._pool or ThreadPoolExecutor(1, thread_name_prefix="noise")
            used, self._used = self._used, None
            used = None if used is not None and used.cells.is_inference() else used  # those cannot be written over
            self._next = (count, ratio), self._pool.submit(draw, count, self.words, ratio, used)

    def _leave_to_parent(self) -> None:
        """Forget what was drawn in the process that this one was forked from."""
        if self._process != process():
            self._process, self._pool, self._next, self._used = process(), None, None, None


@dataclass(slots=True)
class Begun:
    """A noisy sum that may be under way on an accelerator: ``out`` is not to be shown to anyone before ``finish``."""

    out: Tensor
    _started: "Started | None" = None

    def finish(self) -> bool:
        """Wait for it; tell whether ``out`` was changed since."""
        return self._started is not None and self._started.finish()


def begin(
    total: Tensor, sigma: float, kind: Noise, ahead: Ahead, given: torch.dtype | None = None, share: float = 1.0
) -> Begun:
    """Begin to add Gaussian noise of deviation sigma; the sum, times ``share``, comes in its type or ``given``.

    The sum, which is contiguous, may be written over, and must stay as it is until ``finish``. Satisfies Gaussian
    differential privacy with ``mu = sensitivity / sigma`` if ``kind`` is secure: noise comes from the secure source,
    and the sum with it is rounded to a public grid, decided exactly. The insecure kind takes torch's own generator and
    rounds nothing; it is for trying things out.
    """
    if kind == "insecure_fast":
        return Begun(((total + torch.randn_like(total) * sigma) * share).to(given or total.dtype))
    if total.is_cuda:
        from discreet.learn.sgd import launching

        if launching.usable(total.device, total.dtype, total.numel()):
            started = launching.begin(total, sigma, coarse_grid(sigma), given, share)
            return Begun(started.out, started)
    if total.is_cuda:
        total = total.clone()  # it may be a recording's own memory, into which the next sum is written without noise
    grid = coarse_grid(sigma)
    draws = ahead.take(total.numel(), ratio_of(sigma, grid))
    found = rounded(total, sigma, grid, draws, ahead.words, share)
    return Begun(found.to(given or total.dtype))


def noisy(total: Tensor, sigma: float, kind: Noise, ahead: Ahead, given: torch.dtype | None = None) -> Tensor:
    """Return a sum plus Gaussian noise of deviation sigma, on the same device, in its type or in the ``given`` one.

    Satisfies what ``begin`` says.

    >>> cpu = torch.device("cpu")
    >>> noisy(torch.full((3,), 1000.0), 0.25, "secure", Ahead(cpu)).round(decimals=-2).tolist()
    [1000.0, 1000.0, 1000.0]
    """
    begun = begin(total.clone(memory_format=torch.contiguous_format), sigma, kind, ahead, given)
    begun.finish()
    return begun.out
