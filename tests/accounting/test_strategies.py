"""Factorisations: the sensitivity of a tree and of any strategy, by trying what a record can do."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.accounting.theorems import strategy_sensitivity
from discreet.errors import InvalidParameter


def tree(steps):
    """One row for each node of the binary tree over the steps, as far as it is complete."""
    rows = []
    size = 1
    while size <= steps:
        for start in range(0, steps - size + 1, size):
            row = np.zeros(steps)
            row[start : start + size] = 1
            rows.append(row)
        size *= 2
    return np.array(rows)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 8, 9, 100])
def test_a_tree_is_its_own_strategy(steps):
    square = strategy_sensitivity(tree(steps)) ** 2
    assert square == pytest.approx(math.floor(math.log2(steps)) + 1)
    assert PrivacyLoss.tree(steps, 3).rho == pytest.approx(square / 18)
    assert PrivacyLoss.matrix(tree(steps), 3).rho == pytest.approx(square / 18)


def tried(columns, generator):
    """The largest norm of ``sum c_t g_t^T`` over random unit vectors g_t, equal ones and signs among them."""
    count = columns.shape[1]
    best = 0.0
    for _ in range(300):
        g = generator.standard_normal((count, 3))
        g /= np.linalg.norm(g, axis=1, keepdims=True)
        best = max(best, np.linalg.norm(columns @ g))
    for signs in np.ndindex(*[2] * count):
        best = max(best, np.linalg.norm(columns @ (2 * np.array(signs) - 1)))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_no_record_moves_a_strategy_further(seed):
    generator = np.random.default_rng(seed)
    strategy = np.tril(generator.standard_normal((6, 6)))
    if seed % 2:
        strategy = np.abs(strategy)
    assert strategy_sensitivity(strategy) == pytest.approx(np.linalg.norm(strategy, axis=0).max())
    for epoch in (1, 2, 3):
        found = strategy_sensitivity(strategy, epoch=epoch)
        worst = max(tried(strategy[:, start::epoch], generator) for start in range(epoch))
        assert worst <= found * (1 + 1e-12)
        if seed % 2:
            assert worst == pytest.approx(found)
            assert found > 1.1 * strategy_sensitivity(strategy)
    assert strategy_sensitivity(strategy, epoch=6) == strategy_sensitivity(strategy)


def test_columns_that_point_apart_are_not_trusted_to_cancel():
    """Their sum is short, but a record may turn one of its gradients around."""
    strategy = [[1, -1], [0, 0.5]]
    assert np.linalg.norm(np.sum(strategy, axis=1)) < 1
    assert strategy_sensitivity(strategy, epoch=1) == pytest.approx(1 + math.sqrt(1.25))


def test_the_loss_is_gaussian_noise():
    assert PrivacyLoss.tree(1, 2) == PrivacyLoss.gaussian(mu=Fraction(1, 2))
    assert PrivacyLoss.matrix(np.eye(4), 2).epsilon(1e-6) == pytest.approx(PrivacyLoss.gaussian(0.5).epsilon(1e-6))
    assert PrivacyLoss.matrix(np.eye(4), 2, epoch=2).rho == pytest.approx(2 / 8)
    assert Fraction(PrivacyLoss.matrix([[0.1], [0.7]], 1).rho) >= (Fraction(0.1) ** 2 + Fraction(0.7) ** 2) / 2


@pytest.mark.parametrize("strategy", [[1, 2], [[]], [[math.nan]], [[math.inf]], "abc", [[1, 2], [3]]])
def test_bad_strategies_are_refused(strategy):
    with pytest.raises(InvalidParameter):
        PrivacyLoss.matrix(strategy, 1)


def test_bad_numbers_are_refused():
    for call in (
        lambda: PrivacyLoss.tree(0, 1),
        lambda: PrivacyLoss.tree(4, 0),
        lambda: PrivacyLoss.matrix([[1]], 0),
        lambda: PrivacyLoss.matrix([[1]], 1, epoch=0),
    ):
        with pytest.raises(InvalidParameter):
            call()
