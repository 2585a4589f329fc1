import math
import statistics
from fractions import Fraction
from itertools import product

import pytest

from discreet.errors import InvalidInput, InvalidParameter, RelationMismatch
from discreet.sensitivity import brute_force, norm
from discreet.units import Row

DOMAIN = [0, 1, 5]


def by_definition(query, values, size, relation, p):
    """Compare every ordered data set with every other, and keep the pairs that the unit calls neighbours."""
    sizes = range(size + 1) if relation == "add_remove" else [size]
    data_sets = [list(rows) for n in sizes for rows in product(values, repeat=n)]
    unit = Row(relation=relation)
    return max(
        norm([x - y for x, y in zip(query(a), query(b), strict=True)], p)
        for a in data_sets
        for b in data_sets
        if unit.neighbours(a, b)
    )


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("p", [1, 2, math.inf])
@pytest.mark.parametrize(
    "query",
    [
        lambda rows: [sum(rows), len(rows)],
        lambda rows: [max(rows, default=0), min(rows, default=0)],
        lambda rows: [Fraction(sum(rows), max(len(rows), 1)), len(set(rows))],
    ],
)
def test_it_is_the_definition(query, relation, p):
    assert brute_force(query, DOMAIN, 3, relation, p) == by_definition(query, DOMAIN, 3, relation, p)


def test_known_sensitivities():
    assert brute_force(statistics.median_low, [0, 10], 3, "replace_one") == 10
    assert brute_force(lambda rows: 7, DOMAIN, 3, "add_remove") == 0
    assert brute_force(sum, [4], 3, "replace_one") == 0


def test_a_norm_is_taken_over_the_coordinates():
    assert brute_force(lambda rows: (sum(rows), -sum(rows)), [0, 1], 2, "add_remove") == 2
    assert brute_force(lambda rows: (sum(rows), -sum(rows)), [0, 1], 2, "add_remove", math.inf) == 1


def test_wrong_questions_are_refused():
    with pytest.raises(RelationMismatch):
        brute_force(sum, DOMAIN, 3, "unbounded")
    with pytest.raises(InvalidParameter, match="at least 1"):
        brute_force(sum, DOMAIN, 0, "add_remove")
    with pytest.raises(InvalidInput, match="finite"):
        brute_force(lambda rows: math.inf, DOMAIN, 2, "add_remove")
