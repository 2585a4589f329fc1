"""Two orders of the same rows are the same data set, so they must give the same answer before noise.

A float sum depends on the order of its terms. Where neighbours are multisets, as in a database, the order of
rows is not protected by anything: an attacker who can reorder rows moves the sum at distance zero, which no
amount of noise for a claimed sensitivity covers.

Defence: sums of integers, which have no order.
Source: Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity, CCS 2022.
"""

from fractions import Fraction

import numpy as np
import pytest

from discreet.sensitivity import Count, Histogram, Mean, Sum, Variance
from discreet.units import Row

BIG = 2.0**53
ROWS = np.array([BIG, *[1.0] * 200, -BIG])


def orders():
    """Return the rows as they come, sorted both ways, and shuffled."""
    shuffled = np.random.default_rng(0).permutation(ROWS)
    return [ROWS, np.sort(ROWS), np.sort(ROWS)[::-1], shuffled]


def answers(query):
    """Return all answers as exact numbers, one for each order."""
    return {tuple(Fraction(x) for x in np.ravel(np.asarray(query(rows), dtype=object))) for rows in orders()}


def test_the_orders_are_one_data_set():
    assert all(Row().distance(ROWS, rows) == 0 for rows in orders())


@pytest.mark.parametrize(
    "query",
    [
        Sum(bounds=(-BIG, BIG)),
        Sum(bounds=(-BIG, BIG), center=True),
        Sum(bounds=(-1e20, 1e20)),
        Mean(bounds=(-BIG, BIG), size=202),
        Variance(bounds=(-BIG, BIG), size=202),
        Count(where=lambda value: value > 0),
        Histogram(bins=(1.0, BIG)),
    ],
    ids=lambda query: type(query).__name__,
)
def test_order_changes_no_answer(query):
    assert len(answers(query)) == 1


def test_the_exact_sum_is_found():
    assert answers(Sum(bounds=(-BIG, BIG))) == {(Fraction(200),)}


@pytest.mark.parametrize("naive", [np.sum, np.mean, lambda rows: np.add.accumulate(rows)[-1]])
def test_the_check_catches_float_sums(naive):
    assert len(answers(lambda rows: float(naive(rows)))) > 1
