"""The closest vector that keeps facts, against the best of all active sets."""

import itertools

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency import Constraints, project, project_total, projection


def best(values, facts, weights):
    """Return the closest vector by trying every set of inequalities that hold with equality."""
    rows, low, high = facts.matrix.toarray(), facts.low, facts.high
    equal = low == high
    under, over = ~equal & np.isfinite(low), ~equal & np.isfinite(high)
    sides = np.vstack([np.eye(facts.size), rows[under], -rows[over]])
    ends = np.concatenate([np.zeros(facts.size), low[under], -high[over]])
    always = np.vstack([rows[equal], np.eye(facts.size)[~facts.allowed]])
    fixed = np.concatenate([low[equal], np.zeros((~facts.allowed).sum())])
    winner, least = None, np.inf
    for size in range(facts.size + 1):
        for chosen in map(list, itertools.combinations(range(len(ends)), size)):
            a, b = np.vstack([always, sides[chosen]]), np.concatenate([fixed, ends[chosen]])
            scaled = a / np.sqrt(weights)
            x = (values * np.sqrt(weights) + np.linalg.pinv(scaled) @ (b - a @ values)) / np.sqrt(weights)
            kept = np.all(sides @ x >= ends - 1e-8) and np.allclose(always @ x, fixed, atol=1e-8)
            distance = (weights * (x - values) ** 2).sum()
            if kept and distance < least - 1e-12:
                winner, least = x, distance
    return winner


def some_facts(random, size):
    x = random.integers(0, 10, size)
    facts = Constraints(size).equal("all", range(size), int(x.sum()))
    cells = random.choice(size, 2, replace=False)
    facts = facts.at_most("few", cells, int(x[cells].sum()) + 1)
    cells = random.choice(size, 2, replace=False)
    facts = facts.at_least("many", cells, max(int(x[cells].sum()) - 1, 0))
    return facts.zero("none", [int(np.argmin(x))]) if x.min() == 0 else facts


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("exact", [True, False])
def test_equals_the_best_of_all_active_sets(seed, exact, monkeypatch):
    if not exact:
        monkeypatch.setattr(projection, "EXACT", 0)
    random = np.random.default_rng(seed)
    facts = some_facts(random, 5)
    values, weights = random.normal(4, 6, 5), random.uniform(0.2, 5, 5)
    x = project(values, facts, weights=weights)
    assert facts.violated(x, tolerance=1e-7 if exact else 1e-5) == ()
    assert x == pytest.approx(best(values, facts, weights), abs=1e-6 if exact else 1e-3)


@pytest.mark.parametrize("size", [50, 290, 1000])
def test_one_total_is_water_filling(size):
    random = np.random.default_rng(size)
    values, weights = random.normal(1, 5, size), random.uniform(0.5, 2, size)
    facts = Constraints(size).equal("all", range(size), 2 * size)
    expected = project_total(values, 2 * size, weights=weights)
    assert project(values, facts, weights=weights) == pytest.approx(expected, abs=1e-5)


def test_a_vector_that_keeps_the_facts_stays():
    facts = Constraints(4).equal("all", range(4), 10).at_most("first", [0], 5)
    assert project([1.0, 2.0, 3.0, 4.0], facts) == pytest.approx([1, 2, 3, 4], abs=1e-9)


def test_facts_that_leave_one_vector_give_it():
    facts = Constraints(3).equal("a", [0], 1).equal("b", [1], 2).equal("c", [0, 1, 2], 7)
    assert project([9.0, 9.0, 9.0], facts) == pytest.approx([1, 2, 4], abs=1e-9)
    assert project([1.0, 2.0], Constraints(2).zero("nobody", [0, 1])).tolist() == [0, 0]


def test_large_totals_are_kept_or_contradict():
    facts = Constraints(2).equal("a", [0, 1], 1e9)
    with pytest.raises(InvalidParameter, match="'a', 'b'"):
        project([1.0, 2.0], facts.equal("b", [0, 1], 1e9 + 50))
    assert project([1.0, 2.0], facts).sum() == pytest.approx(1e9, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [20, 400])
def test_facts_are_kept_closely(seed, size):
    random = np.random.default_rng(seed)
    x = random.integers(0, 1000, size) * random.integers(0, 2, size)
    facts = Constraints(size).zero("none", np.arange(size) == int(np.argmin(x)))
    for i in range(12):
        cells = random.choice(size, size // 3, replace=False)
        kind = str(random.choice(["equal", "at_most", "at_least"]))
        facts = getattr(facts, kind)(f"fact {i}", cells, int(x[cells].sum()))
    closest = project(random.normal(x, 100), facts, weights=random.uniform(0.1, 10, size))
    assert closest.min() >= 0
    assert facts.matrix @ closest == pytest.approx(np.clip(facts.matrix @ closest, facts.low, facts.high), rel=1e-7)


def test_a_vector_that_misses_a_fact_is_not_returned(monkeypatch):
    """With hardly a step the solver is far off; told so, and not given out."""
    random = np.random.default_rng(1)
    size = 60
    x = random.integers(0, 10, size)
    facts = Constraints(size)
    for i in range(20):
        cells = random.choice(size, 20, replace=False)
        facts = facts.equal(f"fact {i}", cells, int(x[cells].sum()))
    values = random.normal(x, 30)
    monkeypatch.setattr(projection, "EXACT", 0)
    monkeypatch.setattr(projection, "STEPS", 1)
    monkeypatch.setattr(projection, "POLISHED", 0)
    with pytest.raises(InvalidParameter, match="'fact 0'"):
        project(values, facts)


def test_contradictions_and_nonsense_are_refused():
    with pytest.raises(InvalidParameter, match="'a', 'b'"):
        project([1.0], Constraints(1).equal("a", [0], 1).equal("b", [0], 2))
    for values, weights in [([1.0, 2.0], None), ([np.nan], None), ([1.0], [0])]:
        with pytest.raises(InvalidParameter):
            project(values, Constraints(1), weights=weights)
