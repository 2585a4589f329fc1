"""Choosing among candidates: no two neighbouring score vectors give laws further apart than claimed."""

import math
from fractions import Fraction
from itertools import product as every

import numpy as np
import pytest
from claims_reference import kept, largest_loss, noisy_max, permute_and_flip, softmax, steps, worse

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem
from discreet.mechanisms import BoundedCount, Exponential, NoisyMax, PermuteAndFlip, repeat
from discreet.sensitivity import Counts, Histogram

GRID = list(every(range(3), repeat=3))
BOTH_WAYS, ONE_WAY = (-1, 0, 1), (0, 1)

LAWS = {
    "exponential": (Exponential, {}, softmax),
    "permute and flip": (PermuteAndFlip, {}, permute_and_flip),
    "noisy max, laplace": (NoisyMax, {"noise": "laplace"}, lambda scores, rate: noisy_max("laplace", scores, rate)),
    "noisy max, exponential": (
        NoisyMax,
        {"noise": "exponential"},
        lambda scores, rate: noisy_max("exponential", scores, rate),
    ),
    "noisy max, gumbel": (NoisyMax, {"noise": "gumbel"}, lambda scores, rate: noisy_max("gumbel", scores, rate)),
}

RANGED = {"exponential", "noisy max, gumbel"}


def neighbours(moves, sensitivity=1):
    """Yield all pairs of small score vectors, one of which moves entry by entry."""
    for scores in GRID:
        for move in every(moves, repeat=3):
            yield scores, tuple(s + sensitivity * m for s, m in zip(scores, move, strict=True))


def all_kept(law, rate, loss, moves, epsilon, sensitivity=1):
    known = {}

    def of(scores):
        return known.setdefault(tuple(s - max(scores) for s in scores), law(scores, rate))

    return all(kept(loss, of(a), of(b), (0, epsilon / 2, epsilon)) for a, b in neighbours(moves, sensitivity))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", [0.5, 2])
@pytest.mark.parametrize("monotone", [False, True])
def test_every_small_neighbour_keeps_the_claim(name, epsilon, monotone):
    make, options, law = LAWS[name]
    mechanism = make(epsilon=epsilon, monotone=monotone, **options)
    ranged = name in RANGED
    assert mechanism.loss == (PrivacyLoss.bounded_range if ranged else PrivacyLoss.pure)(epsilon)
    rate = epsilon if monotone else epsilon / 2
    assert mechanism.rate == rate
    assert all_kept(law, rate, mechanism.loss, ONE_WAY if monotone else BOTH_WAYS, epsilon)


@pytest.mark.parametrize("name", LAWS)
def test_sensitivity_is_divided_out(name):
    make, options, law = LAWS[name]
    mechanism = make(epsilon=1, sensitivity=Fraction(1, 2), **options)
    assert mechanism.rate == 1
    assert all_kept(law, 1, mechanism.loss, BOTH_WAYS, 1, sensitivity=0.5)
    assert not all_kept(law, 1, mechanism.loss, BOTH_WAYS, 1, sensitivity=1)


@pytest.mark.parametrize("name", LAWS)
def test_the_check_catches_the_missing_two(name):
    _, _, law = LAWS[name]
    assert not all_kept(law, 1, PrivacyLoss.pure(1), BOTH_WAYS, 1)


def laplace_upset(scores, rate):
    """The law of two candidates under Laplace noise, the second being ahead by d: ``e^(-d) (2 + d) / 4`` for the first.

    >>> float(np.exp(laplace_upset((0, 0), 1)).sum())
    1.0
    """
    lead = rate * (scores[1] - scores[0])
    upset = math.log((2 + lead) / 4) - lead
    return np.array([upset, math.log1p(-math.exp(upset))])


@pytest.mark.parametrize(
    ("law", "gap", "close"),
    [
        (permute_and_flip, 60, 1e-9),
        (lambda scores, rate: noisy_max("exponential", scores, rate), 30, 1e-5),
        (laplace_upset, 1000, 3e-3),
    ],
)
def test_the_check_catches_noise_a_hundredth_too_small(law, gap, close):
    """Epsilon is attained by a candidate far behind another, moving towards it."""

    def loss(rate):
        return largest_loss(law((0, gap), rate), law((1, gap - 1), rate))

    assert 1 - close < loss(0.5) <= 1 + 1e-9
    assert loss(0.5 / 0.99) > 1.005


def test_the_closed_form_of_two_laplace_candidates():
    for lead in (0, 0.5, 3):
        assert np.allclose(laplace_upset((0, lead), 1), noisy_max("laplace", (0, lead), 1), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("monotone", "down"), [(False, -1), (True, 0)])
def test_many_candidates_attain_epsilon_in_the_limit(monotone, down):
    mechanism = Exponential(epsilon=1, monotone=monotone)
    for many, close in ((10**2, 2e-2), (10**4, 2e-4), (10**6, 2e-6)):
        before, after = np.zeros(many), np.full(many, down)
        after[0] = 1
        found = largest_loss(softmax(before, float(mechanism.rate)), softmax(after, float(mechanism.rate)))
        assert 1 - close < found <= 1 + 1e-12


def test_the_check_catches_an_exponential_mechanism_a_hundredth_too_sharp():
    before, after = np.zeros(10**4), np.full(10**4, -1)
    after[0] = 1
    assert largest_loss(softmax(before, 0.5 / 0.99), softmax(after, 0.5 / 0.99)) > 1.005


@pytest.mark.parametrize("query", [Histogram(bins=("a", "b")), Counts(wheres=(bool, bool))])
@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip, NoisyMax])
def test_monotone_scores_are_refused_where_a_record_is_replaced(make, query):
    """A record that changes its bin moves two counts in opposite directions, which costs twice what is claimed."""
    mechanism = make(epsilon=1, monotone=True)
    assert mechanism.of(query, relation="add_remove").loss.epsilon() == 1
    for wrong in (mechanism, repeat(mechanism, 2)):
        with pytest.raises(NoTheorem, match="monotone"):
            wrong.of(query, relation="replace_one")
    assert make(epsilon=1).of(query, relation="replace_one").loss.epsilon() == 1
    assert worse(softmax((0, 9), 1), softmax((1, 8), 1), 1) > 1e-4


@pytest.mark.parametrize("monotone", ["no", 1, None])
def test_monotone_is_said_in_so_many_words(monotone):
    with pytest.raises(InvalidParameter):
        Exponential(epsilon=1, monotone=monotone)


def test_three_ways_to_the_same_laws():
    for scores in GRID:
        flip, race = permute_and_flip(scores, 0.7), noisy_max("exponential", scores, 0.7)
        assert np.allclose(flip, race, rtol=0, atol=1e-10)
        assert np.allclose(softmax(scores, 0.7), noisy_max("gumbel", scores, 0.7), rtol=0, atol=1e-10)
        assert math.isclose(np.exp(noisy_max("laplace", scores, 0.7)).sum(), 1, rel_tol=1e-10)


def test_permute_and_flip_is_never_worse():
    for scores in GRID:
        flip, soft = (np.exp(law(scores, 0.5)) @ np.array(scores) for law in (permute_and_flip, softmax))
        assert flip >= soft - 1e-12


def test_permute_and_flip_has_no_bounded_range():
    """An eighth of epsilon squared is the zCDP of the exponential mechanism; here it would be a false claim."""
    p, q = permute_and_flip((0, -0.8), 0.5), permute_and_flip((-1, 0.2), 0.5)
    divergence = float(np.exp(p) @ (p - q))
    assert divergence > 0.329 > 1 / 8
    assert divergence <= PermuteAndFlip(epsilon=1).loss.rho


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.3, 2])
def test_bounded_counts_keep_their_claim(size, epsilon):
    def law(count, rate):
        return softmax([-abs(a - count) for a in range(size + 1)], rate)

    loss = BoundedCount(size=size, epsilon=epsilon).loss
    for count in range(size):
        assert kept(loss, law(count, epsilon / 2), law(count + 1, epsilon / 2), steps(epsilon))
    if size == 5:
        assert any(not kept(loss, law(c, epsilon), law(c + 1, epsilon), steps(epsilon)) for c in range(size))
