"""Whether a record's gradient follows the number of records: the same ones, in batches of two sizes, must get the same.

A sum that is taken for a mean, or numbers that are spread over a batch, give every record another gradient when one
more joins. The random numbers of rows are drawn alike for both sizes where torch's functions for them are called by
themselves; where that was not so, nothing can be told, and nothing is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from discreet.errors import InvalidParameter
from discreet.learn.sgd.contributions import Contribution
from discreet.learn.sgd.coupling import coarsest

__all__ = ["Draws", "refuse_counts"]

Notes = Mapping[Tensor, Sequence[Contribution]]

SHARE = 0.02
"""How far a record's gradient may be from the same one in a larger batch, as a share of its length."""
ROUNDINGS = 16

BY_SIZE = frozenset({torch.rand, torch.randn, torch.randint})
BY_ROWS = frozenset(
    {
        functional.dropout,
        functional.dropout1d,
        functional.dropout2d,
        functional.dropout3d,
        functional.alpha_dropout,
        functional.feature_alpha_dropout,
        torch.dropout,
        torch.rand_like,
        torch.randn_like,
        torch.randint_like,
        torch.bernoulli,
    }
)

COUNTED = (
    "a record's gradient depends on how many records are in the batch: the same made-up records got others among "
    "{more} than among {few}. One record then moves the gradients of all others. {advice}"
)
ADVICE = {
    "mean": (
        "The loss of a batch must be the mean of one term for each record: write .mean() over records, or give "
        "private() reduction='sum' and take the sum."
    ),
    "sum": (
        "With reduction='sum' the loss of a batch must be the sum of one term for each record: take the sum, or give "
        "private() reduction='mean' and take the mean."
    ),
}
ALSO = " Nothing in a term may depend on len(x), and random numbers must be drawn for each record by itself."


class Draws(TorchFunctionMode):
    """What was drawn in a pass; rows are drawn as if there were ``more`` than the ``few`` that there are.

    >>> draws = Draws(3, 4)
    >>> with draws:
    ...     x = torch.rand(3, 2)
    >>> x.shape, draws.shapes
    (torch.Size([3, 2]), [torch.Size([4, 2])])
    """

    def __init__(self, few: int, more: int) -> None:
        super().__init__()
        self.few, self.more = few, more
        self.shapes: list[object] = []
        self._now = _states()
        self.rest: object = None

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        options = kwargs or {}
        if torch.compiler.is_compiling():
            self.shapes.append(object())
            return func(*args, **options)
        self.unseen()
        longer = self._longer(func, args)
        found = func(*(longer or args), **options)
        now = _states()
        if not _alike(self._now, now) or options.get("generator") is not None:
            self.shapes.append(found.shape if isinstance(found, Tensor) else object())
        self._now = now
        return found[: self.few] if longer else found

    def begin(self) -> None:
        """Begin where torch's generators are now."""
        self._now = _states()

    def end(self, rest: object) -> None:
        """End a pass, after which other generators are as the ``rest`` tells."""
        self.unseen()
        self.rest = rest

    def unseen(self) -> None:
        """Look whether something was drawn since the last function, in a way that is not known."""
        now = _states()
        if not _alike(self._now, now):
            self.shapes.append(object())  # it is like no other
        self._now = now

    def _longer(self, func: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Return the arguments with which a function that draws for each row gives more rows, first the same ones."""
        if self.more == self.few or not args or any(arg is True for arg in args[3:]):  # in place
            return None
        if func in BY_ROWS and isinstance(args[0], Tensor) and args[0].shape[:1] == (self.few,):
            return torch.cat([args[0], args[0][:1].expand(self.more - self.few, *args[0].shape[1:])]), *args[1:]
        if func in BY_SIZE:
            whole = [isinstance(arg, int) for arg in args]
            if func is not torch.randint and all(whole) and args[0] == self.few:
                return self.more, *args[1:]
            for place, arg in enumerate(args):
                if isinstance(arg, tuple | list) and tuple(arg[:1]) == (self.few,):
                    return *args[:place], (self.more, *arg[1:]), *args[place + 1 :]
        return None


def refuse_counts(few: Notes, less: Draws, many: Notes, more: Draws, reduction: str) -> None:
    """Refuse a training whose first records get other gradients among more, if the same was drawn for them."""
    if less.shapes != more.shapes or less.rest != more.rest:
        return
    coarse = max(coarsest(few), coarsest(many))
    for row in range(less.few):
        apart = length = 0.0
        for parameter in few:
            one, two = _of(few[parameter], row), _of(many[parameter], row)
            one = torch.zeros_like(two) if one is None and two is not None else one
            two = torch.zeros_like(one) if two is None and one is not None else two
            if one is None or two is None:
                continue
            if reduction == "mean":
                one, two = one * less.few, two * more.few
            if not bool((torch.isfinite(one) & torch.isfinite(two)).all()):
                return
            apart += float((one - two).square().sum())
            length += float(one.square().sum())
        if apart**0.5 > max(SHARE, ROUNDINGS * coarse) * length**0.5:
            words = COUNTED.format(few=less.few, more=more.few, advice=ADVICE[reduction])
            raise InvalidParameter(words + ALSO)


def _of(parts: Sequence[Contribution], row: int) -> Tensor | None:
    """Return the gradient of one record."""
    found = None
    for part in parts:
        one = part.some(slice(row, row + 1)).each()[0].detach().double().flatten()
        found = one if found is None else found + one
    return found


def _states() -> list[Tensor]:
    started = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if started else ())]


def _alike(one: Sequence[Tensor], two: Sequence[Tensor]) -> bool:
    return len(one) == len(two) and all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
