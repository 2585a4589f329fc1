"""Quantiles by smooth sensitivity and by propose-test-release: all small histograms, all units, both relations."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise
from itertools import product as every

import numpy as np
import pytest
from claims_reference import kept, largest_loss, steps, worse
from scipy import stats

from discreet.accounting import Budget
from discreet.mechanisms.smooth_interval import SmoothInterval
from discreet.mechanisms.smooth_quantile import SmoothQuantile
from discreet.mechanisms.tested_quantile import TestedQuantile
from discreet.session import Session
from discreet.session.smooth_ranks import Proposed, Smooth
from discreet.tables import Bounds, Query, median
from discreet.units import Row

ALARM = 1e-9
POINTS = range(4)
CELLS = (0, 1, 2, 9)
"""The last cell is far off, so that some units can move the quantile far."""
BOUNDS = (0, 9)
PROBABILITIES = [Fraction(1, 2), Fraction(1, 4), 0.9, 1]
RELATIONS = ["add_remove", "replace_one"]


@cache
def neighbours(relation, unit):
    """Return all pairs of histograms with a unit more, or another unit, on top of small ones."""
    spreads = [spread for spread in every(range(unit + 1), repeat=len(POINTS)) if sum(spread) <= unit]
    found = set()
    for rest in every(range(4 - unit), repeat=len(POINTS)):
        with_unit = [tuple(a + b for a, b in zip(rest, spread, strict=True)) for spread in spreads]
        found |= set(every([rest], with_unit) if relation == "add_remove" else every(with_unit, repeat=2))
    return [(a, b) for a, b in found if a != b]


def laws(mechanism, outputs):
    known = {}

    def of(weights):
        if weights not in known:
            known[weights] = np.array([mechanism.log_probability((list(CELLS), list(weights)), y) for y in outputs])
        return known[weights]

    return of


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize(("unit", "epsilon"), [(1, 1), (2, 0.5)])
def test_every_small_neighbour_keeps_the_pure_claim(relation, probability, unit, epsilon):
    mechanism = SmoothQuantile(bounds=BOUNDS, epsilon=epsilon, relation=relation, probability=probability, unit=unit)
    of = laws(mechanism, range(10))
    assert mechanism.loss.epsilon() == epsilon
    assert all(math.isclose(np.exp(of(a)).sum(), 1) for a, _ in neighbours(relation, unit)[::50])
    assert max(largest_loss(of(a), of(b)) for a, b in neighbours(relation, unit)) <= epsilon + 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_unit_of_less_weight_and_a_bound_that_is_not_smooth_are_caught(relation):
    """The same check finds out noise for units of half the weight, and noise of the bare local sensitivity."""
    pairs = neighbours(relation, 2)
    less = laws(SmoothQuantile(bounds=BOUNDS, epsilon=1, relation=relation, unit=1), range(10))
    assert max(largest_loss(less(a), less(b)) for a, b in pairs) > 1.01
    bare = SmoothQuantile(bounds=BOUNDS, epsilon=1, relation=relation, unit=2, beta=0.25)

    def law(weights):
        seen, noise = bare.function.at((list(CELLS), list(weights))), bare.noise
        scale = Fraction(max(seen.local(0), 0.01)) * noise.factor
        ends = [None, *((2 * (y - seen.value) - 1) / (2 * scale) for y in range(1, 10)), None]
        return np.array([noise.log_cell(a, b) for a, b in pairwise(ends)])

    assert max(largest_loss(law(a), law(b)) for a, b in pairs[::5]) > 1.5


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("probability", [Fraction(1, 2), 0.9])
def test_every_small_neighbour_keeps_the_claim_with_delta(relation, probability):
    mechanism = SmoothQuantile(bounds=BOUNDS, epsilon=1, relation=relation, probability=probability, delta=0.001)
    of = laws(mechanism, range(10))
    assert max(worse(of(a), of(b), 1) for a, b in neighbours(relation, 1)) <= 0.001 * (1 + 1e-9)


def test_the_claim_comes_close_to_the_limit():
    """A unit that decides between the ends of a long grid: the place moves by the whole bound."""
    mechanism = SmoothQuantile(bounds=(0, 10**6), epsilon=1, relation="add_remove", beta=0.01)
    outputs = [0, 1, *range(10**4, 10**6, 10**4), 10**6]
    one, other = ([mechanism.log_probability(x, y) for y in outputs] for x in mechanism.worst_case())
    assert 0.9 < largest_loss(one, other) <= 1 + 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("probability", [Fraction(1, 2), 0.9])
@pytest.mark.parametrize("bound", [1, 3])
def test_every_small_neighbour_keeps_the_tested_claim(relation, probability, bound):
    mechanism = TestedQuantile(
        bounds=BOUNDS, epsilon=2, delta=0.05, relation=relation, probability=probability, bound=bound
    )
    of = laws(mechanism, [None, *range(10)])
    assert all(math.isclose(np.exp(of(a)).sum(), 1) for a, _ in neighbours(relation, 1)[::50])
    for a, b in neighbours(relation, 1):
        assert worse(of(a), of(b), 2) <= 0.05 + 1e-12
        assert kept(mechanism.loss, of(a), of(b), steps(2))


def test_a_lower_threshold_is_caught(monkeypatch):
    mechanism = TestedQuantile(bounds=BOUNDS, epsilon=2, delta=0.05, relation="add_remove", bound=1)
    threshold = mechanism.threshold
    monkeypatch.setattr(TestedQuantile, "threshold", threshold - 2)
    of = laws(mechanism, [None, *range(10)])
    assert max(worse(of(a), of(b), 2) for a, b in neighbours("add_remove", 1)) > 0.05


def fit(outputs, log_law):
    expected = np.exp(log_law) * len(outputs)
    counted = np.array([outputs.count(y) for y in range(expected.size)], dtype=float)
    common = expected >= 10
    rest = expected[~common].sum()
    counted, expected = np.append(counted[common], counted[~common].sum()), np.append(expected[common], rest)
    kept = expected > 0
    return float(stats.chisquare(counted[kept], expected[kept] * counted.sum() / expected[kept].sum()).pvalue)


@pytest.mark.parametrize("histogram", [([], []), ([2, 5, 9], [3, 1, 2]), ([0, 11], [4, 4]), ([6], [30])])
@pytest.mark.parametrize("delta", [0, 0.01])
def test_what_is_drawn_has_the_law(histogram, delta, repeatable):
    mechanism = SmoothQuantile(bounds=(0, 11), epsilon=1, relation="add_remove", delta=delta)
    drawn = [mechanism.release(*histogram) for _ in range(3000)]
    assert fit(drawn, [mechanism.log_probability(histogram, y) for y in range(12)]) > ALARM


@pytest.mark.parametrize("histogram", [([6], [12]), ([6], [30]), ([0, 11], [4, 4])])
def test_what_is_tested_has_the_law(histogram, repeatable):
    mechanism = TestedQuantile(bounds=(0, 11), epsilon=1, delta=0.01, relation="add_remove", bound=2)
    drawn = [12 if (y := mechanism.release(*histogram)) is None else y for _ in range(3000)]
    assert fit(drawn, [mechanism.log_probability(histogram, y) for y in [*range(12), None]]) > ALARM


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_logarithm_of_the_bound_moves_by_beta_at_most(relation):
    mechanism = SmoothInterval(
        quantile=SmoothQuantile(bounds=BOUNDS, epsilon=1, relation=relation, unit=2, beta=0.3), epsilon=1
    )
    function = mechanism.quantile.function
    logs = {}
    for pair in neighbours(relation, 2):
        for weights in pair:
            if weights not in logs:
                logs[weights] = math.log(function.at((list(CELLS), list(weights))).smooth(0.3))
    moved = max(abs(logs[a] - logs[b]) for a, b in neighbours(relation, 2))
    assert 0.29 < moved <= mechanism.scale * mechanism.epsilon
    assert mechanism.loss.epsilon() == 2


@pytest.mark.parametrize("spread", ["even", "skew"])
def test_the_interval_holds_as_often_as_said(spread, repeatable):
    """Of 800 intervals at level 0.8, at least 560: fewer come about with probability below 1e-9."""
    cells = np.arange(60) * 30 if spread == "even" else np.arange(60) ** 2
    mechanism = SmoothInterval(
        quantile=SmoothQuantile(bounds=(0, 5000), epsilon=1, relation="add_remove", probability=0.7, beta=0.1),
        epsilon=0.5,
        level=0.8,
    )
    ones = np.full(60, 40)
    true = mechanism.quantile.function.at((cells, ones)).value
    found = [mechanism.release(cells, ones) for _ in range(800)]
    assert sum(low <= true <= high for low, _, high in found) >= 560
    assert all(low <= value <= high for low, value, high in found)
    assert np.median([high - low for low, _, high in found]) < 5000 / 4


def released(method, size, monkeypatch):
    """Return what a session without groups claims and runs, and the histograms of all tables of so many rows."""
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("duckdb")
    seen = []
    for kind in (Smooth, Proposed):
        whole = kind.release
        monkeypatch.setattr(kind, "release", lambda s, hs, whole=whole: seen.append((s, hs)) or whole(s, hs))
    budget, query = Budget(1000, 0.5), Query("people").agg(q=median("spent", method=method))
    settings = {"epsilon": 2, "delta": 0.02 if method == "ptr" else 0}
    histograms, claims = {}, set()
    for rows in combinations_with_replacement(range(4), size):
        table = pa.table({"spent": pa.array(rows, type=pa.int64())})
        unit = Row(relation="replace_one")
        with Session(table, name="people", schema={"spent": Bounds(0, 3)}, unit=unit, budget=budget) as session:
            claims.add(session.planned(query, **settings).loss)
            session.release(query, **settings)
        run, (histogram,) = seen[-1]
        histograms[rows] = histogram
    assert len(claims) == 1
    return claims.pop(), run.mechanism(run.column.options[0]), histograms


def replaced(tables):
    """Return all pairs of tables that differ in one row."""
    found = set()
    for rows in tables:
        for place, value in every(range(len(rows)), range(4)):
            found.add((rows, tuple(sorted((*rows[:place], value, *rows[place + 1 :])))))
    return [(a, b) for a, b in found if a != b]


@pytest.mark.parametrize("size", [1, 3])
def test_every_row_replaced_in_a_session_without_groups_keeps_the_smooth_claim(size, monkeypatch):
    """There a unit cannot leave its group, and the bounds for replacement are taken: for the value and for its ends."""
    claim, mechanism, histograms = released("smooth", size, monkeypatch)
    quantile, (low, high) = mechanism.quantile, mechanism.quantile.bounds
    assert quantile.relation == "replace_one"
    assert high - low == 3
    logs = {t: [quantile.log_probability(h, y) for y in range(low, high + 1)] for t, h in histograms.items()}
    told = {t: math.log(quantile.function.at(h).smooth(quantile.beta)) for t, h in histograms.items()}
    for a, b in replaced(histograms):
        value = largest_loss(np.array(logs[a]), np.array(logs[b]))
        ends = abs(told[a] - told[b]) / float(mechanism.scale)
        assert value + ends <= claim.epsilon() + 1e-9
    one_sided = SmoothQuantile(
        bounds=quantile.bounds, epsilon=quantile.epsilon, relation="add_remove", unit=quantile.unit, beta=quantile.beta
    )
    less = {t: np.array([one_sided.log_probability(h, y) for y in range(low, high + 1)]) for t, h in histograms.items()}
    assert size == 1 or max(largest_loss(less[a], less[b]) for a, b in replaced(histograms)) > quantile.epsilon


def test_every_row_replaced_in_a_session_without_groups_keeps_the_tested_claim(monkeypatch):
    claim, mechanism, histograms = released("ptr", 5, monkeypatch)
    low, high = mechanism.bounds
    assert mechanism.relation == "replace_one"
    outputs = [None, *range(low, high + 1)]
    law = {t: np.exp([mechanism.log_probability(h, y) for y in outputs]) for t, h in histograms.items()}
    assert any(0.01 < chances[0] < 0.99 for chances in law.values())
    for a, b in replaced(histograms):
        excess = np.maximum(law[a] - math.exp(2) * law[b], 0).sum()
        assert excess <= claim.delta(2) + 1e-12
