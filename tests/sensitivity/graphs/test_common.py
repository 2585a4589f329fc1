import numpy as np
import pytest

from discreet.sensitivity.graphs import common
from discreet.sensitivity.graphs.common import frontier, triangles
from discreet.sensitivity.graphs.graph import Graph


def random_graphs(count):
    generator = np.random.default_rng(20070611)
    for trial in range(count):
        n, m = int(generator.integers(3, 70)), int(generator.integers(0, 250))
        star = np.stack([np.zeros(n - 1, dtype=int), np.arange(1, n)], axis=1)
        edges = [
            generator.integers(0, n, (m, 2)),
            np.minimum(generator.pareto(0.6, (m, 2)).astype(int), n - 1),
            np.concatenate([star, generator.integers(0, n, (m // 4, 2))]),
            np.stack([generator.integers(0, 3, m), generator.integers(0, n, m)], axis=1),
            np.stack([generator.integers(0, n // 2, m), n // 2 + generator.integers(0, n // 2, m)], axis=1),
        ][trial % 5]
        yield Graph.of(edges, n).ranked()


def all_pairs(graph):
    matrix = graph.matrix.toarray().astype(int)
    upper = np.triu_indices(graph.vertices, 1)
    degrees = matrix.sum(axis=0)
    sums = degrees[:, None] + degrees - 2 * matrix
    return (matrix @ matrix)[upper], sums[upper], int(np.trace(matrix @ matrix @ matrix) // 6)


@pytest.mark.parametrize("first_batch", [10, 100_000])
def test_the_frontier_is_that_of_all_pairs(first_batch, monkeypatch):
    monkeypatch.setattr(common, "FIRST_BATCH", first_batch)
    monkeypatch.setattr(common, "BATCH", 100 * first_batch)
    for graph in random_graphs(200):
        both, sums, count = all_pairs(graph)
        wanted = [both[sums >= c].max() for c in range(sums.max() + 1)]
        assert frontier(graph).tolist() == wanted
        assert triangles(graph) == count
