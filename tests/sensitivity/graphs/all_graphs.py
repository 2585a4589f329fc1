"""Every graph on a few vertices, and sensitivities over them as their definition says."""

import itertools

import numpy as np

from discreet.sensitivity.smooth import Levels


def graphs(vertices):
    """Return all graphs as lists of edges; two that differ in edge t are at positions that differ in bit t."""
    pairs = list(itertools.combinations(range(vertices), 2))
    return [[pair for t, pair in enumerate(pairs) if code >> t & 1] for code in range(1 << len(pairs))]


def flips(vertices):
    """Return for every edge where each graph goes when that edge is added or removed."""
    codes = np.arange(1 << vertices * (vertices - 1) // 2)
    return [codes ^ (1 << t) for t in range(vertices * (vertices - 1) // 2)]


def by_definition(statistic, vertices):
    """Return the values of a statistic, and the largest local sensitivity within 0, 1, 2, ... edges."""
    values = np.array([statistic(graph) for graph in graphs(vertices)])
    moves = flips(vertices)
    levels = [np.max([np.abs(values - values[move]) for move in moves], axis=0)]
    for _ in moves:
        levels.append(np.max([levels[-1], *(levels[-1][move] for move in moves)], axis=0))
    return values, np.array(levels).T


def check(function, statistic, *, exact=True):
    """Hold a function against the definition, at every graph and distance; return how many graphs there were."""
    values, wanted = by_definition(statistic, function.vertices)
    seen = [function.at(graph) for graph in graphs(function.vertices)]
    assert [here.value for here in seen] == values.tolist()
    low, high = function.range
    assert (low, high) == (values.min(), values.max())
    levels = np.array([[here.local(s) for s in range(wanted.shape[1] + 2)] for here in seen])
    if exact:
        assert np.array_equal(levels[:, :-2], wanted)
    check_smooth(levels, wanted, flips(function.vertices))
    for beta in (0.01, 0.3, 2):
        smooth = np.array([here.smooth(beta) for here in seen])
        decay = np.exp(-beta * np.arange(levels.shape[1]))
        best = (levels * decay).max(axis=1)
        assert (smooth >= best).all()
        assert (smooth <= np.maximum(best * (1 + 2**-30), 1e-100)).all()
    return len(seen)


def check_smooth(levels, wanted, moves):
    """Check that levels bound the definition, rise, and move by one step at most between neighbours."""
    assert (levels[:, : wanted.shape[1]] >= wanted).all()
    assert (np.diff(levels) >= 0).all()
    for move in moves:
        assert (levels[:, :-1] <= levels[move, 1:]).all()


class Changed:
    """A function whose levels are changed."""

    def __init__(self, function, change):
        self.function, self.change = function, change
        self.vertices, self.range = function.vertices, function.range

    def at(self, graph):
        here = self.function.at(graph)
        return Levels(here.value, self.change(here.levels))


WRONG = [lambda levels: 0.9 * levels, lambda levels: np.append(0.0, levels), lambda levels: np.append(0.0, levels[1:])]
