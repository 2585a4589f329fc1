"""The quantile among candidates: its scores move as said, its law is exact, and its errors hold."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.mechanisms import CandidateQuantile, PermuteAndFlip
from discreet.testing import check_mechanism

VALUES = (0, 1, 2.5, 4)
SHARES = (Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10))


def neighbours(relation, most=4):
    for n in range(most):
        for rest in itertools.combinations_with_replacement(VALUES, n):
            if relation == "add_remove":
                yield from ((rest, (*rest, value)) for value in VALUES)
            else:
                yield from (((*rest, a), (*rest, b)) for a in VALUES for b in VALUES)


def largest_move(relation, share):
    mechanism = CandidateQuantile(candidates=(0, 1, 2, 3, 4), epsilon=1, relation=relation, probability=share)
    moves = (
        abs(Fraction(a) - Fraction(b))
        for one, other in neighbours(relation)
        for a, b in zip(
            map(Fraction, np.asarray(mechanism._scores(one), dtype=object).tolist()),
            map(Fraction, np.asarray(mechanism._scores(other), dtype=object).tolist()),
            strict=True,
        )
    )
    return max(moves), mechanism.choice.sensitivity


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_a_score_moves_as_far_as_is_said_and_no_further(relation, share):
    seen, said = largest_move(relation, share)
    assert seen == said


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_contract_is_kept(relation):
    mechanism = CandidateQuantile(candidates=(0, 1, 2, 3), epsilon=1, relation=relation)
    assert "claim" in check_mechanism(mechanism, outputs=[0.0, 1.0, 2.0, 3.0]).passed


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_claim_holds_for_all_neighbours_and_would_not_with_a_tenth_less(relation):
    mechanism = CandidateQuantile(candidates=(0, 2, 4), epsilon=1, relation=relation)
    worst = max(
        abs(mechanism.log_probability(one, y) - mechanism.log_probability(other, y))
        for one, other in neighbours(relation)
        for y in mechanism.candidates
    )
    assert 0.9 < worst <= 1 + 1e-9


def test_the_quantile_itself_scores_best():
    rng = np.random.default_rng(7)
    for share in SHARES:
        for n in (1, 2, 3, 10, 101):
            data = rng.integers(0, 50, n)
            mechanism = CandidateQuantile(candidates=range(50), epsilon=1, relation="replace_one", probability=share)
            wanted = np.sort(data)[max(math.ceil(share * n), 1) - 1]
            scores = np.asarray(mechanism._scores(data))
            assert np.flatnonzero(scores == 0).tolist() == [wanted]


@pytest.mark.parametrize("records", [[], [None], [math.nan, math.inf, -math.inf], ["x", 3], [10**400, True]])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_no_records_are_refused(records, relation):
    mechanism = CandidateQuantile(candidates=(0, 1), epsilon=1, relation=relation)
    assert mechanism.release(records) in (0.0, 1.0)


def test_bad_parameters():
    with pytest.raises(InvalidParameter, match="at least two"):
        CandidateQuantile(candidates=(1, 1), epsilon=1, relation="replace_one")
    with pytest.raises(InvalidParameter, match="candidate"):
        CandidateQuantile(candidates=(1, math.nan), epsilon=1, relation="replace_one")
    with pytest.raises(RelationMismatch):
        CandidateQuantile(candidates=(1, 2), epsilon=1, relation="other")


def test_it_is_permute_and_flip_of_the_scores():
    mechanism = CandidateQuantile(candidates=(0, 1, 2), epsilon=1, relation="replace_one")
    logs = [mechanism.log_probability([0, 1, 1, 2], y) for y in (0.0, 1.0, 2.0)]
    assert logs == [PermuteAndFlip(epsilon=1).log_probability([-1, 0, -2], i) for i in range(3)]
    assert mechanism.log_probability([0], 0.5) == -math.inf
