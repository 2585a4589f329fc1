import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.mechanisms.bounded_local import BoundedLocal, Fitted
from discreet.sensitivity import Mean
from discreet.sensitivity.smooth import Constant, Levels, Median
from discreet.testing import check_mechanism

NODES = 5


@dataclass(frozen=True)
class Triangles:
    """Triangles of a graph on a few nodes; an edge moves as many as its ends have common neighbours."""

    relation: str = "add_remove"
    size: int | None = None
    range: tuple[int, int] = (0, math.comb(NODES, 3))
    dimension: int = 1
    norm: float = 1.0

    def __repr__(self):
        return "<triangles>"

    def at(self, edges):
        a = np.zeros((NODES, NODES), dtype=int)
        for i, j in edges:
            a[i, j] = a[j, i] = 1
        common = a @ a
        local = max(common[i, j] for i, j in combinations(range(NODES), 2))
        return Levels(int(np.trace(common @ a)) // 6, np.array([float(local)]))


@pytest.mark.parametrize("size", [1e-300, 2.0**-996, 1e300, 2.0**997])
@pytest.mark.parametrize("share", [2, 1e-3])
@pytest.mark.parametrize("steps", [1, 1024])
def test_what_could_not_be_released_is_refused_before_there_are_data(size, share, steps):
    with pytest.raises(InvalidParameter):
        BoundedLocal(
            function=Median(bounds=(-size, size)), sensitivity=size * share, epsilon=0.1, delta=1e-6, steps=steps
        )


@pytest.mark.parametrize("size", [2.0**-900, 1, 2.0**700])
def test_what_is_not_refused_is_released_whatever_the_data(size):
    made = BoundedLocal(function=Median(bounds=(-size, size)), sensitivity=2 * size, epsilon=0.1, delta=1e-6)
    for data in ([], [0.0] * 9, [-size] * 5 + [size] * 4, [size] * 9):
        assert all(math.isfinite(made.release(data).value) for _ in range(5))


def test_no_two_values_are_further_apart_than_the_largest_bound():
    """Else a local sensitivity of very many tiny steps would be cut, and the noise be for that."""
    whole = Constant(query=Mean(bounds=(0, 1), size=1), relation="replace_one", range=(0, 1))
    with pytest.raises(InvalidParameter, match="steps"):
        BoundedLocal(function=whole, sensitivity=1e-90, epsilon=1, delta=1e-6)
    fine = BoundedLocal(function=whole, sensitivity=1e-50, epsilon=1, delta=1e-6)
    assert all(fine.release([k]).bound >= 1 - 1e-9 for k in (0, 1))


def release(**given):
    defaults = {"function": Triangles(), "sensitivity": 1, "epsilon": 2, "delta": 1e-3, "steps": 1}
    return BoundedLocal(**(defaults | given))


def test_the_local_sensitivity_of_triangles_moves_by_one():
    edges = list(combinations(range(NODES), 2))
    graphs = [frozenset(e for b, e in enumerate(edges) if mask >> b & 1) for mask in range(2 ** len(edges))]
    seen = {graph: Triangles().at(graph) for graph in graphs}
    for graph in graphs:
        for edge in edges:
            other = graph ^ {edge}
            assert abs(seen[graph].local() - seen[other].local()) <= 1
            assert abs(seen[graph].value - seen[other].value) <= seen[graph].local()


def test_the_bound_holds_but_for_delta():
    made, square = release(delta=0.05), [(0, 1), (1, 2), (2, 3), (3, 0)]
    draws = [made.release(square) for _ in range(4000)]
    short = sum(draw.bound < 2 for draw in draws)
    assert short <= 4000 * 0.05 + 7 * math.sqrt(4000 * 0.05)
    assert all(draw.bound >= 1 for draw in draws)


def test_the_noise_is_for_the_bound():
    made = release(epsilon=4)
    for bound in (1, 5):
        noise = made._fitted(bound)
        assert noise.epsilon == 2
        assert noise.scale == pytest.approx(bound / 2, rel=1e-8)
        assert noise.scale > Fraction(bound, 2)


def test_a_finer_grid():
    made = release(steps=1024, sensitivity=0.5)
    assert made.step == Fraction(1, 2048)
    assert made._steps(0.3) == math.ceil(0.3 * 2048)
    assert made.loss.epsilon(made.delta) <= 2
    assert made._steps(math.inf) == made._steps(1e300) == made._steps(math.nan)


def test_keeps_the_contract():
    made = release(epsilon=8, delta=0.05, grid=1, test=Fraction(1, 2))
    outputs = [Fitted(float(y), float(b)) for b in range(1, 13) for y in range(-90, 91)]
    neighbours = ([(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)])
    done = check_mechanism(made, outputs=outputs, neighbours=neighbours)
    assert {"interface", "frozen", "keyword-only", "loss", "claim", "law"} <= set(done.passed)


def test_outputs_that_cannot_be():
    made = release(grid=1)
    assert made.log_probability([], Fitted(0.0, 0.5)) == -math.inf
    assert made.log_probability([], Fitted(0.0, 0.0)) == -math.inf
    assert made.log_probability([], Fitted(0.5, 1.0)) != 0


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"function": len}, "local sensitivity"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"delta": 0.5}, "below 1/2"),
        ({"steps": 0}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"test": 0}, "test"),
        ({"epsilon": 0}, "epsilon"),
        ({"grid": 0.3}, "power of two"),
        ({"grid": 0}, "grid"),
    ],
)
def test_what_cannot_be(given, match):
    with pytest.raises(InvalidParameter, match=match):
        release(**given)


def test_repr():
    assert repr(release()) == ("BoundedLocal(function=<triangles>, sensitivity=1, epsilon=2, delta=0.001, steps=1)")
