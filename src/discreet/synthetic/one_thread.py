"""Small products and sums without the threads of a BLAS, which cost more than the work that they share.

The libraries that numpy and scipy bring along are asked by their own functions. Where they are not found nothing
changes: this is about speed alone. What is set holds for the whole process, so the first who enters lowers the number
and the last who leaves restores it.
"""

import ctypes
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy

__all__ = ["OneThread"]

Setting = tuple[Callable[[], int], Callable[[int], None]]

NAMES = [(before, after) for before in ("scipy_", "") for after in ("64_", "")]


class OneThread:
    """One thread of each BLAS, from when the first has entered until the last has left.

    >>> with OneThread(), OneThread():
    ...     sum(np.ones(3))
    np.float64(3.0)
    """

    lock, held = threading.Lock(), 0
    before: tuple[int, ...] = ()

    def __enter__(self) -> None:
        with OneThread.lock:
            if not OneThread.held:
                OneThread.before = tuple(number() for number, _ in settings())
                for _, change in settings():
                    change(1)
            OneThread.held += 1

    def __exit__(self, *_: object) -> None:
        with OneThread.lock:
            OneThread.held -= 1
            if not OneThread.held:
                for (_number, change), number in zip(settings(), OneThread.before, strict=True):
                    change(number)


@lru_cache(maxsize=1)
def settings() -> tuple[Setting, ...]:
    """Return how the number of threads of each library is read and changed."""
    found = []
    for package in (np, scipy):
        home = Path(str(package.__file__)).parent
        for folder in (home.parent / f"{home.name}.libs", home / ".dylibs"):
            for path in sorted(folder.glob("*openblas*")):
                found += _settings_of(path)
    return tuple(found)


def _settings_of(path: Path) -> list[Setting]:
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return []
    for before, after in NAMES:
        number = getattr(library, f"{before}openblas_get_num_threads{after}", None)
        change = getattr(library, f"{before}openblas_set_num_threads{after}", None)
        if number is not None and change is not None:
            number.restype, change.argtypes, change.restype = ctypes.c_int, [ctypes.c_int], None
            return [(number, change)]
    return []
