"""Learning from synthetic records: classifiers beside their definitions, and what is learnt from what."""

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic.graphical import GraphicalModel, junction_tree
from discreet.utility import LogisticRegression, NaiveBayes, predict
from discreet.utility.classifiers import _Problem
from discreet.utility.prediction import predict_all, split

SIZES = (3, 4, 2)


def world(rows, seed):
    """A class that follows two attributes, with one in ten turned around."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, (3, 4), (rows, 2))
    label = ((codes.sum(axis=1) > 2) ^ (rng.random(rows) < 0.1)).astype(int)
    return np.column_stack([codes, label])


def test_the_slope_is_that_of_the_objective():
    rng = np.random.default_rng(1)
    codes, labels = rng.integers(0, (3, 4), (40, 2)), rng.integers(0, 3, 40)
    problem = _Problem(codes, labels, rng.random(40), (3, 4), 3, 0.7)
    weights = rng.normal(size=problem.length)
    _, slope = problem(weights)
    for place in range(problem.length):
        step = np.zeros(problem.length)
        step[place] = 1e-5
        by_hand = (problem(weights + step)[0] - problem(weights - step)[0]) / 2e-5
        assert slope[place] == pytest.approx(by_hand, abs=1e-5)


def test_naive_bayes_is_the_rule_of_bayes():
    codes, labels = np.array([[0], [0], [1], [1], [1]]), np.array([0, 0, 0, 1, 1])
    fitted = NaiveBayes(smoothing=1).fit(codes, labels, (2,), 2)
    scores = np.exp(fitted.scores(np.array([[1]])))[0]
    assert scores[0] / scores[1] == pytest.approx((4 * 2 / 5) / (3 * 3 / 4))


@pytest.mark.parametrize("classifier", [LogisticRegression(), NaiveBayes()], ids=["logistic", "bayes"])
def test_good_records_teach_and_shuffled_ones_do_not(classifier):
    real = world(4000, 1)
    shuffled = real.copy()
    shuffled[:, 2] = np.random.default_rng(5).permutation(real[:, 2])
    made = {"good": world(2000, 2), "shuffled": shuffled}
    found = predict_all(real, made, sizes=SIZES, target=2, classifier=classifier)
    assert found["good"].real > 0.87
    assert found["good"].synthetic > found["good"].real - 0.03
    assert found["good"].kept > 0.9
    assert found["shuffled"].kept < 0.5
    assert found["good"].majority < 0.65
    assert found["good"].tested == 1000
    assert "NOT private" in found["good"].note


def test_more_than_two_classes():
    real = world(2000, 3)[:, [2, 1, 0]]
    found = predict(real, real, sizes=(2, 4, 3), target=2)
    assert 1 / 3 < found.synthetic <= 1


def test_a_model_is_drawn_from():
    logs = np.where(np.eye(2, dtype=bool), 0.0, -6.0)
    model = GraphicalModel(junction_tree((2, 2), [(0, 1)]), [logs], 500.0)
    found = predict([[0, 0], [1, 1]] * 100, model, sizes=(2, 2), target=1)
    assert found.synthetic == 1


def test_no_synthetic_records_teach_nothing_and_do_not_fail():
    found = predict(world(400, 1), np.zeros((0, 3), dtype=int), sizes=SIZES, target=2)
    assert 0 <= found.synthetic <= 1


def test_the_split_is_the_same_in_every_run_and_leaves_nobody_out():
    rows = np.arange(1001)[:, None]
    train, test = split(rows)
    assert len(test) == 250
    assert sorted([*train[:, 0], *test[:, 0]]) == list(range(1001))
    assert np.array_equal(split(rows)[1], test)
    assert abs(test.mean() - 500) < 20


def test_odd_targets_and_too_few_records_are_refused():
    with pytest.raises(InvalidParameter, match="target"):
        predict(world(50, 1), world(50, 1), sizes=SIZES, target=3)
    with pytest.raises(InvalidParameter, match="few"):
        predict([[0, 0, 0]], [[0, 0, 0]], sizes=SIZES, target=2)
