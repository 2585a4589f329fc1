"""A column that is declared clean must be checked where it is used, on the data that is there.

A step between the check and the aggregate can bring back what the check excluded: missing values filled with NaN, a
logarithm of 0, a product beyond all floats. An aggregate that trusts the declaration then has no sensitivity at all.

Defence: every aggregate cleans and clamps for itself, after every function that the analyst supplied has run.
Source: OpenDP issue 2936.
"""

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import NotPrivateWarning
from discreet.mechanisms import STAT, Laplace
from discreet.sensitivity import Sum
from discreet.testing import seeded

SIZE = 4
STEPS = {
    "fill with NaN": lambda x: math.nan if x is None else x,
    "leave missing": lambda x: x,
    "logarithm": lambda x: float(np.log(x)) if x is not None else -math.inf,
    "quotient": lambda x: float(np.divide(0.0, x)) if x is not None else math.nan,
    "product": lambda x: (x or 1.0) * 1e308 * 10,
    "square root": lambda x: np.sqrt(np.float64(-1.0 if x is None else x)),
    "decimal": lambda x: Decimal("sNaN") if x is None else Decimal(str(x)),
    "power": lambda x: 10 ** (400 if x is None else 1),
    "share": lambda x: Fraction(1, 3) if x is None else x,
    "condition": lambda x: np.float64(x or 0.0) > 0.5,
}
ROWS = [None, 0.0, 0.25, 1.0]


def moves(answer, step):
    """Return how far the answers of neighbours lie apart under the same noise, NaN counting as infinitely far."""
    answers = []
    with np.errstate(all="ignore"):
        for row in ROWS:
            with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("V10"):
                answers.append(float(answer(step, [0.5] * (SIZE - 1) + [row])))
    return max(answers) - min(answers) if all(map(math.isfinite, answers)) else math.inf


def stat(step, rows):
    return STAT(query=step, size=SIZE, epsilon=1).release(rows)


def summed(step, rows):
    query = Sum(bounds=(0, 1))
    return Laplace(sensitivity=1, epsilon=1).of(query, relation="replace_one").release([step(row) for row in rows])


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_no_step_brings_back_more_than_the_bounds(step):
    assert moves(stat, step) <= 1 / SIZE + 1e-5
    assert moves(summed, step) <= 1 + 1e-5


@pytest.mark.parametrize("name", ["fill with NaN", "square root", "logarithm", "product"])
def test_the_check_catches_an_aggregate_that_trusts_the_declaration(name):
    def trusting(step, rows):
        clean = [0.0 if row is None else row for row in rows]
        assert all(0 <= row <= 1 for row in clean)
        return np.mean([step(row) for row in rows])

    assert moves(trusting, STEPS[name]) == math.inf
