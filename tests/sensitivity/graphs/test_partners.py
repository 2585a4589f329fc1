import itertools

import numpy as np
import pytest
from all_graphs import graphs

from discreet.sensitivity.graphs.graph import Graph
from discreet.sensitivity.graphs.partners import partners


def all_pairs(graph):
    degrees = graph.degrees
    edges = set(map(tuple, graph.ends.tolist()))
    for i, j in itertools.combinations(range(graph.vertices), 2):
        joined = (i, j) in edges
        yield tuple(sorted((int(degrees[i]) - joined, int(degrees[j]) - joined), reverse=True))


@pytest.mark.parametrize("vertices", [2, 3, 4, 5])
def test_no_pair_exceeds_them_and_each_is_one(vertices):
    for edges in graphs(vertices):
        graph = Graph.of(edges, vertices)
        pairs = set(all_pairs(graph))
        best = {p for p in pairs if not any(q != p and q[0] >= p[0] and q[1] >= p[1] for q in pairs)}
        assert {tuple(map(int, pair)) for pair in partners(graph)} == best


def test_they_are_few_and_fast_beside_a_hub():
    hub = np.stack([np.zeros(50_000, dtype=int), np.arange(1, 50_001)], axis=1)
    assert partners(Graph.of(hub, 100_000)).tolist() == [[50_000, 0], [1, 1]]
