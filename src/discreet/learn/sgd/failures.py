"""What fails while private records are looked at: one error of fixed words, and the details in the curator's log.

Which record has a label out of range, or makes a data set raise, is as private as the records; torch's words tell it.
So do this library's own words about a batch: which one fails, and that one does, depends on the records in it.
Errors on made-up records are shown as they are, unless those have the form of the first private record: the form of a
record that a data set gives is its own.
"""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from torch import overrides
from torch.overrides import TorchFunctionMode

from discreet.errors import DiscreetError, InvalidParameter, ReleaseFailed

__all__ = ["FORM", "Guard", "enter", "in_fixed_words", "leave", "on_made_up"]

LOG = logging.getLogger("discreet.curator")
LOG.addHandler(logging.NullHandler())  # whoever configures logging reads it; it is never printed by itself

T = TypeVar("T")

FORM = (
    "the model or the loop failed on made-up records, whose form is that of a private one, so that it cannot be said "
    "how. The curator's log says it. Give example=, some made-up or public records in the form of the data: then "
    "errors are shown as they are."
)


def in_fixed_words(
    function: Callable[..., T],
    *args: Any,  # noqa: ANN401  what the function takes
    shown: tuple[type[Exception], ...] = (ReleaseFailed,),
    said: Callable[[], Exception] = ReleaseFailed,
    **options: Any,  # noqa: ANN401
) -> T:
    """Return what a function gives; whatever it raises, but for what may be ``shown``, becomes one error.

    >>> import torch
    >>> in_fixed_words(torch.nn.functional.one_hot, torch.tensor([7]), num_classes=3)
    Traceback (most recent call last):
        ...
    discreet.errors.ReleaseFailed: the release could not be completed, ... The curator's log says why.
    """
    try:
        return function(*args, **options)
    except shown:
        raise
    except Exception:
        LOG.exception("a step of a private training failed")
    raise said()  # raised here, the error holds no trace of the other one


def on_made_up(function: Callable[..., T], *args: Any, **options: Any) -> T:  # noqa: ANN401
    """Return what a function gives on made-up records in the form of a private one; this library's words are shown."""
    return in_fixed_words(partial(function, *args, **options), shown=(DiscreetError,), said=_of_form)


def _of_form() -> Exception:
    return InvalidParameter(FORM)


class Guard(TorchFunctionMode):
    """What stands around torch's functions while the body of a loop has private records.

    With ``made_up`` it stands around made-up records in the form of a private one.

    It is entered when a batch is given to a loop and left when the loop asks for the next one; it acts until the batch
    was stepped on. It sees errors of torch alone: what a loop raises in Python is the loop's own.
    """

    def __init__(self, *, made_up: bool = False) -> None:
        super().__init__()
        self.on: Callable[[], bool] | None = None
        self.made_up = made_up

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        if self.on is None or not self.on():
            return func(*args, **(kwargs or {}))
        return (on_made_up if self.made_up else in_fixed_words)(func, *args, **(kwargs or {}))


def enter(mode: TorchFunctionMode) -> None:
    """Put a mode around what follows in this thread."""
    overrides._push_mode(mode)  # type: ignore[no-untyped-call]  # noqa: SLF001


def leave(mode: TorchFunctionMode) -> None:
    """Take it away, wherever it is among others: a loop may be left in any order, and in another thread."""
    if mode not in overrides._get_current_function_mode_stack():  # type: ignore[no-untyped-call]  # noqa: SLF001
        return
    above = []
    while (top := overrides._pop_mode()) is not mode:  # type: ignore[no-untyped-call]  # noqa: SLF001
        above.append(top)
    for other in reversed(above):
        overrides._push_mode(other)  # type: ignore[no-untyped-call]  # noqa: SLF001
