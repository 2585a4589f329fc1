"""Marginals of a Bayesian network, beside the sum over everything."""

import itertools

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic.network import Conditional, Network

SIZES = (2, 3, 2, 4, 3)
PARENTS = {3: (), 1: (3,), 4: (1, 3), 0: (4,), 2: (0, 1)}


def network(seed=1):
    rng = np.random.default_rng(seed)
    tables = [
        Conditional(i, given, rng.dirichlet(np.ones(SIZES[i]), tuple(SIZES[j] for j in given)))
        for i, given in PARENTS.items()
    ]
    return Network(SIZES, tuple(tables), 90.0)


def joint(net):
    """The probability of every combination, one factor after the other."""
    whole = np.zeros(net.sizes)
    for cell in itertools.product(*(range(size) for size in net.sizes)):
        whole[cell] = np.prod(
            [one.table[(*(cell[j] for j in one.given), cell[one.attribute])] for one in net.conditionals]
        )
    return whole


def test_every_marginal_is_that_of_the_joint():
    net = network()
    whole = joint(net) * net.total
    for length in (1, 2, 3, 5):
        for kept in itertools.combinations(range(5), length):
            gone = tuple(i for i in range(5) if i not in kept)
            assert np.allclose(net.marginal(kept), whole.sum(axis=gone))


def test_as_a_tree_of_cliques_it_is_the_same():
    net = network(2)
    model = net.graphical()
    assert np.allclose(model.marginal((0, 1, 2, 3, 4)), joint(net) * net.total)
    assert net.graphical(most=10) is None


def test_zeros_stay_zero():
    table = np.array([[1.0, 0.0], [0.0, 1.0]])
    net = Network((2, 2), (Conditional(0, (), np.array([1.0, 0.0])), Conditional(1, (0,), table)), 10.0)
    assert net.marginal((0, 1)).tolist() == [[10.0, 0.0], [0.0, 0.0]]
    assert net.graphical().marginal((0, 1)).round(9).tolist() == [[10.0, 0.0], [0.0, 0.0]]


def test_a_table_that_is_too_large_is_refused():
    with pytest.raises(InvalidParameter, match="cells"):
        network().marginal((0, 1, 2, 3, 4), most=100)


def test_what_is_no_network_is_refused():
    good = network()
    with pytest.raises(InvalidParameter):
        Network(SIZES, good.conditionals[::-1], 1.0)
    with pytest.raises(InvalidParameter):
        Network(SIZES, good.conditionals[:-1], 1.0)
    with pytest.raises(InvalidParameter):
        good.marginal((5,))
