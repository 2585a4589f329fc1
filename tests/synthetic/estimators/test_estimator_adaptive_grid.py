"""The adaptive grid: how blocks are cut, and that both counts of a block are joined by least squares."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.mechanisms import Geometric
from discreet.synthetic.estimators.adaptive_grid import AdaptiveGrid, _cut
from discreet.synthetic.matrix_mechanism import noise_variance


def test_fineness_is_the_rule_of_the_paper():
    grid = AdaptiveGrid(shape=(256, 256), epsilon=1, relation="add_remove", total_share=Fraction(1, 10**9))
    assert grid.side(0) == grid.side(10_000) == 10
    assert grid.side(1_000_000) == math.ceil(math.sqrt(1_000_000 / 10) / 4)
    assert grid.sides(np.array([-5.0, 0.0, 1.0, 1000.0])).tolist() == [1, 1, 1, math.ceil(math.sqrt(1000 * 0.5 / 5))]
    moved = AdaptiveGrid(shape=(256, 256), epsilon=1, relation="replace_one")
    assert moved.sides(np.array([1000.0])).tolist() == [math.ceil(math.sqrt(1000 * 0.25 / 5))]


def test_parts():
    here = AdaptiveGrid(shape=(64, 64), epsilon=1, relation="add_remove", first_share=Fraction(1, 4))
    shares = [Fraction(1, 20), Fraction(19, 80), Fraction(57, 80)]
    assert [(part.sensitivity, part.epsilon) for part in here.parts] == [(1, share) for share in shares]
    moved = AdaptiveGrid(shape=(64, 64), epsilon=1, relation="replace_one")
    assert [(part.sensitivity, part.epsilon) for part in moved.parts] == [(2, Fraction(1, 2))] * 2


@pytest.mark.parametrize("shape", [(7, 9), (12, 5), (10, 10), (1, 8)])
def test_parts_lie_within_blocks_and_are_as_many_as_wanted(shape):
    draw = np.random.default_rng(2)
    for _ in range(20):
        grid = tuple(int(draw.integers(1, side + 1)) for side in shape)
        sides = draw.integers(1, 6, math.prod(grid))
        labels, parts = _cut(shape, grid, sides)
        labels = labels.reshape(shape)
        cuts = [[t * side // count for t in range(count + 1)] for side, count in zip(shape, grid, strict=True)]
        first = 0
        for block, wanted in enumerate(sides):
            row, column = divmod(block, grid[1])
            inside = labels[cuts[0][row] : cuts[0][row + 1], cuts[1][column] : cuts[1][column + 1]]
            down, across = (min(wanted, length) for length in inside.shape)
            assert parts[block] == down * across
            assert sorted(set(inside.reshape(-1).tolist())) == list(range(first, first + parts[block]))
            assert all(len(set(line.tolist())) == across for line in inside)
            assert all(len(set(line.tolist())) == down for line in inside.T)
            first += parts[block]


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_estimate_is_weighted_least_squares(relation, monkeypatch):
    outputs = []
    honest = Geometric.release

    def release(noise, value):
        outputs.append(honest(noise, value))
        return outputs[-1]

    monkeypatch.setattr(Geometric, "release", release)
    shape = (24, 23)
    data = np.random.default_rng(4).poisson(300, shape)
    mechanism = AdaptiveGrid(shape=shape, epsilon=Fraction(1, 20), relation=relation, first_share=0.3)
    estimate = mechanism.release(data)
    above, below = outputs[-2:]
    side = math.isqrt(len(above))
    assert side == 10
    labels, parts = _cut(shape, (side, side), mechanism.sides(above.astype(float)))
    assert len(set(parts.tolist())) > 1
    owner = np.repeat(np.arange(len(parts)), parts)
    coarse, fine = (noise_variance(part) for part in mechanism.parts[-2:])
    matrix = np.vstack([(owner == np.arange(len(parts))[:, None]) / coarse**0.5, np.eye(len(below)) / fine**0.5])
    expected, *_ = np.linalg.lstsq(matrix, np.concatenate([above / coarse**0.5, below / fine**0.5]), rcond=None)
    assert np.allclose(np.bincount(labels, weights=estimate.reshape(-1)), expected)
    spread = [np.ptp(estimate.reshape(-1)[labels == part]) for part in range(len(below))]
    assert max(spread) == 0


@pytest.mark.parametrize(
    "wrong", [{"constant": 0}, {"second_constant": -1}, {"first_share": 1}, {"total_share": 2}], ids=str
)
def test_refuses(wrong):
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        AdaptiveGrid(shape=(4, 4), epsilon=1, relation="add_remove", **wrong)
