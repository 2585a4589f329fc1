"""Functions of a record that an analyst wrote: they may fail, and a failure must not tell which record made it."""

from collections.abc import Callable
from typing import Any

__all__ = ["holds", "safely"]


def safely(function: Callable[[Any], Any], record: Any, otherwise: Any) -> Any:  # noqa: ANN401 - any record and value
    """Return a function of a record, or something else where it fails: an exception would show that it is there.

    Whatever is raised is a failure, except for KeyboardInterrupt, which passes. A warning would tell as much: who reads
    records by this does so ``with Silence()``, once for all of them.

    >>> safely(lambda x: 1 / x, 0, otherwise=0.0)
    0.0
    """
    try:
        return function(record)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return otherwise


def holds(predicate: Callable[[Any], object], record: Any) -> bool:  # noqa: ANN401 - any record
    """Tell whether a condition holds; one that cannot be told does not."""
    return bool(safely(lambda one: bool(predicate(one)), record, otherwise=False))
