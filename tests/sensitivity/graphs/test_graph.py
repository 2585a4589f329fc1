import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidParameter
from discreet.sensitivity.graphs import Graph, Triangles

EDGES = [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    "data",
    [
        [(1, 0), (2, 1)],
        [(1, 0), (2, 1), (0, 1), (1, 0)],
        [(0, 1), (1, 2), (1, 1), (0, 3), (-1, 0), (0, 2**80)],
        [(0, 1), (1, 2), (0, 2.5), (math.nan, 1), (math.inf, 0)],
        [(0, 1), (1, 2), (0, None), None, "ab", 7, (), (0,), (0, 1, 2), ("0", "2"), {"a": 1}, (0, [2])],
        [(0.0, True), (Fraction(1), Decimal(2)), (0, 1j)],
        [[0, 1], [1, 2]],
        np.array([[0, 1], [2, 1]], dtype=np.uint8),
        np.array([[0, 1], [2, 1], [2**64 - 1, 0]], dtype=np.uint64),
        np.array([[0, 1], [2, 1], [np.nan, 0], [0, np.inf], [0.5, 1]], dtype=np.float16),
        np.array([[0, 1], [2, 1], [np.nan, 0], [1e300, 0]]),
        np.array([[0, 1], [2, 1]], dtype=np.longdouble),
        np.array([(0, 1), (2, 1), None], dtype=object),
        np.ma.masked_array([[0, 1], [1, 2], [0, 2]], mask=[[0, 0], [0, 0], [0, 1]]),
        (pair for pair in EDGES),
    ],
)
def test_edges_are_read_whatever_else_is_there(data):
    assert Graph.of(data, 3).ends.tolist() == EDGES


@pytest.mark.parametrize("data", [[], np.empty((0, 2)), [None], np.zeros((3, 3)), np.zeros(4), np.zeros((2, 2, 2))])
def test_what_holds_no_edges_is_an_empty_graph(data):
    assert Graph.of(data, 3).ends.shape == (0, 2)
    assert Triangles(vertices=3).at(data).value == 0


def test_a_set_is_no_list_of_edges():
    with pytest.raises(InvalidInput):
        Graph.of({(0, 1)}, 3)


def test_degrees_ranks_and_adjacency():
    graph = Graph.of([(0, 3), (3, 1), (3, 2), (1, 2)], 5)
    assert graph.degrees.tolist() == [1, 2, 2, 3, 0]
    assert graph.ranked().degrees.tolist() == [3, 2, 2, 1, 0]
    assert graph.adjacent(np.array([0, 0, 1, 3]), np.array([1, 3, 2, 4])).tolist() == [False, True, True, False]
    assert graph.matrix.toarray().sum() == 8


@pytest.mark.parametrize("vertices", [0, -1, 2.0, True, None, "5", 2**24 + 1])
def test_vertices_are_a_public_number(vertices):
    with pytest.raises(InvalidParameter, match="vertices, their public number"):
        Triangles(vertices=vertices)


def test_a_record_does_not_change_how_others_are_read():
    masked = np.ma.array([1, 2], mask=[True, False])
    for odd in (None, "x", 7):
        assert Graph.of([(0, 1), masked, odd], 3).ends.tolist() == [[0, 1]]
    assert Graph.of([(0, 1), masked], 3).ends.tolist() == [[0, 1]]
