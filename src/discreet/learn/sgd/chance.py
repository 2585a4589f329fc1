"""The random numbers of a model and a loop: put back, so that two passes draw the same ones."""

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

__all__ = ["Chance"]


class Chance:
    """The states of torch's, numpy's and Python's global generators, and of others that were found.

    >>> chance = Chance()
    >>> first = torch.rand(1)
    >>> chance.again()
    >>> torch.equal(torch.rand(1), first)
    True
    """

    def __init__(self, others: Iterable[Any] = ()) -> None:
        self._others = list(others)
        self._start = self._now = self._states()

    def again(self) -> None:
        """Go back to where the last fresh numbers began."""
        self._put(self._now)

    def fresh(self) -> None:
        """Go on with numbers that were not drawn yet."""
        self._now = self._states()

    def restore(self) -> None:
        """Go back to the very beginning."""
        self._put(self._start)

    def used(self) -> object:
        """Return what tells whether as many numbers were drawn in two passes, but for torch's global generators."""
        return _plain(self._states()[2:])

    def _states(self) -> list[Any]:
        started = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        devices = torch.cuda.get_rng_state_all() if started else None
        arrays = np.random.get_state()  # noqa: NPY002  what a loop may draw from
        return [torch.get_rng_state(), devices, arrays, random.getstate(), *map(_state, self._others)]

    def _put(self, states: list[Any]) -> None:
        processor, devices, arrays, plain, *others = states
        torch.set_rng_state(processor)
        if devices is not None:
            torch.cuda.set_rng_state_all(devices)
        np.random.set_state(arrays)  # noqa: NPY002
        random.setstate(plain)
        for generator, state in zip(self._others, others, strict=True):
            if isinstance(generator, torch.Generator):
                generator.set_state(state)
            elif isinstance(generator, np.random.Generator):
                generator.bit_generator.state = state
            else:
                generator.setstate(state)


def _state(generator: Any) -> Any:  # noqa: ANN401  torch's, numpy's or Python's
    if isinstance(generator, torch.Generator):
        return generator.get_state()
    return generator.bit_generator.state if isinstance(generator, np.random.Generator) else generator.getstate()


def _plain(state: Any) -> Any:  # noqa: ANN401  what generators give
    """Return a state in values that can be compared."""
    if isinstance(state, torch.Tensor | np.ndarray):
        return state.tolist()
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    return [_plain(value) for value in state] if isinstance(state, list | tuple) else state
