"""Scores of outputs of any kind: mappings, lists of different lengths, words, exceptions."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any

import numpy as np

from discreet.auditing.draws import Draws, Raised
from discreet.auditing.looks.score import Floats, Score, each, keyed

__all__ = ["of_anything"]

MANY = 48
"""Keys that are looked at one by one."""

PREFIXES = (1, 2, 4, 8, 16)
LOOKED_AT = 256
"""Entries of a list that are looked at one by one."""


def of_anything(first: Draws, second: Draws) -> Iterator[Score]:
    """Return scores of draws that are neither all numbers nor all rows."""
    yield keyed("what kind of thing it is", _kind, first, second)
    yield keyed("its exact form", _form, first, second)
    yield _each("large", _number)
    yield _each("long", _length)
    samples = [one for draws in (first, second) for one in list(each(draws))]
    keys = Counter(key for one in samples if isinstance(one, dict) for key in one)
    for key, _ in keys.most_common(MANY):
        yield _each(f"key {key!r} is there", partial(_has, key=key))
        yield _each(f"key {key!r} large", partial(_at, key=key))
    symbols = Counter(x for one in samples[:500] if _is_list(one) for x in set(map(_form, one[:LOOKED_AT])))
    for symbol, _ in symbols.most_common(MANY // 4):
        yield _each(f"many {symbol}", partial(_count, symbol=symbol))
        yield _each(f"late {symbol}", partial(_where, symbol=symbol))
    for length in PREFIXES:
        yield keyed(f"the first {length}", partial(_start, length=length), first, second)
    yield keyed("the last", lambda one: _start(list(one)[::-1], 1) if _is_list(one) else "", first, second)


def _each(name: str, score: Callable[[Any], float]) -> Score:
    def of(draws: Draws) -> Floats:
        return np.array([score(one) for one in each(draws)], dtype=np.float64)

    return Score(name, of)


def _kind(one: Any) -> Hashable:  # noqa: ANN401 - any output
    if isinstance(one, Raised):
        return f"raises {one.kind}: {one.message}"
    if isinstance(one, float | np.floating) and not math.isfinite(one):
        return repr(float(one))
    return f"{type(one).__name__} {_length(one)}" if _is_list(one) else type(one).__name__


def _form(one: Any) -> str:  # noqa: ANN401 - any output
    try:
        return repr(one)[:400]
    except Exception as error:
        return f"<its repr raises {type(error).__name__}>"


def _is_list(one: Any) -> bool:  # noqa: ANN401 - any output
    return isinstance(one, list | tuple) or (type(one) is np.ndarray and one.ndim > 0)


def _number(one: Any) -> float:  # noqa: ANN401 - any output
    try:
        found = float(one)
    except Exception:
        return -math.inf
    return -math.inf if math.isnan(found) else found


def _length(one: Any) -> float:  # noqa: ANN401 - any output
    try:
        return float(len(one))
    except Exception:
        return -1.0


def _has(one: Any, key: Hashable) -> float:  # noqa: ANN401 - any output
    try:
        return float(isinstance(one, dict) and key in one)
    except Exception:
        return -1.0


def _at(one: Any, key: Hashable) -> float:  # noqa: ANN401 - any output
    try:
        return _number(one.get(key)) if isinstance(one, dict) else -math.inf
    except Exception:
        return -math.inf


def _count(one: Any, symbol: str) -> float:  # noqa: ANN401 - any output
    return float(sum(_form(x) == symbol for x in one[:LOOKED_AT])) if _is_list(one) else -1.0


def _where(one: Any, symbol: str) -> float:  # noqa: ANN401 - any output
    if not _is_list(one):
        return -1.0
    return float(next((place for place, x in enumerate(one[:LOOKED_AT]) if _form(x) == symbol), len(one)))


def _start(one: Any, length: int) -> Hashable:  # noqa: ANN401 - any output
    return tuple(map(_form, list(one)[:length])) if _is_list(one) else ""
