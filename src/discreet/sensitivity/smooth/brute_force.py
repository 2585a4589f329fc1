"""Local and smooth sensitivity by trying everything: slow, and right without a theorem.

All data sets near one are listed over a small domain, and each is compared with all its neighbours, as the definitions
of Nissim, Raskhodnikova and Smith (STOC 2007) say. What comes out is a lower bound for a larger domain, and the truth
for this one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real
from discreet.sensitivity.reals import real
from discreet.sensitivity.smooth.levels import rate_of
from discreet.units import Relation, check_relation

__all__ = ["levels", "local_sensitivity", "smooth_sensitivity"]

Multiset = tuple[int, ...]
Vector = tuple[Fraction, ...]


def local_sensitivity(
    query: Callable[[list[Any]], object],
    values: Sequence[object],
    data: Sequence[object],
    relation: Relation,
    distance: int = 0,
) -> Fraction:
    """Return the largest local sensitivity of data sets within a distance: ``A(data, distance)``, in the 1-norm.

    Records are among ``values``, and the query must not depend on their order.

    >>> import statistics
    >>> [int(local_sensitivity(statistics.median, range(7), [1, 2, 3, 5, 6], "replace_one", k)) for k in range(6)]
    [2, 3, 4, 5, 6, 6]
    """
    if distance < 0:
        raise InvalidParameter(f"distance must be at least 0, got {distance}.")
    return levels(query, values, data, relation, distance)[-1]


def smooth_sensitivity(
    query: Callable[[list[Any]], object],
    values: Sequence[object],
    data: Sequence[object],
    relation: Relation,
    beta: Real,
    reach: int | None = None,
) -> float:
    """Return the least beta-smooth bound: the largest ``e^(-beta k) A(data, k)``.

    Distances up to ``reach`` are tried. By default it is the number of records, which is all there is under
    ``replace_one``; under ``add_remove`` it has to be said, and what comes out is a lower bound.

    >>> import statistics
    >>> round(smooth_sensitivity(statistics.median, range(7), [1, 2, 3, 5, 6], "replace_one", 0.1), 6)
    4.02192
    """
    rate = rate_of(beta)
    if reach is None:
        if check_relation(relation) == "add_remove":
            raise InvalidParameter("under add_remove there is no largest distance. Write reach=3, or more.")
        reach = len(data)
    found = levels(query, values, data, relation, reach)
    return max(float(level) * math.exp(-rate * k) for k, level in enumerate(found))


def levels(
    query: Callable[[list[Any]], object],
    values: Sequence[object],
    data: Sequence[object],
    relation: Relation,
    farthest: int,
) -> list[Fraction]:
    """Return ``A(data, 0), A(data, 1), ...`` up to a distance.

    >>> levels(max, [0, 1, 5], [0, 1], "replace_one", 2) == [4, 5, 5]
    True
    """
    check_relation(relation)
    domain = list(values)
    try:
        here = tuple(sorted(domain.index(record) for record in data))
    except ValueError:
        raise InvalidInput("every record must be one of the values, and one is not.") from None
    answers: dict[Multiset, Vector] = {}

    def answer(chosen: Multiset) -> Vector:
        if chosen not in answers:
            answers[chosen] = _vector(query([domain[i] for i in chosen]))
        return answers[chosen]

    found: list[Fraction] = []
    seen, ring = {here}, {here}
    for _ in range(farthest + 1):
        beyond = set()
        largest = found[-1] if found else Fraction(0)
        for chosen in ring:
            for other in _neighbours(chosen, len(domain), relation):
                moved = sum((abs(a - b) for a, b in zip(answer(chosen), answer(other), strict=True)), Fraction(0))
                largest = max(largest, moved)
                beyond.add(other)
        found.append(largest)
        ring = beyond - seen
        seen |= ring
    return found


def _neighbours(chosen: Multiset, kinds: int, relation: Relation) -> Iterator[Multiset]:
    for i in range(len(chosen)):
        rest = chosen[:i] + chosen[i + 1 :]
        if relation == "add_remove":
            yield rest
        else:
            yield from (tuple(sorted((*rest, kind))) for kind in range(kinds))
    if relation == "add_remove":
        yield from (tuple(sorted((*chosen, kind))) for kind in range(kinds))


def _vector(answer: object) -> Vector:
    numbers = [real(entry) for entry in np.ravel(np.asarray(answer, dtype=object))]
    if any(isinstance(number, float) for number in numbers):
        raise InvalidInput("every answer of the query must be finite, and one is infinite or missing.")
    return tuple(Fraction(number) for number in numbers)
