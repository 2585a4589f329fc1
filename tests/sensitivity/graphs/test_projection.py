import numpy as np
import pytest
from all_graphs import flips, graphs

from discreet.sensitivity.graphs.graph import Graph
from discreet.sensitivity.graphs.projection import first_edges, grown

VERTICES = 5


@pytest.mark.parametrize("project", [first_edges, grown])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_degrees_are_bounded_and_small_graphs_kept(project, degree):
    for edges in graphs(VERTICES):
        graph = Graph.of(edges, VERTICES)
        kept = project(graph, degree)
        assert kept.degrees.max() <= degree
        assert set(map(tuple, kept.ends.tolist())) <= set(edges)
        assert graph.degrees.max() > degree or kept.ends.tolist() == graph.ends.tolist()


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_one_edge_changes_three_of_the_first(degree):
    kept = [set(map(tuple, first_edges(Graph.of(g, VERTICES), degree).ends.tolist())) for g in graphs(VERTICES)]
    changed = [len(kept[a] ^ kept[b]) for move in flips(VERTICES) for a, b in enumerate(move)]
    assert max(changed) == 3


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_one_edge_changes_grown_degrees_by_two_in_all(degree):
    degrees = np.array([grown(Graph.of(g, VERTICES), degree).degrees for g in graphs(VERTICES)])
    assert max(np.abs(degrees - degrees[move]).sum(axis=1).max() for move in flips(VERTICES)) == 2


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_one_vertex_changes_the_degrees_of_others_by_as_many_as_it_keeps(degree):
    listed = graphs(VERTICES)
    degrees = np.array([grown(Graph.of(g, VERTICES), degree).degrees for g in listed])
    place = {tuple(g): i for i, g in enumerate(listed)}
    for v in range(VERTICES):
        others = [u for u in range(VERTICES) if u != v]
        for i, edges in enumerate(listed):
            without = degrees[place[tuple(e for e in edges if v not in e)]]
            assert np.abs(degrees[i] - without)[others].sum() <= degrees[i, v] <= degree
