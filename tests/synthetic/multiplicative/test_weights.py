"""Weights in blocks, and as lessons in a tree, are the same distribution as one table of everything."""

import itertools
import math

import numpy as np
import pytest

from discreet import InvalidInput
from discreet.synthetic.multiplicative.weights import Weights

SIZES = (2, 3, 2, 4)
LESSONS = [(0,), (1, 2), (2, 3), (1,), (0, 3), (1, 2), ()]
CHAIN = [(0,), (1, 2), (2, 3), (), (0, 1), (1,), (1, 2), ()]


def brute(sizes, lessons, nobody):
    """All weights in one table, and that of nobody."""
    logs = np.zeros(sizes)
    for attributes, table in lessons:
        shape = [sizes[i] if i in attributes else 1 for i in range(len(sizes))]
        logs = logs + table.reshape(shape)
    weights = np.exp(logs)
    return weights / (weights.sum() + (1 if nobody else 0))


def drawn(seed, sets=LESSONS, scale=1.0):
    rng = np.random.default_rng(seed)
    return [(a, scale * rng.normal(size=tuple(SIZES[i] for i in a))) for a in sets]


@pytest.mark.parametrize("nobody", [False, True])
@pytest.mark.parametrize("cells", [24, 48, 1000], ids=["tree", "full", "free"])
def test_every_table_is_that_of_all_lessons(nobody, cells):
    sets = CHAIN if cells == 24 else LESSONS
    weights, lessons = Weights(SIZES, cells=cells, nobody=nobody), drawn(1, sets)
    for done, (attributes, table) in enumerate(lessons):
        assert weights.fits(attributes)
        weights.multiply(attributes, table)
        whole = brute(SIZES, lessons[: done + 1], nobody)
        assert weights.somebody == pytest.approx(whole.sum(), rel=1e-12)
        for count in range(5):
            for kept in itertools.combinations(range(4), count):
                expected = whole.sum(axis=tuple(i for i in range(4) if i not in kept))
                assert weights.table(kept) == pytest.approx(expected, rel=1e-9)
    assert (weights.blocks is None) == (cells == 24)
    model = weights.model(50.0)
    assert model.sizes == SIZES
    assert model.marginal((0, 1, 2, 3)) == pytest.approx(50 * whole / whole.sum(), rel=1e-9)


def test_blocks_join_only_what_met():
    weights = Weights(SIZES, cells=100)
    weights.multiply((0, 2), np.zeros((2, 2)))
    assert sorted(weights.blocks) == [(0, 2), (1,), (3,)]
    weights.multiply((1, 2), np.zeros((3, 2)))
    assert sorted(weights.blocks) == [(0, 1, 2), (3,)]


def test_what_does_not_fit_is_refused_and_changes_nothing():
    weights = Weights((10,) * 4, cells=200)
    for pair in ((0, 1), (2, 3)):
        weights.multiply(pair, np.ones((10, 10)))
    before = weights.table((0, 1, 2)).copy()
    assert not weights.fits((0, 1, 2))
    with pytest.raises(InvalidInput, match="joins too many"):
        weights.multiply((0, 1, 2), np.zeros((10,) * 3))
    assert (weights.table((0, 1, 2)) == before).all()


def test_extreme_lessons_neither_overflow_nor_vanish():
    weights = Weights((3,), cells=3)
    for _ in range(500):
        weights.multiply((0,), np.array([-50.0, 0.0, 50.0]))
    assert weights.table((0,)).tolist() == [0, 0, 1]
    for _ in range(500):
        weights.multiply((0,), np.array([50.0, 0.0, -50.0]))
    assert weights.table((0,)) == pytest.approx([1 / 3] * 3)


def test_a_large_domain_of_many_attributes_stays_small():
    sizes = (10,) * 30
    weights = Weights(sizes, cells=10_000, nobody=True)
    for i in range(29):
        weights.multiply((i, i + 1), np.eye(10))
    assert weights.blocks is None
    single = np.full(10, 0.1) * weights.somebody
    assert weights.table((0,)) == pytest.approx(single, rel=1e-9)
    assert weights.somebody == pytest.approx(1 / (1 + math.exp(-(math.log(10) + 29 * math.log(9 + math.e)))))


def test_copies_do_not_follow():
    weights = Weights((2, 2), cells=4)
    other = weights.copy()
    weights.multiply((0, 1), np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert other.table((0, 1)).tolist() == [[0.25, 0.25], [0.25, 0.25]]
