"""A training under way: how far it is, what it has spent, and the step from clipped sums to noisy gradients.

A step is counted when its batch is drawn, before anyone looks at the records: a crash may waste a step, it never gives
one back.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, SupportsIndex

import torch
from torch import Tensor

from discreet.accounting import PrivacyLoss
from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.learn.sgd.book import Book
from discreet.learn.sgd.clipping import Clipped, clipped
from discreet.learn.sgd.contributions import Contribution
from discreet.learn.sgd.distributed import add_up, leads, several, share_out
from discreet.learn.sgd.noise import Ahead, begin
from discreet.learn.sgd.normal import coarse_grid, ratio_of
from discreet.learn.sgd.plan import Training
from discreet.learn.sgd.rounding import largest_batch
from discreet.learn.sgd.strategy import Toeplitz, Tree, stream_for
from discreet.noise import grid_for, on_grid
from discreet.noise.densities import Gaussian
from discreet.process import Process, check_process, process

__all__ = ["Moment", "Run"]

TRAIN_HERE = "Make the training private in the process that runs it."


@dataclass(frozen=True, slots=True)
class Moment:
    """What is public about one step: made of noisy sums alone. How long it took would tell how many took part."""

    step: int
    clip: float
    norm: float


@dataclass(slots=True)
class Run:
    """The state that batches and optimizer share.

    ``total`` and ``stream`` hold sums without noise while a step is under way; they are as private as the data. While
    it is ``probing``, batches are made up, no step is taken, and ``noted`` holds what layers noted of the last one.
    """

    plan: Training
    book: Book
    reduction: str = "mean"
    started: int = 0
    finished: int = 0
    clip: float = 0.0
    moments: list[tuple[int, float, Tensor]] = field(default_factory=list)
    total: Tensor | None = None
    balance: Tensor = field(default_factory=lambda: torch.zeros((), dtype=torch.float64))
    stream: Toeplitz | Tree | None = None
    mask: Tensor | None = None
    last: bool = False
    probing: bool = False
    noted: dict[Tensor, list[Contribution]] = field(default_factory=dict)
    ahead: Ahead = field(init=False)
    process: Process = field(default_factory=process, init=False)

    def __post_init__(self) -> None:
        plan = self.plan
        self.clip = self.clip or plan.clip
        self.stream = stream_for(plan.strategy, plan.steps, plan.per_pass, plan.bands)
        self.ahead = Ahead(next(iter(self.book.names)).device)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InvalidParameter(
            "a training under way cannot be copied: both copies would spend the same steps. Copy the model, or save "
            "the training with discreet.learn.sgd.save and go on with one of the two."
        )

    @property
    def loss(self) -> PrivacyLoss:
        """What has been spent, the step under way included."""
        return self.plan.loss_after(self.started)

    @property
    def history(self) -> list[Moment]:
        """What is public about every step that is done."""
        return [Moment(step, clip, float(norm)) for step, clip, norm in self.moments]

    def begin(self) -> int:
        """Count one more step, and return which it is."""
        check_process(self.process, "this training", TRAIN_HERE)
        if self.started >= self.plan.steps:
            raise BudgetExceeded(f"this training was planned for {self.plan.steps} steps, and all of them are done.")
        if self.stream is not None and self.started != self.finished:
            raise InvalidParameter(
                "a step was left before its end. Noise that is correlated over steps is accounted for where none is "
                "left out; resume the training from where it was saved last."
            )
        self.started += 1
        self.total, self.balance = None, torch.zeros((), dtype=torch.float64)
        return self.started - 1

    def open_made_up(self, examples: int, device: torch.device) -> None:
        """Begin a batch of made-up records, on which no step is taken."""
        self.open(torch.ones(examples, dtype=torch.bool, device=device), last=False)
        self.probing, self.noted = True, {}
        self.book.guarded = False

    def open(self, mask: Tensor, *, last: bool) -> None:
        """Begin a physical batch; ``mask`` is false for padding."""
        self.mask, self.last, self.probing = mask, last, False
        for parameter in self.book.names:
            parameter.grad = None
        self.book.guarded = True
        self.book.open(mask.shape[0])

    def add(self) -> bool:
        """Clip what the backward pass noted and add it up; tell whether the step is complete."""
        assert self.mask is not None  # noqa: S101 - the optimizer asked whether there is a batch
        mask, self.mask = self.mask, None
        if self.probing:
            self.noted = self.book.close()
            return False
        flat, found = self.summed(mask)
        self.keep(flat)
        if self.plan.clipping == "adaptive":
            self.balance += found.balance.to("cpu")
        return self.last

    def summed(self, mask: Tensor, *, wait: bool = True) -> tuple[Tensor, Clipped]:
        """Return the clipped sums of all parameters in a row, of what the backward pass noted."""
        notes = self.book.close()
        scale = float(mask.shape[0]) if self.reduction == "mean" else 1.0
        with torch.no_grad(), torch.autocast(mask.device.type, enabled=False):
            found = clipped(
                notes,
                mask,
                clip=self.clip,
                scale=scale,
                groups=self.groups(),
                rows=largest_batch(self.plan.rounding),
                wait=wait,
            )
            return found.flat, found

    def keep(self, flat: Tensor) -> None:
        """Add the sums of one physical batch to those of the step, in float64 if there are several."""
        if self.total is not None:
            self.total += flat
        else:
            self.total = flat if self.last else flat.to(torch.float64)

    def groups(self) -> Sequence[Sequence[Tensor]]:
        """Return the parameters that are clipped together: all, or those of each module."""
        if self.plan.clipping != "per_layer":
            return [list(self.book.names)]
        layers: dict[str, list[Tensor]] = {}
        for parameter, name in self.book.names.items():
            layers.setdefault(name.rpartition(".")[0], []).append(parameter)
        return list(layers.values())

    @torch.no_grad()
    def release(self, sure: Callable[[], bool] = lambda: True) -> bool:
        """Add noise to the sums of the step and give every parameter its noisy gradient.

        ``sure`` is asked when noise has been added, so that an accelerator is waited for once. If it says no, the noisy
        sums are thrown away unseen, and nothing was released.
        """
        check_process(self.process, "this training", TRAIN_HERE)  # a step may be under way when a process is forked
        plan = self.plan
        sigma = self._sigma()
        assert self.total is not None  # noqa: S101 - a step that is complete has been added up
        exact, self.total = add_up(self.total), None

        kinds = {parameter.dtype for parameter in self.book.names}
        given = kinds.pop() if len(kinds) == 1 else None

        def noisy(values: Tensor) -> Tensor:
            begun = begin(values.clone(), sigma, plan.noise, self.ahead, None, 1.0)
            begun.finish()
            return begun.out

        if self.stream is None and not several():  # all is under way before an accelerator is waited for
            begun = begin(exact, sigma, plan.noise, self.ahead, given, 1 / plan.batch)
            found, norm, parts = begun.out, begun.out.norm(), self._parts(begun.out)
            if begun.finish():
                norm, parts = found.norm(), self._parts(found)
        else:
            if leads():
                exact = noisy(exact) if self.stream is None else self.stream.release(exact.double(), noisy)
            elif self.stream is not None:
                exact = exact.double()
            found = share_out(exact) / plan.batch
            norm, parts = found.norm(), self._parts(found)
        if not sure():
            return False
        for parameter, part in parts.items():
            parameter.grad = part if parameter.requires_grad else None  # what was frozen on the way stays as it is
        self.finished = self.started
        used = self.clip
        if plan.clipping == "adaptive":
            self._adapt()
        if self.stream is None and leads() and plan.noise == "secure" and self.started < plan.steps:
            self.ahead.prepare(found.numel(), ratio_of(self._sigma(), coarse_grid(self._sigma())))
        self.moments.append((self.finished, used, norm))
        return True

    def _sigma(self) -> float:
        """Return the deviation of noise on sums for the clip as it is."""
        return float(self.plan.sum_multiplier * self.clip * (1 + self.plan.rounding))

    def _parts(self, flat: Tensor) -> dict[Tensor, Tensor]:
        """Return what of a row belongs to each parameter, in its shape and type."""
        sizes = [parameter.numel() for parameter in self.book.names]
        parts = zip(self.book.names, torch.split(flat, sizes), strict=True)
        return {parameter: part.view(parameter.shape).to(parameter.dtype) for parameter, part in parts}

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
