import math

import numpy as np
import pytest
from all_graphs import WRONG, Changed, check

from discreet.errors import InvalidParameter
from discreet.sensitivity.graphs import Stars
from discreet.sensitivity.graphs.stars import _binomials


def count(k, vertices):
    def statistic(edges):
        degrees = np.bincount(np.array(edges, dtype=int).reshape(-1), minlength=vertices)
        return sum(math.comb(int(degree), k) for degree in degrees)

    return statistic


@pytest.mark.parametrize("vertices", [2, 3, 4, 5])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_levels_are_those_of_the_definition(vertices, k):
    assert check(Stars(k=k, vertices=vertices), count(k, vertices)) == 2 ** (vertices * (vertices - 1) // 2)


@pytest.mark.parametrize("change", WRONG)
def test_wrong_levels_are_caught(change):
    with pytest.raises(AssertionError):
        check(Changed(Stars(k=2, vertices=4), change), count(2, 4), exact=False)


def test_the_edge_itself_does_not_count():
    single = Stars(k=2, vertices=3).at([(0, 1)])
    assert [single.local(s) for s in range(3)] == [1, 2, 2]


@pytest.mark.parametrize(("most", "choose"), [(5, 2), (5, 5), (5, 6), (60, 30), (100, 50), (1000, 7), (300, 250)])
def test_binomials_are_exact_or_rounded_up_a_little(most, choose):
    for x, found in enumerate(_binomials(most, choose).tolist()):
        wanted = math.comb(x, choose)
        assert wanted <= found <= wanted * (1 + 2**-40)
        assert wanted > 2**53 or isinstance(found, float) or found == wanted


def test_huge_counts_are_whole_and_levels_are_above_them():
    many = 100_000
    hub = np.stack([np.zeros(many - 1, dtype=int), np.arange(1, many)], axis=1)
    here = Stars(k=12, vertices=many).at(hub)
    assert here.value == math.comb(many - 1, 12)
    exact = math.comb(many - 2, 11)
    assert exact <= here.local() <= exact * (1 + 2**-40)
    assert here.levels.size < 2 * many


@pytest.mark.parametrize("k", [1, 0, 2.0, None])
def test_a_star_has_two_rays_or_more(k):
    with pytest.raises(InvalidParameter, match="the rays of a star"):
        Stars(k=k, vertices=5)


def test_counts_beyond_floats_are_refused():
    with pytest.raises(InvalidParameter, match="fewer than 2\\^1000"):
        Stars(k=200, vertices=100_000)


def test_one_vertex_has_none():
    assert Stars(k=2, vertices=1).at([]).local(5) == 0
