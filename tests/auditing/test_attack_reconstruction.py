"""Accurate answers about random subsets give every bit; noise near the root of n does not."""

import warnings

import numpy as np
import pytest

from discreet.auditing.attacks.reconstruction import (
    METHODS,
    exhaustive,
    linear_program,
    reconstruct,
    subset_queries,
)
from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.testing import seeded


def table(people, queries, error, seed=1):
    chance = np.random.default_rng(seed)
    secret, asked = chance.integers(0, 2, people), subset_queries(people, queries, chance)
    return secret, asked, asked @ secret + chance.uniform(-error, error, queries)


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("reconstruction"):
        return reconstruct(64, repetitions=1, generator=np.random.default_rng(2))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_reads_accurate_answers(method):
    secret, asked, answers = table(12, 48, 0.4)
    assert (METHODS[method](asked, answers) == secret).all()


def test_all_candidates_that_agree_are_near_the_truth():
    """Dinur and Nissim's lemma, by trial: whatever agrees with all answers to within E is nearly right."""
    secret, asked, answers = table(12, 200, 1.0)
    best = exhaustive(asked, answers)
    assert np.abs(asked @ best - answers).max() <= np.abs(asked @ secret - answers).max()
    assert (best == secret).mean() >= 11 / 12


def test_a_large_table_falls_to_the_linear_program():
    secret, asked, answers = table(128, 512, 0.25 * np.sqrt(128))
    assert (linear_program(asked, answers) == secret).mean() > 0.98


def test_the_transition_lies_near_the_root(found):
    shares = dict(zip(np.round(np.array(found.noises) / 8, 3), found.recovered["linear program"], strict=True))
    assert shares[0.25] == 1
    assert shares[0.5] > 0.9
    assert shares[16.0] < 0.75
    assert sorted(shares.values(), reverse=True)[0] - shares[16.0] > 0.25


def test_one_total_epsilon_leaves_a_coin(found):
    here = found.epsilons.index(1.0)
    assert found.bound[here] == pytest.approx(0.697, abs=1e-3)
    assert abs(found.protected - 0.5) < 4 * 0.5 / np.sqrt(64)
    assert found.recovered_protected[-1] == 1.0  # the check can fail: epsilon 1000 hides nothing


def test_what_is_said(found):
    assert "linear program" in str(found)
    assert found.plot().to_dict()


def test_refusals():
    with pytest.raises(InvalidParameter):
        exhaustive(np.ones((3, 40), dtype=int), np.ones(3))
    with pytest.raises(InvalidParameter):
        reconstruct(10, methods=("magic",))
    with pytest.raises(InvalidParameter):
        reconstruct(1)
