"""One run with canaries: what it leaves alone, what it finds, and how often it is wrong."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from discreet import PrivacyLoss
from discreet.auditing import audit_training
from discreet.errors import InvalidInput, InvalidParameter


def responses(epsilon, generator):
    """Answer about each canary truthfully with the chance that epsilon-DP allows, and score by the answer."""

    def train(included):
        lies = generator.random(included.size) < 1 / (1 + math.exp(epsilon))
        return (included ^ lies) + generator.random(included.size) / 2

    return train


@pytest.mark.usefixtures("repeatable")
def test_a_true_claim_is_refuted_as_rarely_as_promised():
    """300 audits of randomised response at alpha 0.2: no more alarms than a binomial law allows, at 1e-9."""
    generator = np.random.default_rng(1)
    alarms = exceeded = 0
    for _ in range(300):
        found = audit_training(responses(1, generator), 60, claims=PrivacyLoss.pure(1), alpha=0.2)
        alarms += found.refuted
        exceeded += found.epsilon > 1
    limit = binom.ppf(1 - 1e-9, 300, 0.2)
    assert alarms <= limit
    assert exceeded <= limit


@pytest.mark.usefixtures("repeatable")
def test_a_true_claim_stands_and_the_bound_is_close():
    found = audit_training(responses(1, np.random.default_rng(2)), 20_000, claims=PrivacyLoss.pure(1), alpha=1e-9)
    assert not found.refuted
    assert 0.8 < found.epsilon < 1
    assert found.claimed == 1
    assert "not refuted, lower bound 0." in str(found)


@pytest.mark.usefixtures("repeatable")
@pytest.mark.parametrize("claims", [PrivacyLoss.pure(1), PrivacyLoss.approximate(1, 1e-13)], ids=["pure", "delta"])
def test_half_more_than_claimed_is_found(claims):
    found = audit_training(responses(1.5, np.random.default_rng(3)), 5000, claims=claims, alpha=1e-9)
    assert found.refuted
    assert 1 < found.epsilon < 1.5
    assert "REFUTED, it is at least 1." in str(found)
    assert found.evidence.refutes


@pytest.mark.usefixtures("repeatable")
def test_a_claim_is_read_along_its_whole_curve():
    """Epsilon at the delta that is told is not exceeded; epsilon at a smaller delta is."""
    claims = PrivacyLoss.pure(2) + PrivacyLoss.approximate(0, 1e-12)
    for steps in (1, 3):
        found = audit_training(
            responses(2 * steps, np.random.default_rng(4)), 4000, claims=claims, delta=1e-9, alpha=1e-9
        )
        assert found.refuted is (steps == 3)


@pytest.mark.usefixtures("repeatable")
def test_a_large_delta_is_never_refuted():
    found = audit_training(lambda included: included.astype(float), 1000, claims=PrivacyLoss.approximate(0, 0.01))
    assert not found.refuted
    assert audit_training(lambda included: included.astype(float), 1000, claims=PrivacyLoss.pure(2)).refuted


@pytest.mark.usefixtures("repeatable")
def test_guesses_are_the_ends_and_no_others():
    seen = []

    def train(included):
        seen.append(included.copy())
        order = np.where(included, 3.0, 1.0)
        order[:50] = 2.0  # about these it says nothing
        return order

    found = audit_training(train, 100, claims=PrivacyLoss.pure(1), guesses=[20, 100])
    few, many = found.tries
    assert few.correct == 20
    assert many.correct < 100
    assert 30 < seen[0].sum() < 70
    assert (few.count, many.count) == (20, 100)


def test_the_picture_shows_what_would_refute():
    found = audit_training(lambda included: included.astype(float), 500, claims=PrivacyLoss.pure(1))
    assert "would refute" in str(found.plot().to_dict())
    weak = audit_training(lambda included: included.astype(float), 500, claims=PrivacyLoss.approximate(0, 0.9))
    assert "would refute" not in str(weak.plot().to_dict())


def test_what_cannot_be_is_said():
    claims, fine = PrivacyLoss.pure(1), lambda included: included.astype(float)
    for options in ({"canaries": 5}, {"canaries": 50, "guesses": [60]}, {"canaries": 50, "guesses": []}):
        with pytest.raises(InvalidParameter):
            audit_training(fine, claims=claims, **options)
    with pytest.raises(InvalidParameter, match="rules nothing out"):
        audit_training(fine, 50, claims=PrivacyLoss.approximate(0, 1))
    with pytest.raises(InvalidParameter, match="claims="):
        audit_training(fine, 50, claims=1)
    for wrong in (lambda included: [1.0], lambda included: np.full(50, np.nan)):
        with pytest.raises(InvalidInput, match="one score"):
            audit_training(wrong, 50, claims=claims)
