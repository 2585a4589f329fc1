"""Functions that an analyst wrote, asked without a word: neither an error nor a warning may tell of the data.

Python's warnings have one list of filters for the whole process, and ``warnings.catch_warnings`` puts back what it
found, also where another thread has changed it since. So the first function that runs turns warnings off and the last
one that returns turns them on again. As long as any of them runs, warnings of other threads are not shown either, and a
thread that uses ``warnings.catch_warnings`` itself at that time may still bring them back.
"""

import os
import threading
import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np

__all__ = ["Silence", "quietly"]

S = TypeVar("S")
T = TypeVar("T")


class Silence:
    """No warnings, from when the first has entered until the last has left.

    >>> with Silence(), Silence():
    ...     warnings.warn("not shown")
    """

    lock, held = threading.Lock(), 0
    filters: "warnings.catch_warnings[None]"

    def __enter__(self) -> None:
        with Silence.lock:
            if not Silence.held:
                Silence.filters = warnings.catch_warnings()
                Silence.filters.__enter__()
                warnings.simplefilter("ignore")
            Silence.held += 1

    def __exit__(self, *_: object) -> None:
        with Silence.lock:
            Silence.held -= 1
            if not Silence.held:
                Silence.filters.__exit__(None, None, None)


def quietly(function: Callable[[], T], otherwise: S) -> T | S:
    """Return what a function does, or something else where it fails, without a warning.

    Whatever it raises is a failure, even SystemExit and other exceptions that mean to end a program, except that
    KeyboardInterrupt passes: a person must be able to stop a function that does not return.

    >>> quietly(lambda: 1 / 0, otherwise=0.0)
    0.0
    """
    with Silence(), np.errstate(all="ignore"):
        try:
            return function()
        except KeyboardInterrupt:
            raise
        except BaseException:
            return otherwise


def _fresh_lock() -> None:
    Silence.lock = threading.Lock()  # another thread may have held it, which does not exist in the child


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fresh_lock)
