"""Private estimators: what they cost, what they refuse, what they never say, and that they learn something."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from discreet import Budget, BudgetExceeded, InvalidInput, InvalidParameter, PrivacyLoss, UnboundedSensitivity
from discreet.learn import (
    PCA,
    DecisionTreeClassifier,
    GaussianNB,
    KMeans,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    RandomForestClassifier,
    Ridge,
    StandardScaler,
    cross_validate,
)

RNG = np.random.default_rng(12)
LABELS = RNG.integers(0, 2, 1500)
TABLE = np.clip(RNG.normal(size=(1500, 3)) * 0.3 + LABELS[:, None] * [0.8, -0.8, 0], -2, 2)
NUMBERS = TABLE @ [1.0, -2.0, 0.5] + 3 + 0.05 * RNG.normal(size=1500)
BOX = {"bounds": (-2, 2)}


def every(**given):
    """Return all estimators with a small budget."""
    two = {"classes": [0, 1], **given}
    return (
        LogisticRegression(norm=2, **two),
        LogisticRegression(norm=2, radius=5, steps=5, size=1500, **two),
        LinearSVC(norm=2, **two),
        LinearRegression(norm=2, bounds=(0, 8), **given),
        Ridge(norm=2, bounds=(0, 8), **given),
        StandardScaler(**BOX, **given),
        PCA(2, norm=2, **given),
        KMeans(2, **BOX, **given),
        GaussianNB(**BOX, **two),
        DecisionTreeClassifier(max_depth=3, **BOX, **two),
        RandomForestClassifier(5, max_depth=3, **BOX, **two),
    )


def target_of(estimator):
    return NUMBERS if hasattr(estimator, "bounds") and hasattr(estimator, "norm") else LABELS


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("delta", [0, 1e-5])
def test_what_a_fit_costs_is_known_before_and_after(relation, delta):
    for estimator in every(epsilon=2, delta=delta, relation=relation):
        fitted = clone(estimator).fit(TABLE[:50], target_of(estimator)[:50])
        assert isinstance(fitted.loss_, PrivacyLoss)
        assert fitted.loss_.relation == relation
        assert 1.5 < fitted.loss_.epsilon(delta) <= 2 + 1e-9
        assert fitted.loss_ == estimator.cost(3)


def test_a_budget_is_charged_before_and_refuses_a_second_fit():
    account = Budget(2).open()
    model = LogisticRegression(epsilon=1.5, norm=2, classes=[0, 1], budget=account)
    model.fit(TABLE, LABELS)
    with pytest.raises(BudgetExceeded):
        clone(model).fit(TABLE, LABELS)
    assert clone(model).budget is account
    alone = LogisticRegression(epsilon=1.5, norm=2, classes=[0, 1], budget=Budget(2))
    alone.fit(TABLE, LABELS)
    with pytest.raises(BudgetExceeded):
        alone.fit(TABLE, LABELS)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(model)
    with pytest.raises(InvalidParameter, match="budget"):
        LogisticRegression(epsilon=1, norm=2, classes=[0, 1], budget=3).fit(TABLE, LABELS)


def test_what_was_not_declared_is_refused_before_a_charge():
    account = Budget(10).open()
    for missing, estimator in (
        ("norm", LogisticRegression(epsilon=1, classes=[0, 1], budget=account)),
        ("classes", LogisticRegression(epsilon=1, norm=1, budget=account)),
        ("epsilon", LogisticRegression(norm=1, classes=[0, 1], budget=account)),
        ("bounds", LinearRegression(epsilon=1, norm=1, budget=account)),
        ("bounds", StandardScaler(epsilon=1, budget=account)),
        ("size", LogisticRegression(epsilon=1, delta=1e-5, norm=1, classes=[0, 1, 2], budget=account)),
    ):
        with pytest.raises(UnboundedSensitivity, match=missing):
            estimator.fit(TABLE, LABELS)
    with pytest.raises(InvalidInput):
        LogisticRegression(epsilon=1, norm=1, classes=[0, 1], budget=account).fit(TABLE, LABELS[:-1])
    assert account.spent.amount == 0


def test_no_data_set_makes_a_sound():
    nan, inf = float("nan"), float("inf")
    strange = [[nan, 1, 1], [inf, 0, 0], [1e308, -1e308, 1e308], [1e-320, 0, 0]]
    tables = (
        (TABLE[:0], LABELS[:0]),
        (TABLE[:1], LABELS[:1]),
        (TABLE[:30], np.ones(30, dtype=int)),
        (np.array(strange), np.array([0, 1, 1, 0])),
        (TABLE[:4], np.array([nan, inf, 7, -1])),
        ([["a", None, 1], [1, 2, 3], [4]], ["yes", None, [1, 2]]),
        (pd.DataFrame(strange), pd.Series([0, 1, 1, 0])),
    )
    for delta in (0, 1e-5):
        for estimator in every(epsilon=1, delta=delta):
            for table, labels in tables:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    fitted = clone(estimator).fit(table, labels)
                learned = [value for name, value in vars(fitted).items() if name.endswith("_") and name != "loss_"]
                assert all(np.isfinite(v).all() for v in learned if isinstance(v, np.ndarray) and v.dtype.kind == "f")


def test_labels_that_were_not_declared_do_not_count():
    model = RandomForestClassifier(1, max_depth=0, epsilon=10**4, classes=["a", "b"], bounds=(0, 1))
    model.fit(np.full((7, 1), 0.5), ["a", "a", "b", "c", 1, None, float("nan")])
    assert model.counts_.tolist() == [[[2, 1]]]


def test_estimators_learn():
    ample = {"epsilon": 20, "delta": 1e-5}
    for estimator in every(**ample):
        fitted = estimator.fit(TABLE, target_of(estimator))
        if isinstance(fitted, RandomForestClassifier):
            continue  # a few shallow random trees are luck
        if hasattr(fitted, "classes_"):
            assert fitted.score(TABLE, LABELS) > (0.7 if getattr(fitted, "radius", None) else 0.9)
        elif hasattr(fitted, "coef_"):
            assert fitted.score(TABLE, NUMBERS) > 0.9
    forest = RandomForestClassifier(60, max_depth=5, **BOX, **ample, classes=[0, 1]).fit(TABLE, LABELS)
    assert forest.score(TABLE, LABELS) > 0.85
    scaled = StandardScaler(**BOX, **ample).fit_transform(TABLE)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros(3), abs=0.1)
    assert scaled.std(axis=0) == pytest.approx(np.ones(3), abs=0.1)
    direction = PCA(1, norm=2, **ample).fit(TABLE).components_[0]
    assert abs(direction @ [0.5**0.5, -(0.5**0.5), 0]) > 0.97
    centres = KMeans(2, **BOX, **ample, steps=4).fit(TABLE).cluster_centers_
    assert np.ptp(centres[:, 0]) > 0.4
    assert LinearRegression(norm=3, bounds=(0, 8), **ample).fit(TABLE, NUMBERS).coef_ == pytest.approx(
        [1, -2, 0.5], abs=0.5
    )


def test_several_classes():
    labels = np.where(TABLE[:, 2] > 0.3, "high", np.where(LABELS == 1, "right", "left"))
    model = LogisticRegression(epsilon=20, delta=1e-5, norm=2, classes=["left", "right", "high"], size=1500)
    model.fit(TABLE, labels)
    assert model.score(TABLE, labels) > 0.75
    assert model.predict_proba(TABLE[:2]).sum(axis=1) == pytest.approx([1, 1])
    assert model.coef_.shape == (3, 3)


def test_pipelines_share_one_account():
    account = Budget(3).open()
    pipe = make_pipeline(
        StandardScaler(epsilon=1, **BOX, budget=account),
        LogisticRegression(epsilon=1, norm=3, classes=[0, 1], budget=account),
    )
    pipe.fit(TABLE, LABELS)
    assert account.spent.amount == 2
    assert pipe.predict(TABLE[:5]).shape == (5,)
    with pytest.raises(BudgetExceeded):
        clone(pipe).fit(TABLE, LABELS)


def test_cross_validation_is_charged_as_a_whole():
    account = Budget(10).open()
    model = LogisticRegression(epsilon=2, norm=2, classes=[0, 1], budget=account)
    found = cross_validate(model, TABLE, LABELS, epsilon=1, folds=4)
    assert found.loss.epsilon() == pytest.approx(7)
    assert float(account.spent.amount) == pytest.approx(7)
    assert found.mean > 0.8
    with pytest.raises(BudgetExceeded):
        cross_validate(model, TABLE, LABELS, epsilon=1, folds=4)
    with pytest.raises(BudgetExceeded):
        cross_validate(model, TABLE, LABELS, epsilon=1, folds=4, budget=Budget(1))
    with pytest.raises(InvalidParameter):
        cross_validate(PCA(epsilon=1, norm=1), TABLE, LABELS, epsilon=1)


def test_strange_records_are_scored_without_a_word():
    table = [*TABLE[:60].tolist(), ["text", None, 1], [float("nan"), float("inf"), 0]]
    labels = np.append(LABELS[:60].astype(object), ["other", None])
    model = GaussianNB(epsilon=1, **BOX, classes=[0, 1])
    assert len(cross_validate(model, table, labels, epsilon=1, folds=3).accuracies) == 3


def test_a_prediction_depends_on_its_row_alone():
    for estimator in every(epsilon=1, delta=1e-5):
        if hasattr(estimator, "classes"):
            fitted = estimator.fit(TABLE[:100], LABELS[:100])
            whole, cut = fitted.predict(TABLE), fitted.predict(TABLE[7:])
            assert (whole[7:] == cut).all()
            assert (fitted.predict(TABLE[3:4]) == whole[3:4]).all()


def test_seeds_change_nothing():
    fits = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        fits.append(LogisticRegression(epsilon=1, norm=2, classes=[0, 1]).fit(TABLE, LABELS).coef_)
    assert not np.array_equal(fits[0], fits[1])


def test_nothing_optional_is_loaded_before_it_is_used():
    code = (
        "import sys, discreet, discreet.learn, discreet.auditing.learn_entries; from discreet.learn import ERM;"
        "print('torch' in sys.modules, 'sklearn' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", "False"]


def test_the_names_are_held():
    import discreet.learn

    names = {"ERM", "LogisticRegression", "KMeans", "PCA", "cross_validate", "Rows", "private"}
    assert names <= set(dir(discreet.learn))
    with pytest.raises(AttributeError):
        discreet.learn.Nothing  # noqa: B018
