"""A training under way: how far it is, what it has spent, and the step from clipped sums to noisy gradients.

A step is counted when its batch is drawn, before anyone looks at the records: a crash may waste a step, it never gives
one back.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from discreet.accounting import PrivacyLoss
from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.learn.sgd.book import Book
from discreet.learn.sgd.clipping import clipped
from discreet.learn.sgd.distributed import add_up, leads, share_out
from discreet.learn.sgd.noise import Ahead, noisy
from discreet.learn.sgd.plan import Training
from discreet.learn.sgd.rounding import largest_batch
from discreet.learn.sgd.strategy import Toeplitz, Tree, stream_for
from discreet.noise import grid_for, on_grid
from discreet.noise.densities import Gaussian

__all__ = ["Moment", "Run"]


@dataclass(frozen=True, slots=True)
class Moment:
    """What is public about one step: made of noisy sums alone."""

    step: int
    clip: float
    norm: float
    seconds: float


@dataclass(slots=True)
class Run:
    """The state that batches and optimizer share.

    ``totals`` and ``stream`` hold sums without noise while a step is under way; they are as private as the data.
    """

    plan: Training
    book: Book
    reduction: str = "mean"
    started: int = 0
    finished: int = 0
    clip: float = 0.0
    moments: list[tuple[int, float, Tensor, float]] = field(default_factory=list)
    totals: dict[Tensor, Tensor] = field(default_factory=dict)
    balance: Tensor = field(default_factory=lambda: torch.zeros((), dtype=torch.float64))
    stream: Toeplitz | Tree | None = None
    mask: Tensor | None = None
    last: bool = False
    since: float = field(default_factory=time.monotonic)
    ahead: Ahead = field(init=False)

    def __post_init__(self) -> None:
        plan = self.plan
        self.clip = self.clip or plan.clip
        self.stream = stream_for(plan.strategy, plan.steps, plan.per_pass, plan.bands)
        self.ahead = Ahead(next(iter(self.book.names)).device)

    @property
    def loss(self) -> PrivacyLoss:
        """What has been spent, the step under way included."""
        return self.plan.loss_after(self.started)

    @property
    def history(self) -> list[Moment]:
        """What is public about every step that is done."""
        return [Moment(step, clip, float(norm), seconds) for step, clip, norm, seconds in self.moments]

    def begin(self) -> int:
        """Count one more step, and return which it is."""
        if self.started >= self.plan.steps:
            raise BudgetExceeded(f"this training was planned for {self.plan.steps} steps, and all of them are done.")
        self.started += 1
        self.totals, self.balance = {}, torch.zeros((), dtype=torch.float64)
        return self.started - 1

    def open(self, mask: Tensor, *, last: bool) -> None:
        """Begin a physical batch; ``mask`` is false for padding."""
        self.mask, self.last = mask, last
        for parameter in self.book.names:
            parameter.grad = None
        self.book.open(mask.shape[0])

    def add(self) -> bool:
        """Clip what the backward pass noted and add it up; tell whether the step is complete."""
        if self.mask is None:
            raise InvalidParameter(
                "there is no batch to step on. Take one from the batches, run one backward pass, then step once."
            )
        mask, self.mask = self.mask, None
        notes = self.book.close()
        scale = float(mask.shape[0]) if self.reduction == "mean" else 1.0
        with torch.no_grad():
            found = clipped(
                notes, mask, clip=self.clip, scale=scale, groups=self.groups(), rows=largest_batch(self.plan.rounding)
            )
            single = self.last and not self.totals
            for parameter, total in found.sums.items():
                if single:
                    self.totals[parameter] = total
                elif parameter in self.totals:
                    self.totals[parameter] += total
                else:
                    self.totals[parameter] = total.to(torch.float64)
            if self.plan.clipping == "adaptive":
                self.balance += found.balance.to("cpu")
        return self.last

    def groups(self) -> Sequence[Sequence[Tensor]]:
        """Return the parameters that are clipped together: all, or those of each module."""
        if self.plan.clipping != "per_layer":
            return [list(self.book.names)]
        layers: dict[str, list[Tensor]] = {}
        for parameter, name in self.book.names.items():
            layers.setdefault(name.rpartition(".")[0], []).append(parameter)
        return list(layers.values())

    @torch.no_grad()
    def release(self) -> None:
        """Add noise to the sums of the step and give every parameter its noisy gradient."""
        plan = self.plan
        sigma = plan.sum_multiplier * self.clip * (1 + plan.rounding)
        exact = add_up(torch.cat([self.totals[parameter].flatten() for parameter in self.book.names]))
        self.totals = {}

        def blurred(values: Tensor) -> Tensor:
            return noisy(values, sigma, plan.noise, self.ahead)

        if leads():
            exact = blurred(exact) if self.stream is None else self.stream.release(exact, blurred)
        found = share_out(exact) / plan.batch
        sizes = [parameter.numel() for parameter in self.book.names]
        for parameter, part in zip(self.book.names, torch.split(found, sizes), strict=True):
            parameter.grad = part.view(parameter.shape).to(parameter.dtype)
        if self.stream is None and leads() and plan.noise == "secure" and self.started < plan.steps:
            self.ahead.prepare(found.numel())
        self.finished = self.started
        used = self.clip
        if plan.clipping == "adaptive":
            self._adapt()
        self.moments.append((self.finished, used, found.norm(), time.monotonic() - self.since))

    def _adapt(self) -> None:
        """Move the clip towards the quantile (Andrew, Thakkar, McMahan and Ramaswamy, NeurIPS 2021), in steps of 0.2.

        The number of examples below the clip, each less one half, changes by 1/2 with one record.
        """
        exact = float(add_up(self.balance))
        if leads():
            sigma = self.plan.count_sigma
            count = on_grid(Gaussian(), exact, sigma, grid=grid_for(sigma))
            share = min(max(0.5 + count / self.plan.batch, 0.0), 1.0)
            self.clip *= math.exp(-0.2 * (share - self.plan.quantile))
        self.clip = float(share_out(torch.tensor(self.clip, dtype=torch.float64)))
