"""Shuffled reports: above the truth for small crowds, equal to the reduction summed exactly, below the closed form."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.accounting.terms.shuffled import Shuffled
from discreet.accounting.theorems import shuffling
from discreet.errors import InvalidParameter


def shuffled_bits(data, epsilon):
    """The law of the number of ones among randomised responses: all that shuffled bits tell."""
    yes = 1 / (1 + math.exp(-epsilon))
    law = np.ones(1)
    for bit in data:
        chance = yes if bit else 1 - yes
        law = np.convolve(law, [1 - chance, chance])
    return law


@pytest.mark.parametrize("users", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_shuffled_randomised_response_is_covered(users, epsilon):
    loss = PrivacyLoss.shuffled(epsilon, users)
    for rest in product((0, 1), repeat=users - 1):
        p, q = (shuffled_bits((bit, *rest), epsilon) for bit in (0, 1))
        for at in (0, 0.1, 0.3, 0.8):
            true = max(np.maximum(a - math.exp(at * epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))
            assert true <= loss.delta(at * epsilon) + 1e-12


LOG_FACTORIALS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 5000)))])


def binomial(n, rate):
    k = np.arange(n + 1)
    ways = LOG_FACTORIALS[n] - LOG_FACTORIALS[k] - LOG_FACTORIALS[n - k]
    return np.exp(ways + k * math.log(rate) + (n - k) * math.log1p(-rate))


def clones(users, epsilon, at, chance=None):
    """The reduction itself, outcome by outcome."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    seen = binomial(users - 1, math.exp(-epsilon) if chance is None else chance)
    total = []
    for c in range(users):
        half = np.concatenate([[0.0], binomial(c, 0.5), [0.0]])
        first, second = p * half[:-1] + (1 - p) * half[1:], (1 - p) * half[:-1] + p * half[1:]
        total.append(seen[c] * np.maximum(first - math.exp(at) * second, 0).sum())
    return math.fsum(total)


@pytest.mark.parametrize(("users", "epsilon"), [(1, 1), (5, 1), (60, 2), (400, 0.5), (300, 4)])
def test_the_reduction_is_summed_exactly(users, epsilon):
    loss = PrivacyLoss.shuffled(epsilon, users)
    for at in (0, 0.05, 0.2, 0.7):
        true = clones(users, epsilon, at * epsilon)
        assert loss.delta(at * epsilon) == pytest.approx(true, rel=1e-4, abs=1e-25)
        assert loss.delta(at * epsilon) >= true * (1 - 1e-9)
    assert (
        loss.delta(0.1 * epsilon) < clones(users, epsilon, 0.1 * epsilon, chance=0.5 * math.exp(-epsilon)) or users == 1
    )


def test_large_crowds_are_quick_and_below_the_closed_form(instructions):
    assert instructions(lambda: PrivacyLoss.shuffled(1, 10**6).epsilon(1e-6)) < 10**6
    loss = PrivacyLoss.shuffled(1, 10**6)
    epsilon = loss.epsilon(1e-6)
    assert epsilon < 0.3 * shuffling(1, 1e-6, reports=10**6, relation="replace_one").epsilon
    assert epsilon == pytest.approx(4.3346e-3, rel=1e-4)
    for local, users in ((0.5, 10**5), (2, 10**6), (4, 10**7)):
        closed = shuffling(local, 1e-6, reports=users, relation="replace_one").epsilon
        assert PrivacyLoss.shuffled(local, users).epsilon(1e-6) < closed


@pytest.mark.parametrize(("users", "epsilon"), [(3, 1), (2000, 1), (10**5, 3)])
def test_both_laws_are_laws(users, epsilon):
    atoms = Shuffled(Fraction(epsilon), users).pair()
    assert 1 <= atoms.p.sum() < 1 + 1e-9
    assert 1 - 1e-12 <= atoms.q.sum() < 1 + 1e-9
    assert np.all(np.diff(atoms.losses) >= 0)
    assert np.all(np.abs(atoms.losses) <= epsilon)


def test_gathering_and_blocks_cost_little():
    """Where clones are so many that they are rounded: beside the sum over all of them."""
    users, epsilon = 2500, 1.0
    loss = PrivacyLoss.shuffled(epsilon, users)
    for at in (0.01, 0.05, 0.1):
        true = clones(users, epsilon, at)
        assert true * (1 - 1e-9) <= loss.delta(at) <= true * 1.02


def test_composition_and_moments():
    loss = PrivacyLoss.shuffled(1, 1000)
    atoms = loss.terms[0][0].pair()
    for alpha in (1.5, 2, 8):
        moment = float(np.dot(atoms.p, np.exp((alpha - 1) * atoms.losses)))
        assert loss.renyi(alpha) == pytest.approx(math.log(moment) / (alpha - 1), rel=1e-6)
        assert loss.renyi(alpha) < PrivacyLoss.pure(1).renyi(alpha) / 20
    five = (5 * loss).epsilon(1e-6)
    assert loss.epsilon(1e-6) * 2 < five < 5 * loss.epsilon(1e-6)
    assert loss.bounds(1e-6)[0] == 0
    assert loss.epsilon() == 1


def test_more_people_hide_better_and_clearer_reports_worse():
    deltas = [PrivacyLoss.shuffled(1, users).delta(0.2) for users in (1, 2, 5, 20, 100, 1000)]
    assert deltas == sorted(deltas, reverse=True)
    assert PrivacyLoss.shuffled(0.5, 50).delta(0.2) < PrivacyLoss.shuffled(1, 50).delta(0.2)


def test_records():
    loss = PrivacyLoss.shuffled(Fraction(1, 3), 10)
    assert loss.relation == "replace_one"
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert eval(repr(loss), {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}) == loss
    assert loss.group(2).epsilon() == pytest.approx(2 / 3)
    assert PrivacyLoss.shuffled(0, 10).terms == ()
    for users in (0, -1, 1.5):
        with pytest.raises(InvalidParameter):
            PrivacyLoss.shuffled(1, users)
