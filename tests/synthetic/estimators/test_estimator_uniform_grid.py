"""The even grid: how fine it is, and what it spreads."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.errors import NotPrivateWarning
from discreet.synthetic.estimators.blocks import block_of, grid_labels
from discreet.synthetic.estimators.uniform_grid import UniformGrid
from discreet.synthetic.matrix_mechanism import noise_variance
from discreet.testing import seeded


@pytest.fixture
def repeatable(request):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


@pytest.mark.parametrize("size", range(1, 40))
def test_blocks_are_nearly_equal_nested_and_in_order(size):
    for blocks in range(1, size + 1):
        places = block_of(np.arange(size), size, blocks)
        starts = [t * size // blocks for t in range(blocks)]
        assert places.tolist() == [max(t for t in range(blocks) if starts[t] <= i) for i in range(size)]
        lengths = np.bincount(places)
        assert len(lengths) == blocks
        assert lengths.max() - lengths.min() <= 1
        if 2 * blocks <= size:
            finer = block_of(np.arange(size), size, 2 * blocks)
            assert (finer // 2 == places).all()


def test_labels_count_row_by_row():
    assert grid_labels((4, 4), (2, 2)).tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]


def test_fineness_is_the_rule_of_the_paper():
    moved = UniformGrid(shape=(64, 64), epsilon=1, relation="replace_one")
    assert moved.side(10_000) == round(math.sqrt(10_000 * 0.5 / 10))
    assert UniformGrid(shape=(64, 64), epsilon=1, relation="add_remove", constant=0.95).side(10_000) == 100
    assert moved.side(0) == 1


def test_parts():
    here = UniformGrid(shape=(64, 64), epsilon=1, relation="add_remove")
    assert [(part.sensitivity, part.epsilon) for part in here.parts] == [(1, Fraction(1, 20)), (1, Fraction(19, 20))]
    moved = UniformGrid(shape=(64, 64), epsilon=1, relation="replace_one")
    assert [(part.sensitivity, part.epsilon) for part in moved.parts] == [(2, 1)]


def test_under_replace_one_blocks_have_the_known_mean_and_variance(repeatable):
    """The number of records is public, so the grid is fixed: 2 x 2 blocks of 4 cells, each with noise of its own."""
    data = np.arange(16).reshape(4, 4)
    grid = UniformGrid(shape=(4, 4), epsilon=1, relation="replace_one", constant=15)
    assert grid.side(data.sum()) == 2
    draws = np.array([grid.release(data) for _ in range(20_000)])
    blocks = draws.reshape(-1, 2, 2, 2, 2)
    assert (blocks == blocks[:, :, :1, :, :1]).all()
    sums = 4 * blocks[:, :, 0, :, 0]
    expected = data.reshape(2, 2, 2, 2).sum(axis=(1, 3))
    variance = noise_variance(grid.parts[0])
    assert (np.abs(sums.mean(axis=0) - expected) < 7 * math.sqrt(variance / len(draws))).all()
    fourth = 6 * variance**2 / len(draws)  # the kurtosis of Laplace noise is 6
    assert (np.abs(sums.var(axis=0) - variance) < 7 * math.sqrt(fourth)).all()


@pytest.mark.parametrize("wrong", [{"constant": 0}, {"constant": -1}, {"total_share": 0}, {"total_share": 1}], ids=str)
def test_refuses(wrong):
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        UniformGrid(shape=(4, 4), epsilon=1, relation="add_remove", **wrong)
