"""How much is asked for: a whole number, checked in one place."""

import numpy as np

from discreet.errors import InvalidParameter

__all__ = ["SEED", "whole"]

SEED = 20_240_301
"""Generated data starts from here, each kind from a number of its own above it."""


def whole(value: object, name: str, least: int) -> int:
    """Return a whole number that is at least ``least``.

    >>> whole(7, "people", 1)
    7
    >>> whole(0, "people", 1)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: people must be a whole number, at least 1, got 0.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidParameter(f"{name} must be a whole number, at least {least}, got {value!r}.")
    return int(value)
