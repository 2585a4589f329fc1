"""Propagation names people where the networks share links, and nobody where they share none."""

import numpy as np
import pytest

from discreet.auditing.attacks.graphs import reidentify_graph
from discreet.datasets import Networks, networks
from discreet.errors import InvalidParameter


@pytest.fixture(scope="module")
def pair():
    return networks(1_200)


def test_seeds_name_the_others(pair):
    found = reidentify_graph(pair, seeds=(1, 40), draws=1)
    assert found.right[0] < 0.05
    assert found.right[1] > 0.7
    assert found.wrong[1] < 0.1
    assert found.enough == 40


def test_without_common_links_nobody_is_named_rightly(pair):
    """The same target with its nodes renamed at random: the seeds are right, the links say nothing."""
    renamed = np.argsort(np.random.RandomState(1).random_sample(pair.target_nodes))
    foreign = Networks(pair.auxiliary, renamed[pair.target], pair.truth, pair.target_nodes)
    found = reidentify_graph(foreign, seeds=(40,), draws=1)
    assert found.right[0] <= 0.01


def test_a_copy_is_named_almost_in_whole():
    same = networks(600, keep_people=1.0, keep_links=1.0)
    assert reidentify_graph(same, seeds=(40,), draws=1).right[0] > 0.95


def test_the_answer_is_the_same_every_time(pair):
    first, again = (reidentify_graph(pair, seeds=(20,), draws=1).right for _ in range(2))
    assert first == again


def test_it_speaks_and_draws(pair):
    found = reidentify_graph(pair, seeds=(2, 20), draws=1)
    assert "only links" in str(found)
    assert "one link" in str(found)
    assert found.plot().to_dict()["title"]["text"]


@pytest.mark.parametrize("seeds", [(), (0,), (10**6,)])
def test_refuses_what_cannot_be_asked(pair, seeds):
    with pytest.raises(InvalidParameter):
        reidentify_graph(pair, seeds=seeds)
