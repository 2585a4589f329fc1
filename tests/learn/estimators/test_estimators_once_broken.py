"""Records that once made a sound, or changed what others were taken for, and a budget that was spent twice."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from discreet import Budget
from discreet.errors import BudgetExceeded
from discreet.learn import (
    GaussianNB,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    RandomForestClassifier,
    StandardScaler,
    cross_validate,
)
from discreet.learn.convex import Rows


def test_a_strange_label_changes_no_other_label():
    model = LogisticRegression(epsilon=50, norm=1, classes=[0, 1])
    table, labels = [[0.5], [-0.5]] * 200, [1, 0] * 200
    found = cross_validate(model, [*table, [0.5]], [*labels, "x"], epsilon=50, folds=2)
    assert found.mean > 0.9


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(epsilon=50, norm=1e-3, classes=[0, 1]),
        LinearSVC(epsilon=50, norm=1e-3, classes=[0, 1]),
        GaussianNB(epsilon=50, bounds=(0, 1), classes=[0, 1]),
        RandomForestClassifier(3, epsilon=50, bounds=(0, 1), classes=[0, 1]),
    ],
)
def test_large_records_are_scored_without_a_word(model):
    table, labels = [[0.5, 0.5], [-0.5, 0.5]] * 20, [1, 0] * 20
    with warnings.catch_warnings(action="error"):
        for _ in range(3):
            assert cross_validate(model, [*table, [1e308, 1e308]], [*labels, 1], epsilon=50, folds=2) is not None


def test_numbers_beyond_double_precision_are_read_without_a_word():
    table = np.array([["1"], ["1e4000"]], dtype=object).astype(np.longdouble)
    with warnings.catch_warnings(action="error"):
        assert Rows(features=1, norm=1).read(table).shape == (1, 1)
        StandardScaler(epsilon=1, bounds=(0, 1)).fit(table)


@pytest.mark.parametrize("strange", [[1], [], {}, np.array([1, 2])])
def test_a_target_that_is_no_number_does_not_count(strange):
    model = LinearRegression(epsilon=1, norm=1, bounds=(0, 1)).fit([[0.1], [0.2]], [strange, 1])
    assert np.isfinite(model.predict([[0.1]])).all()


def test_a_clone_of_a_fitted_estimator_shares_its_account():
    model = StandardScaler(epsilon=1, bounds=(0, 1), budget=Budget(epsilon=1)).fit([[0.5]])
    with pytest.raises(BudgetExceeded):
        clone(model).fit([[0.5]])
    clone(StandardScaler(epsilon=1, bounds=(0, 1), budget=model.budget)).fit([[0.5]])


@pytest.mark.parametrize("trees", [2, 3, 5, 7, 11])
def test_the_sensitivity_of_a_forest_is_rounded_up(trees):
    forest = RandomForestClassifier(trees, epsilon=1, delta=1e-5, bounds=(0, 1), classes=[0, 1])
    assert Fraction(forest.plan().sensitivity) ** 2 >= trees
