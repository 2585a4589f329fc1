"""Sensitivity by trying everything: slow, and right without a theorem.

All data sets over a small domain are listed and every pair of neighbours is compared, as the definition says.
What comes out is a lower bound for a larger domain, and the truth for this one.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real
from discreet.sensitivity.norms import norm
from discreet.sensitivity.reals import real
from discreet.units import Relation, check_relation

__all__ = ["brute_force"]

Multiset = tuple[int, ...]
Vector = tuple[Fraction, ...]


def brute_force(
    query: Callable[[list[Any]], object], values: Sequence[object], size: int, relation: Relation, p: Real = 1
) -> Fraction | float:
    """Return the sensitivity of a query over all data sets with records among ``values``.

    Under ``add_remove`` the data sets have up to ``size`` records, under ``replace_one`` exactly ``size``.
    The query must not depend on the order of records. It is exact for p = 1 and infinity, and otherwise
    rounded up, as in ``norm``.

    >>> brute_force(sum, [0, 3, 10], size=4, relation="add_remove")
    Fraction(10, 1)
    >>> brute_force(max, [0, 3, 10], size=4, relation="replace_one")
    Fraction(10, 1)
    """
    if size < 1:
        raise InvalidParameter(f"size must be at least 1 record, got {size}.")
    answers: dict[Multiset, Vector] = {}

    def answer(chosen: Multiset) -> Vector:
        if chosen not in answers:
            answers[chosen] = _vector(query([values[i] for i in chosen]))
        return answers[chosen]

    pairs = _neighbours(len(values), size, check_relation(relation))
    changes = {_change(answer(a), answer(b)) for a, b in pairs}
    return max((norm(change, p) for change in changes), default=Fraction(0))


def _neighbours(kinds: int, size: int, relation: Relation) -> Iterator[tuple[Multiset, Multiset]]:
    """Yield every pair of neighbouring multisets, written as sorted positions in the domain."""
    if relation == "add_remove":
        for n in range(size):
            for rest in combinations_with_replacement(range(kinds), n):
                for i in range(kinds):
                    yield rest, _with(rest, i)
    else:
        for rest in combinations_with_replacement(range(kinds), size - 1):
            for i, j in combinations(range(kinds), 2):
                yield _with(rest, i), _with(rest, j)


def _with(rest: Multiset, extra: int) -> Multiset:
    return tuple(sorted((*rest, extra)))


def _change(a: Vector, b: Vector) -> Vector:
    """Return the sizes of all changes in rising order: a norm sees neither signs nor positions."""
    return tuple(sorted(abs(x - y) for x, y in zip(a, b, strict=True)))


def _vector(answer: object) -> Vector:
    numbers = [real(entry) for entry in np.ravel(np.asarray(answer, dtype=object))]
    if any(isinstance(number, float) for number in numbers):
        raise InvalidInput("every answer of the query must be finite, and one is infinite or missing.")
    return tuple(Fraction(number) for number in numbers)
