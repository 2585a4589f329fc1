import itertools

import numpy as np
import pytest
from all_graphs import graphs
from scipy import sparse

from discreet.sensitivity.graphs.connectivity import connectivity, held_twice
from discreet.sensitivity.graphs.graph import Graph


def least_cut(matrix):
    n = len(matrix)
    sides = (np.array([0, *side], dtype=bool) for side in itertools.product((0, 1), repeat=n - 1) if any(side))
    return min(int(matrix[side][:, ~side].sum()) for side in sides)


@pytest.mark.parametrize("vertices", [2, 3, 4, 5])
def test_it_is_the_least_cut_of_every_small_graph(vertices):
    for edges in graphs(vertices):
        matrix = Graph.of(edges, vertices).matrix
        wanted = least_cut(matrix.toarray())
        assert connectivity(matrix.toarray() > 0) == wanted
        assert held_twice(matrix) == min(wanted, 2)


def random_matrices(count, most):
    generator = np.random.default_rng(1997)
    for _ in range(count):
        n = int(generator.integers(2, most))
        matrix = np.triu(generator.random((n, n)) < generator.random(), 1)
        matrix[: n // 2, n // 2 :] &= generator.random() < matrix[: n // 2, n // 2 :] * generator.random()
        yield matrix | matrix.T


def test_it_is_the_least_cut_of_random_graphs():
    for matrix in random_matrices(150, 10):
        wanted = least_cut(matrix)
        assert connectivity(matrix) == wanted
        for most in range(1, wanted + 3):
            assert (connectivity(matrix, most) >= most) == (wanted >= most)


def test_two_forests_tell_it_up_to_two():
    for matrix in random_matrices(200, 40):
        assert held_twice(sparse.csr_array(matrix.astype(int))) == min(connectivity(matrix), 2)
