"""A declared number of records that is wrong must not cost privacy.

Means are private because they divide by a public number. If nine records come where ten were declared, a mean that
divides by what is there moves further than was promised, and an error that says so tells the number to everybody.

Defence: what is declared is the divisor, whatever comes; variances divide by the larger of the two numbers. The
sensitivity holds for data of every size, and no error tells which it is.
Source: OpenDP's documentation of sized domains; found while comparing libraries.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import NotPrivateWarning
from discreet.mechanisms import STAT, Laplace
from discreet.sensitivity import Counts, Mean, Variance, brute_force
from discreet.testing import seeded

DECLARED = 4
SIZES = (1, 2, 3, 4, 5, 6)
VALUES = [0, 0.5, 1, None]
QUERIES = {
    "mean": Mean(bounds=(0, 1), size=DECLARED),
    "mean below 0": Mean(bounds=(-1, 1), size=DECLARED),
    "variance": Variance(bounds=(0, 1), size=DECLARED),
    "smallest variance": Variance(bounds=(0, 1), size=2),
    "shares": Counts(wheres=(lambda x: x == 1, lambda x: x == 0), size=DECLARED),
}


def keeps(query, claimed):
    """Tell whether the claim holds for neighbours of every size, declared or not."""
    return all(brute_force(query, VALUES, size, "replace_one") <= claimed for size in SIZES)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_sensitivity_holds_for_data_of_every_size(query):
    assert keeps(query, query.sensitivity(relation="replace_one"))
    assert keeps(lambda rows: query(np.array(rows, dtype=object)), query.sensitivity(relation="replace_one"))


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_declared_size_is_reached(query):
    """The claim is not loose: at the declared size some neighbours use it up."""
    assert brute_force(query, VALUES, query.size, "replace_one") == query.sensitivity(relation="replace_one")


@pytest.mark.parametrize("size", [0, 1, 3, 5, 4000])
def test_no_error_tells_that_the_size_is_wrong(size):
    data = [1] * size
    for query in (QUERIES["mean"], QUERIES["variance"]):
        assert isinstance(Laplace(sensitivity=1, epsilon=1).of(query, relation="replace_one").release(data), float)
    assert isinstance(STAT(query=float, size=DECLARED, epsilon=1).release(data), float)


@pytest.mark.parametrize("size", SIZES)
def test_statistical_queries_divide_by_what_was_declared(size):
    released = []
    for last in (0, 1):
        with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("V47"):
            released.append(STAT(query=float, size=DECLARED, epsilon=1).release([0] * (size - 1) + [last]))
    assert abs(released[1] - released[0]) <= 1 / DECLARED + 1e-5


def counted(rows):
    return sum(Fraction(x or 0) for x in rows) / len(rows)


def counted_variance(rows):
    return sum((Fraction(x or 0) - counted(rows)) ** 2 for x in rows) / len(rows)


def test_the_check_catches_divisors_that_are_counted():
    assert not keeps(counted, QUERIES["mean"].sensitivity(relation="replace_one"))
    assert not keeps(counted_variance, QUERIES["variance"].sensitivity(relation="replace_one"))
    assert brute_force(counted, VALUES, DECLARED, "replace_one") == QUERIES["mean"].sensitivity(relation="replace_one")
