import math

import numpy as np
import pytest
from all_graphs import flips, graphs

from discreet import Geometric, Laplace
from discreet.errors import InvalidParameter, NoTheorem
from discreet.sensitivity.graphs import BoundedDegrees, BoundedEdges, BoundedStars, BoundedTriangles

VERTICES = 5
DEGREES = [1, 2, 3, 4, 9]
STATISTICS = [
    (BoundedEdges, {}),
    (BoundedStars, {"k": 2}),
    (BoundedStars, {"k": 3}),
    (BoundedDegrees, {}),
]


def answers(query):
    return np.array([query(edges) for edges in graphs(query.vertices)]).reshape(len(graphs(query.vertices)), -1)


def length(change, p):
    return (np.abs(change).astype(float) ** p).sum(axis=-1).max() ** (1 / p)


def by_edges(values, relation, p):
    """Return the largest change where one edge comes or goes, or one goes and another comes."""
    moves = flips(VERTICES)
    if relation == "add_remove":
        return max(length(values - values[move], p) for move in moves)
    return max(length(values - values[a][b], p) for a in map(np.array, moves) for b in moves)


def by_nodes(values, relation, p):
    """Return the largest change where the edges of one vertex come or go, or change in any way."""
    listed = graphs(VERTICES)
    place = {tuple(g): i for i, g in enumerate(listed)}
    largest = 0.0
    for v in range(VERTICES):
        without = np.array([place[tuple(e for e in g if v not in e)] for g in listed])
        if relation == "add_remove":
            largest = max(largest, length(values - values[without], p))
        else:
            for rest in np.unique(without):
                same = values[without == rest]
                largest = max(largest, length(same[:, None] - same, p))
    return largest


def stated(query, relation, p=1):
    return float(query.sensitivity(p, relation=relation))


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("kind", "settings"), STATISTICS)
def test_no_neighbours_differ_by_more(kind, settings, relation):
    for degree in DEGREES:
        for neighbours, measured in (("edge", by_edges), ("node", by_nodes)):
            query = kind(vertices=VERTICES, degree=degree, neighbours=neighbours, **settings)
            values = answers(query)
            for p in (1, 2):
                assert measured(values, relation, p) <= stated(query, relation, p) * (1 + 1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_no_neighbours_have_more_triangles(degree):
    query = BoundedTriangles(vertices=VERTICES, degree=degree)
    values = answers(query)
    assert by_edges(values, "add_remove", 1) <= stated(query, "add_remove")
    assert by_edges(values, "replace_one", 1) <= stated(query, "replace_one")


def test_bounds_are_attained_where_they_can_be_and_less_would_be_caught():
    edges = BoundedEdges(vertices=VERTICES, degree=2, neighbours="node")
    assert by_nodes(answers(edges), "add_remove", 1) == stated(edges, "add_remove") == 2
    assert by_nodes(answers(edges), "replace_one", 1) == stated(edges, "replace_one") == 2
    single = BoundedEdges(vertices=VERTICES, degree=2)
    assert by_edges(answers(single), "replace_one", 1) == stated(single, "replace_one") == 2
    stars = BoundedStars(vertices=VERTICES, degree=3, k=2)
    assert by_edges(answers(stars), "add_remove", 1) == stated(stars, "add_remove") == 4
    counts = BoundedDegrees(vertices=VERTICES, degree=3)
    assert by_edges(answers(counts), "add_remove", 1) == stated(counts, "add_remove") == 4
    triangles = BoundedTriangles(vertices=6, degree=2)
    two = [(0, 2), (0, 3), (2, 3), (1, 4), (1, 5), (4, 5)]
    assert triangles(two) - triangles([*two, (0, 1)]) == stated(triangles, "add_remove") == 2


def test_within_the_bound_they_are_the_statistics():
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert BoundedEdges(vertices=4, degree=2)(ring) == 4
    assert BoundedStars(vertices=4, degree=2, k=2)(ring) == 4
    assert BoundedDegrees(vertices=4, degree=2)(ring).tolist() == [0, 0, 4]
    assert BoundedTriangles(vertices=4, degree=3)([*ring, (0, 2)]) == 2


def test_noise_is_lifted_to_graphs():
    query = BoundedTriangles(vertices=100, degree=11)
    clique = [(a, b) for a in range(10) for b in range(a)]
    released = Laplace(sensitivity=20, epsilon=100).of(query, relation="add_remove").release(clique)
    assert abs(released - math.comb(10, 3)) < 20
    with pytest.raises(InvalidParameter, match="changes by up to 20"):
        Laplace(sensitivity=19, epsilon=1).of(query, relation="add_remove")
    counts = BoundedDegrees(vertices=10, degree=9, neighbours="node")
    assert Geometric(sensitivity=20, epsilon=100).of(counts, relation="add_remove").release(clique).shape == (10,)


def test_settings_are_checked():
    with pytest.raises(InvalidParameter, match="degree"):
        BoundedEdges(vertices=3, degree=0)
    with pytest.raises(InvalidParameter, match="neighbours"):
        BoundedEdges(vertices=3, degree=1, neighbours="person")
    with pytest.raises(InvalidParameter, match="rays"):
        BoundedStars(vertices=3, degree=1, k=1)
    with pytest.raises(NoTheorem, match='neighbours="edge"'):
        BoundedTriangles(vertices=3, degree=1, neighbours="node")


def test_one_vertex_has_nothing_to_hide():
    for kind, settings in [*STATISTICS, (BoundedTriangles, {})]:
        assert kind(vertices=1, degree=3, **settings).sensitivity(relation="add_remove") == 0
