"""Graphs of bounded degree: leave out edges, in a public order, until no vertex has more than so many.

The order is that of the pairs of vertices, so what is kept depends on nothing but the graph.
"""

import numpy as np

from discreet.sensitivity.graphs.graph import Graph

__all__ = ["first_edges", "grown"]


def first_edges(graph: Graph, degree: int) -> Graph:
    """Keep the edges that are among the first ``degree`` ones at both of their ends.

    If one edge more is in the graph, it takes the place of at most one edge at each of its ends, so what is kept
    differs in at most three edges: Blocki, Blum, Datta and Sheffet, "Differentially Private Data Analysis of Social
    Networks via Restricted Sensitivity", ITCS 2013.

    >>> first_edges(Graph.of([(0, 1), (0, 2), (1, 2), (2, 3)], vertices=4), degree=2).ends
    array([[0, 1], [0, 2], [1, 2]])
    """
    ends = graph.ends
    vertices, edges = ends.T.ravel(), np.tile(np.arange(len(ends)), 2)
    order = np.lexsort((edges, vertices))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size) - np.searchsorted(vertices[order], np.arange(graph.vertices))[vertices[order]]
    return Graph(graph.vertices, ends[(place.reshape(2, -1) < degree).all(axis=0)])


def grown(graph: Graph, degree: int) -> Graph:
    """Add the edges one after the other, each if both of its ends still have fewer than ``degree``.

    Let a graph have further edges, all at one vertex v that has none otherwise, and let both grow side by side. Let m
    be the sum of the differences between their degrees at the other vertices, each taken as positive. An edge at v that
    is kept raises m by 1. Another edge that only one of the two graphs keeps is refused by the other because of an end
    that is full there alone; the difference at that end falls by 1, and at its other end it rises by at most 1. So m is
    at most the number of edges kept at v: Day, Li and Lyu, "Publishing Graph Degree Distribution with Node Differential
    Privacy", SIGMOD 2016. In the same way m, taken over all vertices, is at most 2 if there is one edge more.

    >>> grown(Graph.of([(0, 1), (0, 2), (0, 3), (2, 3)], vertices=4), degree=2).ends
    array([[0, 1], [0, 2], [2, 3]])
    """
    room = [degree] * graph.vertices
    kept = np.zeros(len(graph.ends), dtype=bool)
    for i, (a, b) in enumerate(graph.ends.tolist()):
        if room[a] and room[b]:
            kept[i] = True
            room[a] -= 1
            room[b] -= 1
    return Graph(graph.vertices, graph.ends[kept])
