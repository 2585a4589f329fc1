"""Whole vectors that keep facts wherever one exists, found in time or said not to be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency import Constraints, project
from discreet.synthetic.rounding import round_controlled


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_trees_of_facts_are_kept_by_a_vertex(seed):
    random = np.random.default_rng(seed)
    whole = random.integers(0, 6, 12)
    facts = Constraints(12).equal("all", range(12), int(whole.sum()))
    for start in (0, 6):
        facts = facts.equal(f"half {start}", range(start, start + 6), int(whole[start : start + 6].sum()))
        facts = facts.at_most(f"part {start}", range(start, start + 3), int(whole[start : start + 3].sum()))
    values = project(random.normal(3, 4, 12), facts)
    rounded = round_controlled(values, facts)
    assert rounded.method == "vertex"
    assert facts.violated(rounded.values) == rounded.violated == ()
    assert np.abs(rounded.values - values).max() < 1 + 1e-6


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_any_facts_with_a_whole_solution_are_kept(seed):
    random = np.random.default_rng(seed)
    whole = random.integers(0, 5, 8)
    facts = Constraints(8)
    for i in range(5):
        cells = random.choice(8, int(random.integers(2, 6)), replace=False)
        weights = {int(c): float(random.integers(1, 4)) for c in cells}
        facts = facts.equal(f"fact {i}", weights, float(sum(w * whole[c] for c, w in weights.items())))
    if (whole == 0).any():
        facts = facts.zero("none", whole == 0)
    rounded = round_controlled(random.uniform(0, 5, 8), facts)
    assert rounded.violated == facts.violated(rounded.values) == ()
    assert rounded.values.min() >= 0


def test_a_triangle_is_searched():
    """Pairs of three cells that each sum to 1, and all to at least 1: the program's vertex is a half everywhere."""
    facts = Constraints(3).at_most("ab", [0, 1], 1).at_most("bc", [1, 2], 1).at_most("ca", [0, 2], 1)
    facts = facts.at_least("all", [0, 1, 2], 1)
    rounded = round_controlled([0.5, 0.5, 0.5], facts)
    assert rounded.violated == ()
    assert rounded.values.sum() == 1


def test_what_no_whole_vector_keeps_is_named():
    facts = Constraints(2).equal("odd", {0: 2.0, 1: 2.0}, 3)
    rounded = round_controlled([0.75, 0.75], facts)
    assert rounded.method == "each alone"
    assert rounded.violated == ("odd",)
    assert rounded.values.tolist() == [1, 1]


def test_the_search_ends_in_time():
    """A market-split problem: a few equations with large coefficients, which branch and bound cannot settle."""
    random = np.random.default_rng(0)
    size, rows = 40, 5
    facts = Constraints(size)
    for i in range(rows):
        weights = random.integers(0, 100, size)
        facts = facts.equal(f"split {i}", {j: float(w) for j, w in enumerate(weights)}, float(weights.sum() // 2))
    for j in range(size):
        facts = facts.at_most(f"one {j}", [j], 1)
    rounded = round_controlled(np.full(size, 0.5), facts, seconds=0.5)
    assert rounded.violated == facts.violated(rounded.values)


def test_nonsense_is_refused():
    for values, seconds in [([1.0, 2.0], 1), ([np.nan], 1), ([1.0], 0), ([1e19], 1)]:
        with pytest.raises(InvalidParameter):
            round_controlled(values, Constraints(1), seconds=seconds)
