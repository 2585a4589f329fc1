"""What can be checked about a query without drawing any noise: deterministic, exact, and quick to fail."""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite

__all__ = ["assert_constant", "assert_order_free", "assert_row_by_row", "assert_sensitivity"]

Query = Callable[[Sequence[Any]], Any]


def assert_sensitivity(
    query: Query, neighbours: Iterable[tuple[Sequence[Any], Sequence[Any]]], *, sensitivity: Real, norm: float = 1.0
) -> None:
    """Check that no pair of neighbours moves a query further than its sensitivity, in exact arithmetic.

    >>> assert_sensitivity(len, [([1, 2], [1])], sensitivity=1)
    >>> assert_sensitivity(sum, [([1, 2], [1])], sensitivity=1)
    Traceback (most recent call last):
    AssertionError: one person moves the answer by 2, and its sensitivity is said to be 1: ...
    """
    bound, pairs = finite(sensitivity, "sensitivity"), list(neighbours)
    if norm not in (1, 2, math.inf) or bound < 0 or not pairs:
        raise InvalidParameter("give norm 1, 2 or math.inf, a sensitivity that is not negative, and some neighbours.")
    for one, other in pairs:
        first, second = _entries(query(one)), _entries(query(other))
        if first.keys() != second.keys():
            raise AssertionError(f"one person changes which entries there are: {_short(one)} against {_short(other)}.")
        moves = [abs(_exact(first[key]) - _exact(second[key])) for key in first]
        if norm == math.inf:
            far = max(moves, default=Fraction(0))
        else:
            far = sum((move ** int(norm) for move in moves), Fraction(0))
        if far > (bound**2 if norm == 2 else bound):
            raise AssertionError(
                f"one person moves the answer by {far if norm != 2 else math.sqrt(far)}, and its sensitivity is said "
                f"to be {bound}: {_short(one)} against {_short(other)}."
            )


def assert_order_free(query: Query, data: Sequence[Any], *, rounds: int = 20) -> None:
    """Check that the order of the rows, which is nobody's secret to keep, does not change an answer, to the last bit.

    >>> assert_order_free(max, [1, 2, 3])
    """
    expected, generator = _canonical(query(list(data))), random.Random(0)
    for _ in range(rounds):
        shuffled = list(data)
        generator.shuffle(shuffled)
        found = _canonical(query(shuffled))
        if found != expected:
            raise AssertionError(f"the same rows in another order give {_short(found)} instead of {_short(expected)}.")


def assert_row_by_row(function: Callable[[Sequence[Any]], Sequence[Any]], *parts: Sequence[Any]) -> None:
    """Check that a transformation treats each row by itself: of two tables together it is that of one and the other.

    >>> assert_row_by_row(lambda rows: [2 * row for row in rows], [1, 2], [3])
    >>> assert_row_by_row(lambda rows: [rows.index(row) for row in rows], ["a"], ["b"])
    Traceback (most recent call last):
    AssertionError: rows influence each other: together they give [0, 1], apart [0, 0]...
    """
    together = [row for part in parts for row in part]
    whole, apart = list(function(together)), [row for part in parts for row in function(part)]
    if _canonical(whole) != _canonical(apart):
        raise AssertionError(f"rows influence each other: together they give {whole}, apart {apart}.")


def assert_constant(query: Query, data_sets: Iterable[Sequence[Any]]) -> None:
    """Check that an answer which costs nothing is the same on all data sets.

    >>> assert_constant(lambda rows: "public", [[1], [2, 3]])
    """
    answers = {_canonical(query(data)) for data in data_sets}
    if len(answers) > 1:
        raise AssertionError(f"an answer that costs nothing depends on the data: {sorted(answers)[:4]}.")


def _entries(answer: Any) -> dict[Any, Any]:  # noqa: ANN401 - an answer of any kind
    if isinstance(answer, dict):
        return answer
    if isinstance(answer, set | frozenset):
        raise AssertionError("the entries of a set have no names: return a list or a dictionary.")
    if isinstance(answer, np.ndarray):
        return dict(enumerate(answer.ravel().tolist()))
    return dict(enumerate(answer)) if isinstance(answer, list | tuple) else {0: answer}


def _canonical(value: Any) -> str:  # noqa: ANN401 - an answer of any kind
    """Return a value to the last bit, as a text."""
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype == object else value.tobytes().hex()
        return f"array {value.shape} {value.dtype} {content}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(_canonical, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{_canonical(k)}: {_canonical(v)}' for k, v in value.items())})"
    return repr(value)


def _exact(value: Any) -> Fraction:  # noqa: ANN401 - a number of any kind
    if isinstance(value, float) and not math.isfinite(value):
        raise AssertionError(f"an answer is {value}: no noise can hide that.")
    return finite(value, "the answer")


def _short(data: Any) -> str:  # noqa: ANN401 - data of any kind
    text = repr(data)
    return text if len(text) < 80 else text[:77] + "..."
