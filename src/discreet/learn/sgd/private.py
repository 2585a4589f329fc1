"""The door to private training: a model, an optimizer and records in; the same three, private, out."""

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.optim import Optimizer

from discreet.accounting import Account
from discreet.accounting.large_delta import say_large_delta
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive
from discreet.learn.sgd.batches import Batches
from discreet.learn.sgd.book import Book
from discreet.learn.sgd.data import records_of
from discreet.learn.sgd.distributed import start_alike
from discreet.learn.sgd.failures import in_fixed_words, on_made_up
from discreet.learn.sgd.made_up import MadeUp
from discreet.learn.sgd.optimizer import PrivateOptimizer
from discreet.learn.sgd.plan import Clipping, Noise, Sampling, Training, steps_for, usual_batch
from discreet.learn.sgd.probe import Probe
from discreet.learn.sgd.progress import Progress
from discreet.learn.sgd.replay import Replay
from discreet.learn.sgd.rounding import largest_batch
from discreet.learn.sgd.run import Run
from discreet.learn.sgd.strategy import Strategy

__all__ = ["Private", "private", "train"]

LARGEST = 8192
"""Rows of a physical batch on an accelerator, unless it is told otherwise; its memory may ask for fewer."""


TILE = 8
"""Physical batches on an accelerator have a multiple of so many rows, which its matrix products like."""

LEAST = 8
"""Rows of a physical batch on a processor: matrix products of one or two rows may round otherwise than those of many,
and one more record would then change what all others give."""


class Private(NamedTuple):
    """A model, its optimizer and its batches, bound to one plan."""

    model: nn.Module
    optimizer: PrivateOptimizer
    batches: Batches

    @property
    def run(self) -> Run:
        """How far the training is, and what it has spent."""
        return self.optimizer.run


def private(
    model: nn.Module,
    optimizer: Optimizer,
    data: object,
    *,
    records: int | None = None,
    epsilon: Real | None = None,
    delta: Real | None = None,
    noise_multiplier: Real | None = None,
    epochs: Real | None = None,
    steps: int | None = None,
    batch: int | None = None,
    clip: Real = 1.0,
    clipping: Clipping = "flat",
    quantile: Real = 0.5,
    sampling: Sampling = "poisson",
    strategy: Strategy = "independent",
    bands: int = 16,
    noise: Noise = "secure",
    reduction: str = "mean",
    micro_batch: int | None = None,
    account: Account | None = None,
    progress: bool = False,
    example: object = None,
    probe: bool = True,
) -> Private:
    """Make the training of a model private, with epsilon and delta or with a noise multiplier.

    Satisfies ``run.plan.loss`` under add_remove whenever the loss of a batch is the mean (or with
    ``reduction="sum"`` the sum) of one term for each example, whatever the model is. ``records`` is the size of the
    data as it is declared in public: it sets the sampling rate and must not be read from the data. Training losses and
    accuracies on the private records are not part of the guarantee; look at held out, public ones.

    The first batches, and some later ones, hold made-up records: from them it is seen whether records touch each other
    in the model or the loss, and whether the model keeps something of them. ``example`` holds some made-up or public
    records, in the form of the data, for losses that cannot take any numbers. With ``probe=False`` there are no such
    batches; that each example has a term of its own, that every layer has examples along the first dimension and that
    the model keeps nothing is then the caller's own promise, and nothing looks after it.

    >>> model = nn.Linear(3, 1)
    >>> data = torch.randn(100, 3), torch.randn(100, 1)
    >>> model, optimizer, batches = private(
    ...     model, torch.optim.SGD(model.parameters(), lr=0.1), data,
    ...     records=100, epsilon=3, delta=1e-5, epochs=2, batch=20,
    ... )
    >>> for x, y in batches:
    ...     nn.functional.mse_loss(model(x), y).backward()
    ...     optimizer.step()
    >>> optimizer.run.loss.epsilon(1e-5) <= 3
    True
    """
    if records is None:
        raise InvalidParameter(
            "records= is missing: the number of records as it is declared in public. It sets the sampling rate and the "
            "divisor, and must stay the same when a person joins or leaves, so it is not read from the data."
        )
    if reduction not in ("mean", "sum"):
        raise InvalidParameter(f"reduction must be 'mean' or 'sum', as the loss of a batch is one, got {reduction!r}.")
    options: dict[str, Any] = {
        "clip": clip,
        "clipping": clipping,
        "quantile": quantile,
        "sampling": sampling,
        "strategy": strategy,
        "bands": bands,
        "noise": noise,
    }
    plan = _plan(records, batch, epochs, steps, epsilon, delta, noise_multiplier, options)
    held = records_of(data)
    start_alike(model)
    book = Book(model)
    run = Run(plan, book, reduction)
    wrapped = PrivateOptimizer(optimizer, run)
    device = next(iter(book.names)).device
    size, fill = _sizes(plan, micro_batch, device)
    if account is not None:
        account.spend(plan.loss)
    shown = Progress(positive(delta if delta is not None else 1 / (10 * records), "delta")) if progress else None
    look = Probe(run, MadeUp(held, example), device) if probe else None
    return Private(model, wrapped, Batches(held, run, size=size, fill=fill, device=device, progress=shown, probe=look))


def train(parts: Private, criterion: Any, *, after: Callable[[Run], None] | None = None) -> Run:  # noqa: ANN401
    """Run what is left of a training on records of inputs and targets.

    ``after`` is called when a step has moved the parameters: there a rate is scheduled, a model is tried on held out
    records, or weights are averaged. On an accelerator the passes are recorded once and played again, which saves the
    time of starting them one by one; a loop of one's own does the same work more slowly.

    A cross entropy that is a mean over what has a class is taken as the mean over all examples and positions: how many
    have one, or what their weights add up to, would tell every example of the others.

    >>> model = nn.Linear(3, 1)
    >>> optimizer = torch.optim.Adam(model.parameters())
    >>> data = torch.randn(50, 3), torch.randn(50, 1)
    >>> run = train(private(model, optimizer, data, records=50, noise_multiplier=1, steps=4), nn.MSELoss())
    >>> run.finished
    4
    """
    loss = _of_each(criterion, parts.run.reduction)
    parts.model.train()
    replay = Replay(parts.model, loss, parts.optimizer)
    probe = parts.batches.probe
    if probe is not None:
        probe.roots["the loss"] = criterion

    def answer(batch: Any) -> None:  # noqa: ANN401  inputs and targets
        if not replay(batch):
            inputs, targets = batch
            loss(parts.model(inputs), targets).backward()
            parts.optimizer.step()

    for batch in parts.batches:
        if not parts.run.probing:
            in_fixed_words(answer, batch)
        elif probe is not None and probe.made_up.of_private:
            on_made_up(answer, batch)
        else:
            answer(batch)
        if after is not None and parts.optimizer.moved:
            after(parts.run)
    return parts.run


def _of_each(criterion: Any, reduction: str) -> Any:  # noqa: ANN401  any function of outputs and targets
    """Return a criterion that has one term for each example, if torch's own says that it has not."""
    said = getattr(criterion, "reduction", reduction)
    if (said == "sum") != (reduction == "sum"):
        raise InvalidParameter(
            f"the criterion is a {said!r} over a batch, and private() was told reduction={reduction!r}; say the same."
        )
    if said != "mean" or not isinstance(criterion, nn.CrossEntropyLoss | nn.NLLLoss):
        return criterion
    each = copy(criterion)
    each.reduction = "none"
    return lambda outputs, targets: each(outputs, targets).mean()


def _plan(
    records: int,
    batch: int | None,
    epochs: Real | None,
    steps: int | None,
    epsilon: Real | None,
    delta: Real | None,
    noise_multiplier: Real | None,
    options: dict[str, Any],
) -> Training:
    if (epochs is None) == (steps is None):
        raise InvalidParameter("say how long to train: either epochs= or steps=.")
    size = usual_batch(records) if batch is None else batch
    if steps is not None and (type(steps) is not int or steps < 1):
        raise InvalidParameter(f"steps must be a whole number of at least 1, got {steps!r}.")
    if noise_multiplier is not None:
        if epsilon is not None:
            raise InvalidParameter("give either noise_multiplier= or epsilon= and delta=, not both.")
        count = steps if steps is not None else steps_for(records, size, _some(epochs), options["sampling"])
        return Training(records=records, batch=size, steps=count, noise_multiplier=float(noise_multiplier), **options)
    if epsilon is None or delta is None:
        raise InvalidParameter("say how private the training shall be: epsilon= and delta=, or noise_multiplier=.")
    say_large_delta(delta, records, stacklevel=4)
    return Training.calibrated(
        records=records, batch=size, epochs=epochs, steps=steps, epsilon=epsilon, delta=delta, **options
    )


def _some(value: Real | None) -> Real:
    assert value is not None  # noqa: S101 - steps were not given, so epochs were
    return value


def _sizes(plan: Training, micro_batch: int | None, device: torch.device) -> tuple[int, int]:
    """Return the rows of a physical batch and what it is filled up to a multiple of."""
    if micro_batch is not None and (type(micro_batch) is not int or micro_batch < 1):
        raise InvalidParameter(f"micro_batch must be a whole number of at least 1, got {micro_batch!r}.")
    usual = plan.batch + 4 * int(plan.batch**0.5) + 1
    if device.type != "cpu":
        size = min(micro_batch or LARGEST, -(-usual // TILE) * TILE)
        return size, size
    size = min(micro_batch or largest_batch(plan.rounding), usual)
    fill = max(min(LEAST, size), size // 8)
    return (size // fill) * fill, fill
