"""Releases drawn again and again on two neighbours, in a form that events can be counted on.

The form (whole numbers, numbers, rows of one width, or anything) is decided once, from the draws that choose events and
for both data sets together. Later draws are put into the same form; what does not fit is marked as strange and is an
event of its own. Otherwise one rare output would change how all others of its side are looked at.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter

__all__ = ["Drawn", "Draws", "Form", "Raised", "Source", "neighbours_of"]

NUMBER = int | float | np.integer | np.floating | np.bool_
WHOLE = int | np.integer | np.bool_
LARGEST = 2**63

Outputs = list[Any] | npt.NDArray[Any]
Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as an output: an analyst sees it too."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Outputs of one release run many times, in one form; ``strange`` marks those that do not fit it."""

    strange: npt.NDArray[np.bool_]
    numbers: npt.NDArray[Any] | None = None
    rows: npt.NDArray[np.float64] | None = None
    anything: list[Any] = field(default_factory=list)
    seconds: Seconds | None = None

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.strange.size)

    def part(self, start: int, end: int) -> "Draws":
        """Return some of them."""
        return Draws(
            strange=self.strange[start:end],
            numbers=None if self.numbers is None else self.numbers[start:end],
            rows=None if self.rows is None else self.rows[start:end],
            anything=self.anything[start:end],
            seconds=None if self.seconds is None else self.seconds[start:end],
        )


@dataclass(frozen=True, slots=True)
class Form:
    """What outputs are taken to be."""

    kind: Literal["whole", "numbers", "rows", "anything"]
    width: int = 0

    @classmethod
    def of(cls, *sides: Outputs) -> "Form":
        """Return the form that all outputs have.

        >>> Form.of([1, 2], [3]).kind, Form.of([1, 2.5], [True]).kind, Form.of([1], ["a"]).kind
        ('whole', 'numbers', 'anything')
        >>> Form.of([(1, 2)], [(3, 4)])
        Form(kind='rows', width=2)
        """
        if all(isinstance(side, np.ndarray) and side.dtype.kind in "biuf" for side in sides):
            shapes = {side.shape[1:] for side in sides if isinstance(side, np.ndarray)}
            if shapes == {()}:
                floats = any(isinstance(side, np.ndarray) and side.dtype.kind == "f" for side in sides)
                return cls("numbers" if floats else "whole")
            if len(shapes) == 1 and (width := int(np.prod(next(iter(shapes))))) > 0:
                return cls("rows", width)
        every = [one for side in sides for one in _listed(side)]
        if every and all(_is_whole(one) for one in every):
            return cls("whole")
        if every and all(isinstance(one, NUMBER) for one in every):
            return cls("numbers")
        widths = {_width(one) for one in every}
        if len(widths) == 1 and (width := widths.pop()) > 0:
            return cls("rows", width)
        return cls("anything")

    def put(self, outputs: Outputs, seconds: Seconds | None = None) -> Draws:
        """Put outputs into this form."""
        if self.kind == "anything":
            listed = _listed(outputs)
            return Draws(strange=np.zeros(len(listed), dtype=np.bool_), anything=listed, seconds=seconds)
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind in ("biu" if self.kind == "whole" else "biuf"):
            flat = outputs.reshape(outputs.shape[0], -1) if outputs.ndim > 1 else outputs
            fits = np.zeros(outputs.shape[0], dtype=np.bool_)
            if self.kind == "rows" and flat.ndim == 2 and flat.shape[1] == self.width:
                return Draws(strange=fits, rows=flat.astype(np.float64), seconds=seconds)
            if self.kind != "rows" and outputs.ndim == 1:
                kind = np.int64 if self.kind == "whole" else np.float64
                return Draws(strange=fits, numbers=outputs.astype(kind), seconds=seconds)
        listed = _listed(outputs)
        if self.kind == "rows":
            strange = np.array([_width(one) != self.width for one in listed], dtype=np.bool_)
            rows = np.full((len(listed), self.width), np.nan)
            for place in np.flatnonzero(~strange):
                rows[place] = [_float(x) for x in listed[place]]
            return Draws(strange=strange, rows=rows, seconds=seconds)
        fit = _is_whole if self.kind == "whole" else _is_number
        strange = np.array([not fit(one) for one in listed], dtype=np.bool_)
        if self.kind == "whole":
            numbers = np.array(
                [0 if bad else int(one) for one, bad in zip(listed, strange, strict=True)], dtype=np.int64
            )
        else:
            numbers = np.array([np.nan if bad else _float(one) for one, bad in zip(listed, strange, strict=True)])
        return Draws(strange=strange, numbers=numbers, seconds=seconds)


def _listed(outputs: Outputs) -> list[Any]:
    return outputs.tolist() if isinstance(outputs, np.ndarray) else outputs


def _is_number(one: Any) -> bool:  # noqa: ANN401 - any output
    return isinstance(one, NUMBER)


def _is_whole(one: Any) -> bool:  # noqa: ANN401 - any output
    return isinstance(one, WHOLE) and -LARGEST <= int(one) < LARGEST


def _float(one: Any) -> float:  # noqa: ANN401 - a number
    try:
        return float(one)
    except OverflowError:
        return float("inf") if one > 0 else float("-inf")


def _width(one: Any) -> int:  # noqa: ANN401 - any output
    """Return the length of a row of numbers; -1 for anything else."""
    if isinstance(one, np.ndarray) and type(one) is np.ndarray:
        return int(one.size) if one.dtype.kind in "biuf" and one.ndim == 1 else -1
    return len(one) if isinstance(one, list | tuple) and all(map(_is_number, one)) else -1


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What came out on each of two data sets, as it came, and how long it took if that counts."""

    outputs: tuple[Outputs, Outputs]
    seconds: tuple[Seconds | None, Seconds | None] = (None, None)

    def part(self, start: int, end: int) -> "Drawn":
        """Return some of it."""
        a, b = (None if one is None else one[start:end] for one in self.seconds)
        return Drawn((self.outputs[0][start:end], self.outputs[1][start:end]), (a, b))

    def put(self, form: Form) -> tuple[Draws, Draws]:
        """Put both sides into a form."""
        return form.put(self.outputs[0], self.seconds[0]), form.put(self.outputs[1], self.seconds[1])


@dataclass(frozen=True, slots=True)
class Source:
    """A release to be run: one at a time, or many at once where ``batch(data, count)`` can."""

    release: Callable[[Any], Any]
    batch: Callable[[Any, int], Any] | None = None
    timing: bool = False

    def draw(self, data: tuple[Any, Any], count: int) -> Drawn:
        """Run it as often on each of two inputs; one at a time they take turns in an order drawn by lot."""
        if self.batch is not None and not self.timing:
            try:
                made = [self.batch(one, count) for one in data]
            except Exception:
                made = []
            if made:
                return Drawn((_checked(made[0], count), _checked(made[1], count)))
        outputs: tuple[list[Any], list[Any]] = ([None] * count, [None] * count)
        seconds = np.zeros(count), np.zeros(count)
        lots = random.SystemRandom()
        for place in range(count):
            for side in (0, 1) if lots.random() < 0.5 else (1, 0):
                given, begun = data[side], time.perf_counter()
                output = self._once(given)
                ended = time.perf_counter()  # before anything is kept, which takes longer on one side or the other
                outputs[side][place], seconds[side][place] = output, ended - begun
        return Drawn(outputs, seconds if self.timing else (None, None))

    def _once(self, data: Any) -> Any:  # noqa: ANN401 - any input and output
        try:
            return self.release(data)
        except (Exception, SystemExit) as error:
            try:
                message = str(error)[:200]
            except Exception:
                message = "a message that cannot be told"
            return Raised(type(error).__name__, message)


def _checked(outputs: Any, count: int) -> Outputs:  # noqa: ANN401 - whatever a batch returns
    if not isinstance(outputs, np.ndarray | list | tuple) or np.ndim(outputs) == 0 or len(outputs) != count:
        raise InvalidParameter(f"batch(data, {count}) must return a list or an array of {count} outputs.")
    return outputs if isinstance(outputs, np.ndarray) else list(outputs)


def neighbours_of(given: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return a pair (a tuple of two data sets) or a list of such pairs as a list of pairs."""
    if isinstance(given, tuple) and len(given) == 2:
        if all(isinstance(one, tuple) and len(one) == 2 for one in given):
            raise InvalidParameter("is this one pair or two? Write a list of pairs: neighbours=[(data, other data)].")
        pairs = [(given[0], given[1])]
    elif isinstance(given, list) and given and all(isinstance(one, tuple) and len(one) == 2 for one in given):
        pairs = [(one[0], one[1]) for one in given]
    else:
        raise InvalidParameter("neighbours are a pair (data, other data), or a list of such pairs.")
    if any(hasattr(one, "__next__") for pair in pairs for one in pair):
        raise InvalidParameter("data that can be read only once cannot be audited: make it a list.")
    return pairs
