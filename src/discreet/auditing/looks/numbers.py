"""Scores of single numbers."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from discreet.auditing.draws import Draws
from discreet.auditing.looks.score import Floats, Integers, Score, clean, exact, labelled, last_bits

__all__ = ["of_numbers"]

MODULI = (2, 3, 4, 5, 7, 8, 10, 16)


def of_numbers(first: Draws, second: Draws) -> Iterator[Score]:
    """Return scores of draws that are numbers."""
    yield Score("large", _value)
    middle = float(np.median(np.concatenate([_value(first), _value(second)])))
    yield Score("far from the middle", lambda draws: np.abs(_value(draws) - middle))
    yield labelled("its exact value", lambda draws: exact(draws.numbers), first, second)
    if first.numbers is not None and first.numbers.dtype.kind in "biu":
        for modulus in MODULI:
            yield labelled(f"modulo {modulus}", partial(_remainder, modulus=modulus), first, second)
    else:
        yield labelled("its size and last bits", lambda draws: last_bits(draws.numbers), first, second)
        yield labelled("its kind", _kind, first, second)


def _value(draws: Draws) -> Floats:
    return np.where(draws.strange, -np.inf, clean(draws.numbers))


def _remainder(draws: Draws, modulus: int) -> Integers:
    return np.where(draws.strange, -1, np.asarray(draws.numbers, dtype=np.int64) % modulus)


def _kind(draws: Draws) -> Integers:
    """Tell not-a-number, both infinities, both zeros, whole numbers and the rest apart."""
    found = np.asarray(draws.numbers, dtype=np.float64)
    kinds = [np.isnan(found), found == np.inf, found == -np.inf, (found == 0) & np.signbit(found), found == 0]
    kinds += [found == np.floor(found), np.abs(found) < 2.0**-1022]
    return np.select(kinds, list(np.arange(1, len(kinds) + 1)), 0).astype(np.int64)
