"""What is computed must be computed from the clamped values, not beside them.

A library clamped its data into a new variable and went on with the old one. Everything looked right: bounds were asked
for, a clamp ran, and the sensitivity was that of clamped values. One value far outside showed it.

Defence: values exist only as whole numbers of steps between the bounds once they have been read; nothing keeps the
originals.
Source: OpenDP SmartNoise issue 622.
"""

from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms import Quantile
from discreet.sensitivity import Mean, Sum, Variance, brute_force

FAR = [0, 1, 0.5, -1000, 1000.5, 10**9]
QUERIES = {
    "sum": Sum(bounds=(0, 1)),
    "centred sum": Sum(bounds=(0, 1), center=True),
    "mean": Mean(bounds=(0, 1), size=3),
    "variance": Variance(bounds=(0, 1), size=3),
}


def keeps(query, claimed):
    """Tell whether values far outside count for no more than the bounds do."""
    return brute_force(query, FAR, 3, "replace_one") <= claimed


def same_as_clamped(query):
    return all(query([0.25, x]) == query([0.25, min(max(x, 0), 1)]) for x in FAR)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_values_outside_count_as_the_bounds(query):
    assert keeps(query, query.sensitivity(relation="replace_one"))
    assert keeps(lambda rows: query(np.array(rows)), query.sensitivity(relation="replace_one"))
    assert same_as_clamped(query)


def test_quantiles_of_values_outside():
    quantile = Quantile(bounds=(0, 1), epsilon=1, relation="replace_one", grid=0.125)
    assert all(same_as_clamped(lambda rows, y=y: quantile.log_probability(rows, y)) for y in np.arange(9) / 8)


def clamped_and_forgotten(rows):
    clamped = [min(max(x, 0), 1) for x in rows]
    assert all(0 <= x <= 1 for x in clamped)
    return sum(map(Fraction, rows), Fraction(0))


def centred_before_the_clamp(rows):
    """A variance about the mean of the values as they came."""
    middle = sum(map(Fraction, rows), Fraction(0)) / len(rows)
    return sum((min(max(Fraction(x), Fraction(0)), Fraction(1)) - middle) ** 2 for x in rows) / 3


@pytest.mark.parametrize("naive", [clamped_and_forgotten, centred_before_the_clamp])
def test_the_check_catches_a_clamp_that_is_not_used(naive):
    assert not keeps(naive, 1)
    assert not same_as_clamped(naive)
