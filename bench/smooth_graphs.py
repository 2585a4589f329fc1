"""How long statistics of graphs take to look at data: value and all levels, seconds and peak memory, in one run.

    python bench/smooth_graphs.py [--edges 100000] [--vertices 100000]

Graphs are chosen to be hard: a hub that half of the vertices know makes nearly all pairs of vertices have a common
neighbour. The count of triangles alone stands beside the count with all levels, to show what these cost.
"""

import argparse
import resource
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt

from discreet.sensitivity.graphs import ConnectedComponents, Graph, SpanningTree, Stars, Triangles
from discreet.sensitivity.graphs.common import triangles

GOAL = 10.0

Edges = npt.NDArray[np.int64]


def seconds(function: Callable[[], object]) -> float:
    """Return the time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def graphs(vertices: int, edges: int) -> dict[str, Edges]:
    """Return graphs with about so many edges."""
    generator = np.random.default_rng(2011)
    half = min(edges, vertices) // 2
    leaves = np.arange(1, half + 1)
    hub = np.stack([np.zeros(half, dtype=np.int64), leaves], axis=1)
    rim = np.stack([leaves, np.roll(leaves, 1)], axis=1)
    clique = int((2 * edges) ** 0.5)
    return {
        "random": generator.integers(0, vertices, (edges, 2)),
        "hub": hub,
        "wheel": np.concatenate([hub, rim]),
        "hub and random": np.concatenate([hub, generator.integers(0, vertices, (edges - half, 2))]),
        "power law": np.minimum(generator.pareto(0.8, (edges, 2)) * 3, vertices - 1).astype(np.int64),
        "300 hubs": np.stack([generator.integers(0, 300, edges), generator.integers(300, vertices, edges)], axis=1),
        "clique": np.array(list(combinations(range(clique), 2))),
        "dense": generator.integers(0, 20 * int(edges**0.4), (edges, 2)),
    }


def trees(vertices: int) -> dict[str, npt.NDArray[np.float64]]:
    """Return weights of complete graphs."""
    generator = np.random.default_rng(2007)
    a, b = np.triu_indices(vertices, 1)
    points = generator.random((vertices, 2))
    points[: vertices // 2] += 5
    return {
        "uniform": generator.random(a.size),
        "two clusters": np.hypot(*(points[a] - points[b]).T) / 8,
        "mostly tiny": generator.random(a.size) ** 20,
    }


def main() -> None:
    """Measure and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--vertices", type=int, default=100_000)
    options = parser.parse_args()
    n = options.vertices
    functions = (Triangles(vertices=n), Stars(k=3, vertices=n), ConnectedComponents(vertices=n))
    print(f"seconds for value and levels, {options.edges:,} edges, {n:,} vertices (goal: {GOAL:g})\n")
    print(f"{'':<16}{'edges':>9}{'triangles':>11}{'(count alone)':>15}{'3-stars':>9}{'components':>12}{'peak MiB':>10}")
    for name, edges in graphs(n, options.edges).items():
        times = [seconds(lambda f=function, e=edges: f.at(e)) for function in functions]
        alone = seconds(lambda e=edges: triangles(Graph.of(e, n).ranked()))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name:<16}{len(Graph.of(edges, n).ends):>9,}{times[0]:>11.2f}{alone:>15.2f}{times[1]:>9.2f}"
            f"{times[2]:>12.2f}{peak:>10.0f}"
        )
    print("\nseconds for a minimum spanning tree and its levels (exact up to 64 vertices, a bound beyond)\n")
    sizes = (16, 64, 128, 1000)
    print(f"{'vertices':<16}" + "".join(f"{size:>9}" for size in sizes))
    measured = {
        size: {
            name: seconds(lambda w=weights, s=size: SpanningTree(vertices=s, bound=1).at(w))
            for name, weights in trees(size).items()
        }
        for size in sizes
    }
    for name in measured[sizes[0]]:
        print(f"{name:<16}" + "".join(f"{measured[size][name]:>9.2f}" for size in sizes))


if __name__ == "__main__":
    main()
