"""The quadtree: its levels, its budget, and least squares against the normal equations."""

import math
import warnings

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.errors import NotPrivateWarning
from discreet.mechanisms import Geometric
from discreet.synthetic.estimators.levels import KNOWN
from discreet.synthetic.estimators.quad_tree import QuadTree
from discreet.synthetic.matrix_mechanism import noise_variance
from discreet.testing import seeded


@pytest.fixture
def repeatable(request):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


def rows(tree):
    """Return the matrix of all nodes that are measured, written out from the definition of the cuts."""
    matrix, level_of = [], []
    for level in tree.measured:
        cuts = [sorted({t * side // 2**level for t in range(2**level + 1)}) for side in tree.shape]
        for top, bottom in zip(cuts[0], cuts[0][1:], strict=False):
            for left, right in zip(cuts[1], cuts[1][1:], strict=False):
                node = np.zeros(tree.shape)
                node[top:bottom, left:right] = 1
                matrix.append(node.reshape(-1))
                level_of.append(level)
    return np.array(matrix), np.array(level_of)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (1, 6), (7, 8)])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_estimate_is_weighted_least_squares(shape, relation, monkeypatch):
    outputs = []
    honest = Geometric.release

    def release(noise, value):
        outputs.append(honest(noise, value))
        return outputs[-1]

    monkeypatch.setattr(Geometric, "release", release)
    data = np.random.default_rng(3).integers(0, 40, shape)
    tree = QuadTree(shape=shape, epsilon=1, relation=relation)
    estimate = tree.release(data)
    matrix, level_of = rows(tree)
    measured = np.concatenate(outputs)
    assert len(measured) == len(matrix)
    precision = {level: 1 / noise_variance(part) for level, part in zip(tree.measured, tree.parts, strict=True)}
    root = np.array([precision[level] for level in level_of]) ** 0.5
    if relation == "replace_one":  # the number of records is known
        matrix, measured = np.vstack([matrix, np.ones(data.size)]), np.append(measured, data.sum())
        root = np.append(root, KNOWN**-0.5)
    expected, *_ = np.linalg.lstsq(matrix * root[:, None], measured * root, rcond=None)
    assert np.allclose(estimate.reshape(-1), expected, atol=1e-4)
    if relation == "replace_one":
        assert estimate.sum() == pytest.approx(data.sum(), abs=1e-6)


def test_shares_grow_by_the_cube_root_of_two():
    tree = QuadTree(shape=(64, 64), epsilon=1, relation="add_remove")
    epsilons = [float(part.epsilon) for part in tree.parts]
    assert len(epsilons) == 7
    assert np.allclose(np.array(epsilons[1:]) / epsilons[:-1], 2 ** (1 / 3))


def test_under_replace_one_the_root_is_not_measured():
    moved = QuadTree(shape=(8, 8), epsilon=1, relation="replace_one")
    assert list(moved.measured) == [1, 2, 3]
    assert {part.sensitivity for part in moved.parts} == {2}
    assert {part.sensitivity for part in QuadTree(shape=(8, 8), epsilon=1, relation="add_remove").parts} == {1}


def test_estimate_is_unbiased(repeatable):
    data = np.zeros((4, 4), dtype=np.int64)
    data[1, 2] = 50
    tree = QuadTree(shape=(4, 4), epsilon=1, relation="add_remove")
    draws = np.array([tree.release(data) for _ in range(3000)])
    assert (np.abs(draws.mean(axis=0) - data) < 7 * draws.std(axis=0) / math.sqrt(len(draws))).all()


def test_a_low_tree_spreads_its_blocks_evenly():
    data = np.zeros((8, 8), dtype=np.int64)
    data[0, 0] = 160
    estimate = QuadTree(shape=(8, 8), epsilon=10**6, relation="add_remove", height=1).release(data)
    assert np.allclose(estimate[:4, :4], 10)
    assert np.allclose(estimate[4:, :], 0)
    assert QuadTree(shape=(8, 8), epsilon=1, relation="replace_one", height=0).release(data).std() == 0


@pytest.mark.parametrize("height", [-1, 21, 2.0, True, None])
def test_height_is_a_whole_number(height):
    with pytest.raises(InvalidParameter, match="height"):
        QuadTree(shape=(4, 4), epsilon=1, relation="add_remove", height=height)
