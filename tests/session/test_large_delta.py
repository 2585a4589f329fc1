"""A delta that protects nobody is said where it is given: to a session, a ledger, an estimator and a training."""

import warnings

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import LargeDeltaWarning

DATA = pa.table({"user": [1, 2, 3]})
FOLDER = []


@pytest.fixture(autouse=True)
def folder(tmp_path):
    FOLDER[:] = [tmp_path]


def by_session(delta):
    dp.Session(DATA, name="t", unit=dp.Person("user", groups=1, rows=1), budget=dp.Budget(1, delta)).close()


def by_ledger(delta):
    dp.Ledger(FOLDER[0] / f"{delta}.sqlite").account("t", budget=dp.Budget(1, delta), who="office")


def by_estimator(delta):
    pytest.importorskip("sklearn")
    from discreet.learn import LogisticRegression

    made = LogisticRegression(epsilon=1, delta=delta, size=100, norm=1, classes=[0, 1])
    made.fit([[0.1], [0.5]] * 50, [0, 1] * 50)


def by_training(delta):
    torch = pytest.importorskip("torch")
    from discreet.learn.sgd import private

    model = torch.nn.Linear(2, 1)
    data = torch.ones(100, 2), torch.ones(100, 1)
    private(model, torch.optim.SGD(model.parameters()), data, records=100, epsilon=3, delta=delta, steps=2)


@pytest.mark.parametrize("given", [by_session, by_ledger, by_estimator, by_training])
def test_a_delta_of_a_half_is_said(given):
    with pytest.warns(LargeDeltaWarning, match="not below one over"):
        given(0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LargeDeltaWarning)
        given(1e-6)


@pytest.mark.parametrize("given", [by_estimator, by_training])
def test_where_the_number_of_people_is_public_it_counts(given):
    with pytest.warns(LargeDeltaWarning, match="100 people"):
        given(0.02)
