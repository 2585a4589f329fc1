"""Ranges against their matrix written out."""

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.bench import Ranges


@pytest.mark.parametrize("sizes", [(1,), (9,), (4, 5), (1, 6), (2, 3, 2)])
def test_products_are_those_of_the_matrix(sizes):
    boxes = Ranges.random(sizes, 60, seed=1)
    matrix = np.zeros((60, *sizes), dtype=np.int64)
    for row, (low, high) in enumerate(zip(boxes.first, boxes.last, strict=True)):
        matrix[(row, *(slice(a, b + 1) for a, b in zip(low, high, strict=True)))] = 1
    matrix = matrix.reshape(60, -1)
    draw = np.random.default_rng(0)
    x, y = draw.integers(-9, 9, (matrix.shape[1], 3)), draw.integers(-9, 9, (60, 2))
    assert (boxes.dense() == matrix).all()
    assert (boxes.matvec(x) == matrix @ x).all()
    assert (boxes.matvec(x[:, 0]) == matrix @ x[:, 0]).all()
    assert (boxes.rmatvec(y) == matrix.T @ y).all()
    assert (boxes.rmatvec(y[:, 0]) == matrix.T @ y[:, 0]).all()
    assert (boxes.column_norms(1) == matrix.sum(axis=0)).all()
    assert (boxes.column_norms(2) == matrix.sum(axis=0)).all()
    assert boxes.reach == matrix.sum(axis=1).max()
    assert boxes.sensitivity(1, relation="add_remove") == matrix.sum(axis=0).max()
    away = max(np.abs(a - b).sum() for a in matrix.T for b in matrix.T)
    assert boxes.sensitivity(1, relation="replace_one") == away
    assert np.allclose(boxes.gram(), matrix.T @ matrix)


def test_random_ranges_are_even_over_all_ranges():
    """Each of the 10 ranges of 4 cells appears as often, within 7 standard errors."""
    boxes = Ranges.random((4,), 50_000)
    found = np.bincount(4 * boxes.first[:, 0] + boxes.last[:, 0], minlength=16).reshape(4, 4)
    chance = 0.1
    assert (found[np.tril_indices(4, -1)] == 0).all()
    assert (np.abs(found[np.triu_indices(4)] / 50_000 - chance) < 7 * (chance / 50_000) ** 0.5).all()


def test_same_seed_same_ranges():
    assert Ranges.random((64, 64), 10, seed=3) == Ranges.random((64, 64), 10, seed=3)
    assert hash(Ranges.random((64,), 10)) == hash(Ranges.random((64,), 10))
    assert Ranges.random((64, 64), 10, seed=3) != Ranges.random((64, 64), 10, seed=4)
    assert repr(Ranges.random((64, 64), 10)) == "<10 ranges of 64 x 64 cells>"


def test_two_thousand_ranges_of_a_large_plane_are_their_sums():
    boxes, x = Ranges.random((256, 256), 2000), np.random.default_rng(0).random(256 * 256)
    found, plane = boxes.matvec(x), x.reshape(256, 256)
    for row in range(0, 2000, 97):
        low, high = boxes.first[row], boxes.last[row]
        wanted = plane[low[0] : high[0] + 1, low[1] : high[1] + 1].sum()
        assert np.isclose(found[row], wanted)


@pytest.mark.parametrize(
    ("first", "last"),
    [([[0]], [[4]]), ([[-1]], [[2]]), ([[3]], [[2]]), ([[0.5]], [[1]]), ([0], [1]), ([[0, 0]], [[1, 1]]), ([], [])],
)
def test_refuses_ranges_outside(first, last):
    with pytest.raises(InvalidParameter):
        Ranges(sizes=(4,), first=first, last=last)


def test_what_is_held_cannot_be_written_to():
    first = np.array([[0], [1]])
    boxes = Ranges(sizes=(4,), first=first, last=[[3], [2]])
    first[0, 0] = 2
    assert boxes.matvec([1, 1, 1, 1]).tolist() == [4, 2]
    with pytest.raises(ValueError, match="read-only"):
        boxes.last[0, 0] = 0
