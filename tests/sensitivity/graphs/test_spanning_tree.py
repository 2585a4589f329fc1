import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.sensitivity.graphs import SpanningTree, spanning_tree
from discreet.sensitivity.smooth import Function, Levels

VALUES = (0, 1, 2, 4)
BOUND = 4
TRIANGLE = tuple(itertools.combinations(range(3), 2))
ALL_FOUR = tuple(itertools.combinations(range(4), 2))
SQUARE = ((0, 1), (1, 2), (2, 3), (3, 0))
KITE = ((0, 1), (1, 2), (2, 0), (2, 3))


def cost(vertices, edges, weights):
    label, total = list(range(vertices)), 0
    for weight, (a, b) in sorted(zip(weights, edges, strict=True)):
        if label[a] != label[b]:
            label = [label[a] if one == label[b] else one for one in label]
            total += weight
    return total


def by_definition(vertices, edges, levels):
    """Return all costs, and the largest local sensitivities within 0, 1, ... weights; one axis for each edge."""
    axes = range(len(edges))
    costs = [cost(vertices, edges, weights) for weights in itertools.product(VALUES, repeat=len(edges))]
    costs = np.array(costs).reshape([len(VALUES)] * len(edges))
    moves = [np.maximum(costs.max(t, keepdims=True) - costs, costs - costs.min(t, keepdims=True)) for t in axes]
    found = [np.max(moves, axis=0)]
    for _ in range(levels - 1):
        around = [np.broadcast_to(found[-1].max(t, keepdims=True), costs.shape) for t in axes]
        found.append(np.max(around, axis=0))
    return costs, np.array(found)


def looked_at(function, edges):
    """Look at all weights; of those that only number the vertices of a complete graph otherwise, at one."""
    every = list(itertools.product(VALUES, repeat=len(edges)))
    if function.edges is not None:
        return [function.at(weights) for weights in every]
    numberings = [
        [edges.index(tuple(sorted((order[a], order[b])))) for a, b in edges]
        for order in itertools.permutations(range(function.vertices))
    ]
    first = [min(tuple(weights[i] for i in numbering) for numbering in numberings) for weights in every]
    known = {weights: function.at(weights) for weights in set(first)}
    return [known[weights] for weights in first]


def check(function, *, exact=True, levels=5):
    edges = ALL_FOUR if function.edges is None else function.edges
    costs, wanted = by_definition(function.vertices, edges, levels)
    seen = looked_at(function, edges)
    assert [here.value for here in seen] == costs.ravel().tolist()
    found = np.array([[here.local(k) for here in seen] for k in range(levels + 1)]).reshape(-1, *costs.shape)
    assert (found[:-1] >= wanted).all()
    if exact:
        assert np.array_equal(found[:-1], wanted)
    assert (np.diff(found, axis=0) >= 0).all()
    for t in range(len(edges)):
        assert (found[:-1].max(t + 1) <= found[1:].min(t + 1)).all()
    return len(seen)


@pytest.mark.parametrize(
    ("vertices", "edges"),
    [(2, ((0, 1),)), (3, TRIANGLE), (4, SQUARE), (4, KITE), (4, ((0, 1), (1, 2), (1, 3))), (4, None)],
)
def test_levels_are_those_of_the_definition(vertices, edges):
    assert check(SpanningTree(vertices=vertices, bound=BOUND, edges=edges)) >= 4


@pytest.mark.parametrize("cuts", [256, 0])
@pytest.mark.parametrize(("vertices", "edges"), [(2, ((0, 1),)), (3, TRIANGLE), (4, SQUARE), (4, KITE)])
def test_with_many_vertices_levels_are_smooth_bounds(vertices, edges, cuts, monkeypatch):
    monkeypatch.setattr(spanning_tree, "EXACT", 0)
    monkeypatch.setattr(spanning_tree, "CUTS", cuts)
    assert check(SpanningTree(vertices=vertices, bound=BOUND, edges=edges), exact=False) >= 4


class Wrong(SpanningTree):
    def at(self, records):
        here = super().at(records)
        return Levels(here.value, self.change(here.levels))


@pytest.mark.parametrize(
    "change", [lambda levels: 0.9 * levels, lambda levels: np.append(0.0, levels), lambda levels: levels - 0.001]
)
def test_wrong_levels_are_caught(change):
    wrong = type("Wrong", (Wrong,), {"change": staticmethod(change)})
    with pytest.raises(AssertionError):
        check(wrong(vertices=3, bound=BOUND, edges=TRIANGLE), exact=False)


def test_the_difference_to_the_lightest_matters():
    here = SpanningTree(vertices=3, bound=4).at([1, 2, 4])
    assert [here.local(k) for k in range(4)] == [3, 4, 4, 4]
    assert here.smooth(0.3) == pytest.approx(3, rel=2**-29)


@pytest.mark.parametrize(
    "data",
    [
        [1, 2, 9],
        [1, 2, math.inf],
        np.array([1, 2, 4, 7], dtype=np.uint8),
        [True, Fraction(2), 2**5000],
        np.array([1, 2, np.inf], dtype=np.longdouble),
    ],
)
def test_weights_are_clamped_and_cut(data):
    here = SpanningTree(vertices=3, bound=4).at(data)
    assert (here.value, here.local()) == (3, 3)


@pytest.mark.parametrize("data", [[], [None, None, None], [-1, math.nan, 0], ["a", 1, -math.inf], np.zeros((2, 2))])
def test_what_is_missing_is_free(data):
    assert SpanningTree(vertices=3, bound=4).at(data).value == 0


def test_sums_are_exact():
    weights = [0.1, 0.7, 0.2]
    assert SpanningTree(vertices=3, bound=1).at(weights).value == Fraction(0.1) + Fraction(0.2)


@pytest.mark.parametrize("vertices", [64, 65, 129])
def test_larger_graphs_take_seconds(vertices):
    function = SpanningTree(vertices=vertices, bound=1)
    weights = np.random.default_rng(vertices).integers(1, 9, function.size) / 10
    here = function.at(weights)
    assert here.value >= (vertices - 1) / 10
    assert 0.1 <= here.local() < 0.5
    assert here.local(vertices) == 1


def test_it_is_a_function_of_weights():
    function = SpanningTree(vertices=4, bound=0.5)
    assert isinstance(function, Function)
    assert (function.relation, function.size, function.range) == ("replace_one", 6, (0, Fraction(3, 2)))
    assert (function.dimension, function.norm) == (1, 1)
    assert SpanningTree(vertices=4, bound=1, edges=[[0, 1], (1, 2), (3, 1)]).edges == ((0, 1), (1, 2), (3, 1))


@pytest.mark.parametrize(
    "settings",
    [
        {"vertices": 1, "bound": 1},
        {"vertices": 3, "bound": 0},
        {"vertices": 3, "bound": math.inf},
        {"vertices": 3, "bound": 1, "edges": ((0, 1),)},
        {"vertices": 3, "bound": 1, "edges": ((0, 1), (1, 0), (1, 2))},
        {"vertices": 3, "bound": 1, "edges": ((0, 1), (1, 3))},
        {"vertices": 3, "bound": 1, "edges": (0, 1)},
        {"vertices": 3, "bound": 1, "edges": 7},
    ],
)
def test_settings_are_checked(settings):
    with pytest.raises(InvalidParameter):
        SpanningTree(**settings)


@pytest.mark.parametrize("vertices", [3, 20])
def test_the_largest_bounds_hold_whatever_another_record_is(vertices):
    bound = 1.9 * 2.0**1000
    function = SpanningTree(vertices=vertices, bound=bound)
    full = function.at([bound] * function.size)
    for odd in (None, "x", 0.0, 10**400):
        near = function.at([bound] * (function.size - 1) + [odd])
        assert abs(full.value - near.value) <= Fraction(full.smooth(0.1))


def test_masked_and_odd_weights_are_free():
    function = SpanningTree(vertices=3, bound=4)
    assert function.at(np.ma.array([1, 2, 4], mask=[False, True, False])).value == 1
    assert function.at([1, np.timedelta64("NaT"), 4]).value == 1
    assert function.at(np.ones((3, 1))).value == 0
