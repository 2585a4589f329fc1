"""A look at a training with made-up records, before private ones are seen and again every so many steps.

The batches go through the very loop that private ones will go through, and no step is taken on them. From them it is
learnt which inputs follow the batch, what a model keeps of its inputs, and whether records touch each other. Nothing of
this depends on private records but through the weights, which are released anyway; so a refusal tells nothing of them.

It is a probe and no proof. What happens for some inputs alone, or is smaller than roundings, is not seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules import module as modules
from torch.overrides import TorchFunctionMode

from discreet.errors import InvalidParameter
from discreet.learn.sgd.chance import Chance
from discreet.learn.sgd.counting import Draws, refuse_counts
from discreet.learn.sgd.coupling import Notes, alive, moved, spread
from discreet.learn.sgd.failures import Guard, enter, leave
from discreet.learn.sgd.made_up import Choices, MadeUp
from discreet.learn.sgd.run import Run
from discreet.learn.sgd.state import Kept, kept
from discreet.learn.sgd.trees import leaves, mapped
from discreet.learn.sgd.watch import Watch

__all__ = ["EVERY", "LEFT", "Probe"]

EVERY = 128
"""Steps between two looks; in the beginning there is one after 1, 2, 4, ... steps too."""

SIZES = 5, 8
"""Made-up records of the passes that tell what follows the batch; all later passes have the second number."""

CHANGED = (
    "{name} was changed by a pass over made-up records, or depends on them. What a model keeps of its inputs is "
    "released with it and is not clipped. Take it out, replace the layer by one without such statistics, or, if it is "
    "set once, run the model on made-up inputs before private()."
)

TOUCHING = (
    "records touch each other: another made-up record in a batch changed what layers see of others, or the gradients "
    "they get. One record then moves the sum by more than the clip. Look for statistics over the batch in the model "
    "(functional.batch_norm, h - h.mean(0)), in a hook or in the loop (mixup), and for a loss that is no mean of one "
    "term for each record (weights or ignored classes that are normalised over the batch, pairs within a batch): take "
    "reduction='none', add up for each record and then take the mean."
)

BLIND = (
    "with made-up records no gradient was finite and not 0, or all records looked alike, so that it cannot be told "
    "whether records touch each other. Give example=, some made-up or public records in the form of the data. With "
    "probe=False nothing is looked at, and that every record stands alone is your own promise."
)


LEFT = "a batch was left without its step. Run one backward pass and one optimizer.step() for each."

Left = Mapping[str, object]


class Probe:
    """The looks at one training; ``roots`` may keep something of the inputs, by name."""

    def __init__(self, run: Run, made_up: MadeUp, device: torch.device) -> None:
        self.run, self.made_up, self.device = run, made_up, device
        self.roots: dict[str, object] = {"": run.book.model}
        self.looked: int | None = None
        self.turn = 0
        self.choices = Choices()
        self.made: set[str] = set()
        self.guard = Guard(made_up=True)
        self.guard.on = (lambda: run.mask is not None) if made_up.of_private else None

    def due(self, step: int) -> bool:
        """Tell whether there is to be a look before a step."""
        if self.looked is None:
            return True
        return step != self.looked and (step % EVERY == 0 or (step < EVERY and step & (step - 1) == 0))

    def passes(self, step: int) -> Iterator[Any]:
        """Yield batches of made-up records, each to be answered as a private one; refuse what was seen."""
        run, book = self.run, self.run.book
        roots = {**self.roots, **_global_hooks()}
        before = kept(roots)
        values = [before.digests(owned=owned) for owned in (True, False)]
        look = _Look(self, before, roots)
        book.watch = Watch(book.model)
        try:
            yield from self._first(look) if self.looked is None else self._rows(look, self._some())
        finally:
            look.chance.restore()
            before.restore()
            book.following.learning = False
            run.probing, run.mask, run.noted, book.examples = False, None, {}, None
        for one, owned in zip(values, (True, False), strict=True):
            _same(one, before.digests(owned=owned), self)
        book.watch = Watch(book.model, roots, frozenset(self.made))
        self.looked = step

    def _first(self, look: "_Look") -> Iterator[Any]:
        """Learn what follows the batch, perturb several sets of rows, then leave some out."""
        following = self.run.book.following
        for count in SIZES:
            following.learn(count)
            yield from look.at(count, usual=1 if count == SIZES[0] else 2)
        following.settle(self.run.book.name_of)
        half, rest, one = self._some(), self._some(rest=True), self._some(1)
        yield from self._rows(look, half, rest, repeated=True)
        yield from self._rows(look, one, self._some())
        if not look.seen:
            raise InvalidParameter(BLIND)
        yield from self._counted(look)

    def _some(self, count: int = SIZES[1] // 2, *, rest: bool = False) -> Tensor:
        """Return some of the rows at random, or all the others."""
        order = torch.randperm(SIZES[1], generator=torch.Generator().manual_seed(self.turn))
        found = torch.zeros(SIZES[1], dtype=torch.bool)
        found[order[count:] if rest else order[:count]] = True
        return found

    def _rows(self, look: "_Look", *sets: Tensor, repeated: bool = False) -> Iterator[Any]:
        """Yield a batch, the same once more if it is to be ``repeated``, and one for each set of rows to perturb."""
        self.turn += 1
        look.fresh()
        yield from look.at(SIZES[1])
        base: Notes = self.run.noted
        if repeated:
            yield from look.at(SIZES[1])
            look.noise = spread(base, self.run.noted)
        for rows in sets:
            yield from look.at(SIZES[1], other=rows)
            if moved(base, self.run.noted, ~rows, look.noise):
                raise InvalidParameter(TOUCHING)
            look.seen |= alive(base) and moved(base, self.run.noted, rows)

    def _counted(self, look: "_Look") -> Iterator[Any]:
        """Yield the same records twice, the second time only the first of them, and compare what they got."""
        found = []
        for first in (SIZES[1], SIZES[0]):
            yield from look.at(SIZES[1], first=first)
            found.append((self.run.noted, look.draws))
        (many, more), (few, less) = found
        assert less is not None  # noqa: S101 - they were looked at
        assert more is not None  # noqa: S101
        refuse_counts(few, less, many, more, self.run.reduction)


class _Look:
    """Passes that begin in the same state and draw the same random numbers."""

    def __init__(self, probe: Probe, before: Kept, roots: Mapping[str, object]) -> None:
        self.probe, self.before, self.roots = probe, before, roots
        self.chance = Chance(before.generators)
        self.choices = dict(probe.choices.found)
        self.noise: Sequence[float] | None = None
        self.seen = False
        self.draws: Draws | None = None
        self._left: tuple[Left, Left] | None = None

    def fresh(self) -> None:
        """Go on with other random numbers."""
        self.chance.fresh()
        self.choices = dict(self.probe.choices.found)
        self._left = None

    def at(self, count: int, *, other: Tensor | None = None, usual: int = 2, first: int | None = None) -> Iterator[Any]:
        """Yield so many made-up records, of which some may be others, and look at what was left when it is answered.

        With ``first`` only so many of them are there, and what is drawn is looked at, too.
        """
        probe, run = self.probe, self.probe.run
        one, two = probe.made_up.pair(count, probe.turn, self.choices, usual=usual)
        if other is not None:
            for part, values in zip(leaves(one), leaves(two), strict=True):
                part[other] = values[other]
        watched = None if first is None else Draws(first, count)
        if first is not None:
            one, count = mapped(lambda tensor: tensor[:first].clone(), one), first
        batch = mapped(lambda tensor: tensor.to(probe.device), one)
        self.chance.again()
        run.open_made_up(count, probe.device)
        probe.choices.watch(batch)
        modes: list[TorchFunctionMode] = [probe.guard, probe.choices]
        if watched is not None:
            modes.append(watched)
        for mode in modes:
            enter(mode)
        self.draws = watched
        if watched is not None:
            watched.begin()
        try:
            yield batch
        finally:
            for mode in reversed(modes):
                leave(mode)
        if watched is not None:
            watched.end(self.chance.used())
        if run.mask is not None:
            raise InvalidParameter(LEFT)
        now = kept(self.roots)
        left = now.values, now.digests(owned=False)
        for a, b in zip(self._left or left, left, strict=True):
            _same(a, b, probe)
        self._left = left
        probe.made |= {name for name, tensor in now.tensors.items() if self.before.tensors.get(name) is not tensor}
        self.before.restore()


def _same(one: Left, two: Left, probe: Probe) -> None:
    """Refuse the first name under which there is something else."""
    for name in (*one, *two):
        if name not in one or name not in two or one[name] != two[name]:
            raise InvalidParameter(CHANGED.format(name=probe.run.book.kind_of(name)))


def _global_hooks() -> dict[str, object]:
    """Return what is called in every module of this process."""
    tables = [getattr(modules, name) for name in dir(modules) if name.startswith("_global_") and name.endswith("hooks")]
    hooks = [hook for table in tables for hook in table.values()]
    return {f"global hook {place}": hook for place, hook in enumerate(hooks)}
