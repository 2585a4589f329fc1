"""Quantiles of weighted histograms: all small histograms, all units, both relations, from the score's definition."""

import math
from fractions import Fraction
from itertools import product as every

import numpy as np
import pytest
from claims_reference import kept, largest_loss, softmax
from scipy import stats

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import GridQuantile, gaps

ALARM = 1e-9
POINTS = range(4)
PROBABILITIES = [Fraction(1, 2), 0.25, Fraction(9, 10), 0, 1]


def score(weights, y, probability, shift):
    """From the definition: how far the wanted rank is from those of a point, of which the ends have all beyond them."""
    aim = Fraction(probability) * sum(weights) + shift
    below = sum(weights[:y]) if y > POINTS[0] else -math.inf
    upto = sum(weights[: y + 1]) if y < POINTS[-1] else math.inf
    return -max(Fraction(0), below - aim, aim - upto)


def law(weights, rate, probability, shift=0):
    return softmax([float(score(weights, y, probability, shift)) for y in POINTS], float(rate))


def spreads(unit):
    """Return all ways to lay a weight of at most ``unit`` on the points."""
    return [spread for spread in every(range(unit + 1), repeat=len(POINTS)) if sum(spread) <= unit]


def neighbours(relation, unit):
    """Yield all pairs of histograms with a unit more, or another unit, on top of small ones."""
    for rest in every(range(3), repeat=len(POINTS)):
        with_unit = [tuple(a + b for a, b in zip(rest, spread, strict=True)) for spread in spreads(unit)]
        if relation == "add_remove":
            yield from ((rest, other) for other in with_unit)
        else:
            yield from every(with_unit, repeat=2)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize(("unit", "shift"), [(1, 0), (2, -1), (1, 2)])
def test_the_score_moves_as_far_as_is_said(relation, probability, unit, shift):
    mechanism = GridQuantile(
        bounds=(0, 3), epsilon=1, relation=relation, probability=probability, unit=unit, shift=shift
    )
    pairs = set(neighbours(relation, unit))
    known = {}

    def at(weights):
        if weights not in known:
            known[weights] = [score(weights, y, probability, shift) for y in POINTS]
        return known[weights]

    moved = max(abs(x - y) for a, b in pairs for x, y in zip(at(a), at(b), strict=True))
    assert moved == mechanism.sensitivity
    assert mechanism.rate == Fraction(1) / (2 * moved)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("shift", [0, 1])
def test_every_small_neighbour_keeps_the_claim(relation, probability, shift):
    mechanism = GridQuantile(bounds=(0, 3), epsilon=2, relation=relation, probability=probability, shift=shift)
    assert mechanism.loss == PrivacyLoss.bounded_range(2).under(relation)
    assert all_kept(mechanism.loss, mechanism.rate, probability, shift, relation)


def all_kept(loss, rate, probability, shift, relation):
    known = {}

    def of(weights):
        if weights not in known:
            known[weights] = law(weights, rate, probability, shift)
        return known[weights]

    return all(kept(loss, of(a), of(b), (0, 1, 2)) for a, b in set(neighbours(relation, 1)))


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_check_catches_the_missing_two(relation):
    rate = GridQuantile(bounds=(0, 3), epsilon=2, relation=relation).rate
    assert not all_kept(PrivacyLoss.pure(2), 2 * rate, Fraction(1, 2), 0, relation)


def test_the_check_catches_the_wrong_relation():
    rate = GridQuantile(bounds=(0, 3), epsilon=2, relation="add_remove").rate
    assert not all_kept(PrivacyLoss.pure(2), rate, Fraction(1, 2), 0, "replace_one")


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_claim_is_attained_in_the_limit(relation):
    """The loss of the last point falls as that of a long gap rises; a hundredth more of the rate breaks the claim."""
    high = 10**9
    before = [0, high - 1, high], [1, 2, 1]
    after = [high - 1, high], [2, 2] if relation == "replace_one" else [2, 1]

    def loss(epsilon):
        mechanism = GridQuantile(bounds=(0, high), epsilon=epsilon, relation=relation)
        return largest_loss(mechanism.log_probability(before, high), mechanism.log_probability(after, high))

    assert 2 - 1e-7 < loss(2) <= 2 + 1e-12
    assert loss(2 / 0.99) > 2.01


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("weights", [(0, 0, 0, 0), (1, 0, 2, 0), (3, 3, 0, 1), (0, 0, 0, 5)])
def test_log_probabilities_are_the_definition(weights, probability):
    mechanism = GridQuantile(bounds=(0, 3), epsilon=1.5, relation="replace_one", probability=probability, shift=1)
    found = [mechanism.log_probability((list(POINTS), list(weights)), y) for y in POINTS]
    assert np.allclose(found, law(weights, mechanism.rate, probability, 1), rtol=0, atol=1e-12)


def fit(outputs, log_law):
    expected = np.exp(log_law) * len(outputs)
    counted = np.bincount(outputs, minlength=expected.size)
    common = expected >= 10
    if not common.all():
        counted = np.append(counted[common], counted[~common].sum())
        expected = np.append(expected[common], expected[~common].sum())
    return float(stats.chisquare(counted, expected * counted.sum() / expected.sum()).pvalue)


CASES = [
    ([], [], Fraction(1, 2), 0),
    ([2, 5, 9], [3, 1, 2], Fraction(1, 2), 0),
    ([0, 1, 11], [4, 0, 4], 0.25, 1),
    ([11], [7], 0.9, -2),
]


@pytest.mark.parametrize(("cells", "weights", "probability", "shift"), CASES)
@pytest.mark.parametrize("run", [1, 256])
def test_what_is_drawn_has_the_law(cells, weights, probability, shift, run, repeatable, monkeypatch):
    """In one race, and in two rounds of runs of a single gap each."""
    monkeypatch.setattr(gaps, "RUN", run)
    mechanism = GridQuantile(
        bounds=(0, 11), epsilon=1, relation="add_remove", probability=probability, shift=shift, unit=2
    )
    drawn = [mechanism.release(cells, weights) for _ in range(6000)]
    assert fit(drawn, [mechanism.log_probability((cells, weights), y) for y in range(12)]) > ALARM


def test_many_gaps_in_two_rounds_have_the_law(repeatable):
    """A thousand gaps of unequal weight: which quarter of the grid is drawn, against the exact law."""
    mechanism = GridQuantile(bounds=(0, 2999), epsilon=0.02, relation="add_remove", probability=0.3)
    cells, weights = np.arange(0, 3000, 3), np.tile([1, 0, 2, 1], 250)
    below = np.concatenate([[0], np.cumsum(weights)])[np.searchsorted(cells, np.arange(3000), side="left")]
    exact = softmax(-np.abs(below - 0.3 * weights.sum()), float(mechanism.rate))
    parts = np.log(np.exp(exact).reshape(60, 50).sum(axis=1))
    drawn = np.array([mechanism.release(cells, weights) for _ in range(20_000)])
    assert fit(drawn // 50, parts) > ALARM
    sharper = softmax(-np.abs(below - 0.3 * weights.sum()), 2 * float(mechanism.rate))
    assert fit(drawn // 50, np.log(np.exp(sharper).reshape(60, 50).sum(axis=1))) < ALARM


def test_the_error_holds():
    """How far the weight below the release is from the aim, which the point in the middle hits exactly."""
    mechanism = GridQuantile(bounds=(0, 999), epsilon=1, relation="add_remove")
    off = np.abs(3 * np.arange(1000) - 1500)
    law = np.exp(softmax(-off, float(mechanism.rate)))
    limit = mechanism.error(0.05)
    assert law[off > limit].sum() <= 0.05
    assert math.isclose(limit, math.log(1000 / 0.05), rel_tol=1e-12)
