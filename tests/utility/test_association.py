"""Cramer's V beside scipy's, and where it was lost or made up."""

import numpy as np
import pytest
from scipy.stats import contingency

from discreet.utility import associations, cramers_v


def test_it_is_scipys():
    rng = np.random.default_rng(1)
    for shape in ((2, 2), (3, 5), (7, 4)):
        table = rng.integers(1, 50, shape)
        assert cramers_v(table) == pytest.approx(contingency.association(table, method="cramer"))
        padded = np.pad(table, 1)
        assert cramers_v(padded) == pytest.approx(cramers_v(table))


def test_the_ends():
    assert cramers_v(np.diag([5, 9, 1])) == pytest.approx(1)
    assert cramers_v(np.outer([1, 2, 3], [4, 5])) == pytest.approx(0, abs=1e-9)
    assert cramers_v(np.zeros((3, 3))) == 0
    assert cramers_v([[4]]) == 0


def test_a_lost_association_is_below_zero():
    rng = np.random.default_rng(2)
    first = rng.integers(0, 3, 2000)
    real = np.stack([first, first, rng.integers(0, 2, 2000)], axis=1)
    made = np.stack([first, rng.permutation(first), real[:, 2]], axis=1)
    found = associations(real, made, sizes=(3, 3, 2))
    assert found.difference[0, 1] == pytest.approx(-1, abs=0.1)
    assert abs(found.difference[0, 2]) < 0.1
    assert np.array_equal(found.difference, found.difference.T)
    assert found.worst == abs(found.difference[0, 1])
    pairs = [abs(found.difference[i, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert found.mean == pytest.approx(np.mean(pairs))
    assert "NOT private" in found.note


def test_one_attribute_has_no_pairs():
    found = associations([[0], [1]], [[1]], sizes=(2,))
    assert found.mean == found.worst == 0
