"""What a score is, and how labels become one."""

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.auditing.draws import Draws

__all__ = ["Floats", "Integers", "Score", "clean", "each", "exact", "keyed", "labelled", "last_bits"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Score:
    """A name, and a number for each output."""

    name: str
    of: Callable[[Draws], Floats]
    paired: bool = False
    """Whether draws drift together, as durations do: then they are compared in pairs that were run side by side."""


def labelled(name: str, label: Callable[[Draws], Integers], first: Draws, second: Draws) -> Score:
    """Score whole-number labels by the log of how much likelier they are on the first data set."""
    found = label(first), label(second)
    values = np.unique(np.concatenate(found))
    counts = [np.bincount(np.searchsorted(values, one), minlength=values.size) + 0.5 for one in found]
    weights = np.log(counts[0] / first.size) - np.log(counts[1] / second.size)

    def of(draws: Draws) -> Floats:
        labels = label(draws)
        place = np.minimum(np.searchsorted(values, labels), values.size - 1)
        return np.where(values[place] == labels, weights[place], 0.0)

    return Score(name, of)


def keyed(name: str, label: Callable[[Any], Hashable], first: Draws, second: Draws) -> Score:
    """Score labels of outputs of any kind in the same way."""
    counts = [Counter(label(one) for one in each(draws)) for draws in (first, second)]
    weights = {
        key: math.log((counts[0][key] + 0.5) / first.size) - math.log((counts[1][key] + 0.5) / second.size)
        for key in {*counts[0], *counts[1]}
    }
    return Score(name, lambda draws: np.array([weights.get(label(one), 0.0) for one in each(draws)], dtype=np.float64))


def each(draws: Draws) -> Any:  # noqa: ANN401 - a list or an array
    """Return the outputs one by one."""
    return draws.anything


def clean(values: Any) -> Floats:  # noqa: ANN401 - an array
    """Return numbers, with what is none below all others."""
    found = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(found), -np.inf, found)


def exact(values: Any) -> Integers:  # noqa: ANN401 - an array
    """Return the bits of each number."""
    return np.ascontiguousarray(values, dtype=np.float64).view(np.int64)


def last_bits(values: Any) -> Integers:  # noqa: ANN401 - an array
    """Return the exponent of each number together with the place of its lowest bit."""
    whole = np.ascontiguousarray(np.nan_to_num(np.asarray(values, dtype=np.float64))).view(np.int64)
    mantissa = (whole & ((1 << 52) - 1)) | (1 << 52)
    lowest = np.log2((mantissa & -mantissa).astype(np.float64)).astype(np.int64)
    return np.asarray(((whole >> 52) & 0x7FF) * 64 + lowest)
