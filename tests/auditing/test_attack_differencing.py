"""Two exact averages give one salary; two noisy ones give no more than epsilon allows."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet.auditing.attacks.differencing import SALARIES, difference, salary_of_one
from discreet.errors import InvalidInput, InvalidParameter, NotPrivateWarning
from discreet.testing import seeded


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("differencing"):
        return difference(generator=np.random.default_rng(1), trials=20_000)


def test_the_classic_example():
    assert salary_of_one(101, 50_500, 50_000) == 100_500
    assert salary_of_one(3, Fraction(10, 3), Fraction(3, 2)) == 7


def test_the_salary_is_found_exactly(found):
    assert (found.before, found.after, found.found) == (50_500, 50_000, 100_500) == (50_500, 50_000, found.truth)
    assert difference([1, 2.5, 3.25], bounds=(0, 10), trials=10).found == 3.25


def test_noise_keeps_guesses_within_the_bound(found):
    spread = 4 / math.sqrt(found.trials)
    for right, bound, blind in zip(found.right, found.bound, found.blind, strict=True):
        assert blind - spread <= right <= bound + spread
    assert found.typical_error > 400_000


def test_the_bound_is_what_epsilon_makes_of_a_prior(found):
    """A tenth of the range on both sides is a fifth of it; odds of 1 to 4 become e to 4."""
    assert found.bound[found.close.index(0.1)] == pytest.approx(math.e / (math.e + 4))


def test_the_guess_is_good_where_epsilon_is_huge():
    """The check above can fail: noise that hides nothing is caught by the same numbers."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("huge"):
        loud = difference(epsilon=500, trials=2000, generator=np.random.default_rng(1))
    assert loud.right[loud.close.index(0.05)] > 0.9


def test_the_error_of_a_guess_does_not_depend_on_the_people(found):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("many"):
        many = difference(10 * SALARIES, trials=20_000, generator=np.random.default_rng(1))
    assert many.typical_error == pytest.approx(found.typical_error, rel=0.05)
    assert many.average_error < found.average_error / 9


def test_what_is_said(found):
    assert "100,500.00" in str(found)
    assert found.plot().to_dict()


def test_refusals():
    with pytest.raises(InvalidParameter):
        salary_of_one(1, 5, 5)
    with pytest.raises(InvalidInput):
        difference([1, 2, 300_000])
    with pytest.raises(InvalidParameter):
        difference(bounds=(5, 5))
