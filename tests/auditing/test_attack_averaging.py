"""Averages of fresh noise find the truth; a budget ends the questions before that."""

import math
import warnings

import pytest

from discreet.auditing.attacks.averaging import average_out
from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.testing import seeded


def attacked(**settings):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("averaging"):
        return average_out(**{"most": 1000, "trials": 2000, **settings})


@pytest.fixture(scope="module")
def found():
    return attacked()


def test_without_a_budget_the_average_is_right(found):
    assert found.without_budget[-1] > 0.9
    assert found.without_budget[0] < 0.58


def test_the_budget_stops_the_attack(found):
    assert found.admitted == 8
    assert "0 of 1 is left" in found.refusal
    assert found.with_budget[-1] < 0.6
    assert len(set(found.with_budget[found.answers.index(8) :])) == 1


def test_no_guess_beats_the_bound(found):
    slack = 4 * 0.5 / math.sqrt(2 * found.trials)
    assert all(right <= bound + slack for right, bound in zip(found.without_budget, found.bound, strict=True))
    assert found.with_budget[-1] <= found.budget_bound + slack


def test_a_larger_budget_admits_more(found):
    """The check can fail: with budget enough, the same attack goes through."""
    loose = attacked(budget=1000)
    assert loose.admitted == 1000
    assert loose.with_budget[-1] == loose.without_budget[-1] > found.with_budget[-1] + 0.3
    assert loose.refusal.startswith("none")


def test_a_budget_for_nothing_leaves_a_coin():
    none = attacked(budget=0.01, most=10, trials=10)
    assert (none.admitted, none.with_budget[-1], none.budget_bound) == (0, 0.5, 0.5)


def test_what_is_said(found):
    assert "stop after 8" in str(found)
    assert found.plot().to_dict()
    with pytest.raises(InvalidParameter):
        average_out(most=0)
