import itertools
import math

import numpy as np
import pytest
from all_graphs import WRONG, Changed, check

from discreet.sensitivity.graphs import Triangles
from discreet.sensitivity.graphs.graph import Graph
from discreet.sensitivity.smooth import Function, Levels, Vicinity


def count(edges):
    edges = set(edges)
    return sum({(a, b), (a, c), (b, c)} <= edges for a, b, c in itertools.combinations(range(6), 3))


@pytest.mark.parametrize("vertices", [2, 3, 4, 5])
def test_levels_are_those_of_the_definition(vertices):
    assert check(Triangles(vertices=vertices), count) == 2 ** (vertices * (vertices - 1) // 2)


@pytest.mark.parametrize("change", WRONG)
def test_wrong_levels_are_caught(change):
    with pytest.raises(AssertionError):
        check(Changed(Triangles(vertices=4), change), count)
    with pytest.raises(AssertionError):
        check(Changed(Triangles(vertices=4), change), count, exact=False)


class CountsTheEdgeItself(Triangles):
    """The edge between i and j is counted among the others at i and j: the usual mistake."""

    def at(self, records):
        here = Graph.of(records, self.vertices)
        matrix = here.matrix.toarray().astype(int)
        upper = np.triu_indices(self.vertices, 1)
        a = (matrix @ matrix)[upper]
        b = (here.degrees[:, None] + here.degrees)[upper] - 2 * a
        most = self.vertices - 2
        levels = [np.minimum(a + (s + np.minimum(s, b)) // 2, most).max() for s in range(2 * most + 1)]
        return Levels(count(map(tuple, here.ends.tolist())), np.array(levels, dtype=float))


def test_counting_the_edge_itself_is_caught():
    with pytest.raises(AssertionError):
        check(CountsTheEdgeItself(vertices=5), count)


def test_a_path():
    path = Triangles(vertices=5).at([(0, 1), (1, 2), (2, 3), (3, 4)])
    assert [path.local(s) for s in range(6)] == [1, 2, 3, 3, 3, 3]
    assert path.smooth(0.2) == pytest.approx(2.0109601381069178, rel=2**-29)
    assert path.distance(1) == 1
    assert path.distance(3) is None


def test_it_is_a_function_of_edges():
    query = Triangles(vertices=6)
    assert isinstance(query, Function)
    assert (query.relation, query.size, query.range, query.dimension, query.norm) == ("add_remove", None, (0, 20), 1, 1)
    here: Vicinity = query.at([])
    assert (here.value, here.local(), here.distance(0)) == (0, 0, 2)
    assert repr(query) == "Triangles(vertices=6)"


def test_one_vertex_has_none():
    lonely = Triangles(vertices=1).at([(0, 0), (0, 1)])
    assert (lonely.value, lonely.local(9)) == (0, 0)


N, HUB = 100_000, 50_000
SPOKES = np.stack([np.zeros(HUB, dtype=int), np.arange(1, HUB + 1)], axis=1)
RIM = np.stack([np.arange(1, HUB + 1), np.roll(np.arange(1, HUB + 1), 1)], axis=1)


@pytest.mark.parametrize(
    ("edges", "value", "local"),
    [
        (SPOKES, 0, 1),
        (np.concatenate([SPOKES, RIM]), HUB, 2),
        (np.concatenate([SPOKES, RIM + HUB]), 0, 1),
        (np.array(list(itertools.combinations(range(447), 2))), math.comb(447, 3), 445),
    ],
)
def test_a_hundred_thousand_edges_take_no_loop_over_edges(edges, value, local, instructions):
    here = Triangles(vertices=N + 1).at(edges)
    assert (here.value, here.local()) == (value, local)
    assert here.local(10) >= local + 5
    assert here.local(3 * N) == N - 1
    assert instructions(lambda: Triangles(vertices=N + 1).at(edges).local()) < 10 * len(edges)
