"""Parallel composition under both relations."""

import math
from fractions import Fraction

import numpy as np
import pytest
from accounting_reference import divergence

from discreet.accounting import PrivacyLoss, parallel
from discreet.errors import NoTheorem, RelationMismatch

SAME = [
    PrivacyLoss.pure(1),
    PrivacyLoss.laplace(1),
    PrivacyLoss.gaussian(1),
    PrivacyLoss.zcdp(0.5),
    PrivacyLoss.approximate(1, 1e-3),
    PrivacyLoss.discrete_laplace(sensitivity=1, scale=2),
    PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=4),
    PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=4, scalar=True),
    PrivacyLoss.laplace(1) + PrivacyLoss.gaussian(0.5),
]


@pytest.mark.parametrize("loss", SAME)
def test_equal_parts_cost_what_one_does_when_a_record_comes(loss):
    assert parallel([loss] * 5, relation="add_remove") == loss.under("add_remove")


@pytest.mark.parametrize("loss", SAME)
def test_a_record_that_moves_costs_at_least_two_parts(loss):
    moved = parallel([loss] * 5, relation="replace_one")
    assert moved.relation == "replace_one"
    for alpha in (1.1, 2, 16):
        assert moved.renyi(alpha) >= (2 * loss).renyi(alpha) * (1 - 1e-12)


@pytest.mark.parametrize("sigma", [0.4, 1, 2])
def test_a_whole_number_that_moves_is_covered_by_a_shift_of_two(sigma):
    """Two parts shift by one each; the claim is about one number that shifts by two."""
    part = PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=Fraction(sigma) ** 2, scalar=True)
    moved = parallel([part, part], relation="replace_one")
    z = np.arange(-40, 41)
    laws = [np.exp(-((z - shift) ** 2) / (2 * sigma**2)) for shift in (0, 1)]
    p, q = (np.outer(law, law).ravel() / law.sum() ** 2 for law in laws)
    for epsilon in np.arange(0, 8, 0.25):
        assert divergence(p, q, epsilon) <= moved.delta(epsilon) * (1 + 1e-12) + 1e-15


def test_a_change_inside_a_part_can_cost_more_than_a_move():
    """A sum of values -1 and 1 plus Laplace noise of scale 1: a replacement there shifts by 2. It is not 1 + 0.1."""
    loss = parallel([PrivacyLoss.laplace(1), PrivacyLoss.laplace(0.1)], relation="replace_one")
    assert loss.epsilon() == 2
    assert loss.delta(1.1) >= PrivacyLoss.laplace(2).delta(1.1) > 0.3


def test_the_worst_part_counts():
    parts = [PrivacyLoss.laplace(1), PrivacyLoss.pure(3), PrivacyLoss.randomized_response(2)]
    assert parallel(parts, relation="add_remove").epsilon() == 3
    assert parallel(parts, relation="replace_one").epsilon() == 6


def test_no_parts_cost_nothing():
    assert parallel([], relation="add_remove").epsilon() == 0


def test_what_is_not_covered_is_refused():
    with pytest.raises(RelationMismatch):
        parallel([PrivacyLoss.laplace(1).under("replace_one")], relation="replace_one")
    with pytest.raises(NoTheorem):
        parallel([PrivacyLoss.gaussian(1), PrivacyLoss.gaussian(2)], relation="add_remove")
    with pytest.raises(RelationMismatch):
        parallel([PrivacyLoss.laplace(1)], relation="both")


def test_neutral_and_stated_parts_are_the_same():
    parts = [PrivacyLoss.gaussian(1), PrivacyLoss.gaussian(1).under("add_remove")]
    assert math.isclose(parallel(parts, relation="add_remove").rho, 0.5)


ONE, OTHER = (
    [Fraction(44, 1000), Fraction(238, 1000), Fraction(718, 1000)],
    [Fraction(718, 1000), Fraction(1, 1000), Fraction(281, 1000)],
)


def test_two_parts_may_tell_a_record_in_opposite_directions():
    """P x Q against Q x P costs more than P x P against Q x Q, which is what two pairs in one order are composed to."""
    x = math.exp(2)
    apart = sum(
        max(a * d - x * c * b, 0) for a, c in zip(ONE, OTHER, strict=True) for b, d in zip(ONE, OTHER, strict=True)
    )
    unlike = PrivacyLoss.from_pair(ONE, OTHER)
    assert (2 * unlike).delta(2) < 0.9 * apart
    with pytest.raises(NoTheorem, match="opposite directions"):
        parallel([unlike, unlike], relation="add_remove")


def test_pairs_that_mirror_each_other_and_single_parts_are_covered():
    alike, unlike = PrivacyLoss.from_pair([0.75, 0.25], [0.25, 0.75]), PrivacyLoss.from_pair(ONE, OTHER)
    assert parallel([alike, alike], relation="add_remove").delta(0.5) == alike.delta(0.5)
    assert parallel([unlike], relation="add_remove").delta(0.5) == unlike.delta(0.5)
    pure = unlike.epsilon(0)
    assert parallel([unlike, unlike], relation="replace_one").epsilon(0) == pytest.approx(2 * pure)
