import numpy as np
import pytest
from all_graphs import WRONG, Changed, check

from discreet.sensitivity.graphs import ConnectedComponents, components


def count(vertices):
    def statistic(edges):
        label = list(range(vertices))
        for a, b in edges:
            label = [label[a] if one == label[b] else one for one in label]
        return len(set(label))

    return statistic


@pytest.mark.parametrize("vertices", [2, 3, 4, 5])
def test_levels_are_those_of_the_definition(vertices):
    assert check(ConnectedComponents(vertices=vertices), count(vertices)) == 2 ** (vertices * (vertices - 1) // 2)


@pytest.mark.parametrize("vertices", [4, 5])
def test_with_many_vertices_levels_are_smooth_bounds(vertices, monkeypatch):
    monkeypatch.setattr(components, "EXACT", 0)
    seen = check(ConnectedComponents(vertices=vertices), count(vertices), exact=False)
    assert seen == 2 ** (vertices * (vertices - 1) // 2)


@pytest.mark.parametrize("change", WRONG[:2])
def test_wrong_levels_are_caught(change):
    with pytest.raises(AssertionError):
        check(Changed(ConnectedComponents(vertices=4), change), count(4), exact=False)


def test_without_records_every_vertex_is_alone():
    assert ConnectedComponents(vertices=7).at([]).value == 7
    assert ConnectedComponents(vertices=1).at([]).local(3) == 0


def test_a_ring_of_many_is_held_twice():
    around = np.arange(100_000)
    ring = np.stack([around, np.roll(around, 1)], axis=1)
    here = ConnectedComponents(vertices=around.size).at(ring)
    assert (here.value, here.local(0), here.local(1)) == (1, 0, 1)
    broken = ConnectedComponents(vertices=around.size).at(ring[1:])
    assert (broken.value, broken.local(0)) == (1, 1)
