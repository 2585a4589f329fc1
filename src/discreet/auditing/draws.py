"""Releases drawn again and again on two neighbours, in a form that events can be counted on."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter

__all__ = ["Draws", "Raised", "Source", "neighbours_of"]

BLOCK = 64


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as an output: an analyst sees it too."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"raises {self.kind}"


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Outputs of one release run many times: numbers (n), rows (n, d), or whatever it gives."""

    numbers: npt.NDArray[Any] | None = None
    rows: npt.NDArray[Any] | None = None
    anything: list[Any] = field(default_factory=list)
    seconds: npt.NDArray[np.float64] | None = None

    @property
    def size(self) -> int:
        """How many there are."""
        for array in (self.numbers, self.rows):
            if array is not None:
                return int(array.shape[0])
        return len(self.anything)

    @classmethod
    def of(cls, outputs: Any, seconds: npt.NDArray[np.float64] | None = None) -> "Draws":  # noqa: ANN401 - any output
        """Sort outputs by what they are.

        >>> Draws.of([1, 2.5, True]).numbers, Draws.of([(1, 2), (3, 4)]).rows.shape, Draws.of([1, "a"]).anything
        (array([1. , 2.5, 1. ]), (2, 2), [1, 'a'])
        """
        if not isinstance(outputs, np.ndarray):
            outputs = list(outputs)
            if outputs and all(type(one) is int for one in outputs):
                outputs = _whole(outputs)
            elif outputs and all(isinstance(one, NUMBER) for one in outputs):
                outputs = np.array([float(one) for one in outputs])
            elif outputs and all(_is_row(one, outputs[0]) for one in outputs):
                outputs = np.array([[float(x) for x in one] for one in outputs])
        if isinstance(outputs, np.ndarray):
            if outputs.dtype.kind in "biuf" and outputs.ndim == 1:
                return cls(numbers=outputs, seconds=seconds)
            if outputs.dtype.kind in "biuf" and outputs.ndim >= 2 and outputs[0].size:
                return cls(rows=outputs.reshape(outputs.shape[0], -1), seconds=seconds)
            outputs = list(outputs)
        return cls(anything=outputs, seconds=seconds)

    def part(self, start: int, end: int) -> "Draws":
        """Return some of them."""
        return Draws(
            numbers=None if self.numbers is None else self.numbers[start:end],
            rows=None if self.rows is None else self.rows[start:end],
            anything=self.anything[start:end],
            seconds=None if self.seconds is None else self.seconds[start:end],
        )


NUMBER = int | float | np.integer | np.floating | np.bool_


def _whole(outputs: list[int]) -> Any:  # noqa: ANN401 - an array if the numbers fit
    try:
        return np.array(outputs, dtype=np.int64)
    except OverflowError:
        return np.array([float(one) for one in outputs])


def _is_row(one: Any, first: Any) -> bool:  # noqa: ANN401 - any output
    if isinstance(one, np.ndarray):
        return one.dtype.kind in "biuf" and isinstance(first, np.ndarray) and one.shape == first.shape and one.ndim == 1
    return (
        isinstance(one, list | tuple)
        and isinstance(first, list | tuple)
        and len(one) == len(first) > 0
        and all(isinstance(x, NUMBER) for x in one)
    )


@dataclass(frozen=True, slots=True)
class Source:
    """A release to be run: one at a time, or many at once where ``batch(data, count)`` can."""

    release: Callable[[Any], Any]
    batch: Callable[[Any, int], Any] | None = None
    timing: bool = False

    def draw(self, data: tuple[Any, Any], count: int) -> tuple[Draws, Draws]:
        """Run it as often on each of two inputs, in turn, so that a drift of the machine favours neither."""
        if self.batch is not None and not self.timing:
            try:
                first, second = (self.batch(one, count) for one in data)
                return Draws.of(first), Draws.of(second)
            except Exception:  # noqa: S110 - an exception is an output: run them one by one and see
                pass
        outputs: tuple[list[Any], list[Any]] = ([], [])
        seconds: tuple[list[float], list[float]] = ([], [])
        for start in range(0, count, BLOCK):
            for side in (0, 1) if (start // BLOCK) % 2 == 0 else (1, 0):
                for _ in range(min(BLOCK, count - start)):
                    begun = time.perf_counter()
                    outputs[side].append(self._once(data[side]))
                    seconds[side].append(time.perf_counter() - begun)
        taken = [np.array(times) if self.timing else None for times in seconds]
        return Draws.of(outputs[0], taken[0]), Draws.of(outputs[1], taken[1])

    def _once(self, data: Any) -> Any:  # noqa: ANN401 - any input and output
        try:
            return self.release(data)
        except Exception as error:
            return Raised(type(error).__name__, str(error)[:200])


def neighbours_of(given: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return a pair (a tuple of two data sets) or a list of such pairs as a list of pairs."""
    if isinstance(given, tuple) and len(given) == 2:
        return [(given[0], given[1])]
    if isinstance(given, list) and given and all(isinstance(one, tuple) and len(one) == 2 for one in given):
        return [(one[0], one[1]) for one in given]
    raise InvalidParameter("neighbours are a pair (data, other data), or a list of such pairs.")
