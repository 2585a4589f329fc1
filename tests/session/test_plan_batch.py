"""Several queries that are declared together, for one epsilon."""

from fractions import Fraction

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import BudgetExceeded, InvalidParameter, ReleaseFailed
from discreet.tables.engines import DuckDBEngine

DATA = pa.table({"city": ["a"] * 50 + ["b"] * 20, "x": [float(i) for i in range(70)]})
SCHEMA = {"city": dp.Values(["a", "b"]), "x": dp.Bounds(0, 100)}
QUERIES = [
    "SELECT COUNT(*) AS n FROM t",
    "SELECT city, COUNT(*) AS n FROM t GROUP BY city",
    "SELECT AVG(x) AS m FROM t",
    "SELECT city, SUM(x) AS s FROM t GROUP BY city",
]


def opened(budget, **settings):
    return dp.Session(DATA, name="t", schema=SCHEMA, unit=dp.Row(), budget=budget, **settings)


def test_without_a_delta_a_plan_costs_its_epsilon():
    session = opened(dp.Budget(1))
    answers = session.plan(QUERIES, epsilon=Fraction(1, 2))
    assert [len(answer) for answer in answers] == [1, 2, 1, 2]
    assert session.spent == Fraction(1, 2)
    assert sum((answer.parameters["epsilon"] for answer in answers), 0.0) == pytest.approx(0.5)


@pytest.mark.parametrize("weights", [None, [3, 1, 1, 1]])
def test_the_whole_stays_within_what_was_asked(weights):
    session = opened(dp.Budget(1, 1e-6))
    answers = session.plan(QUERIES, epsilon=Fraction(1, 2), delta=Fraction(1, 10**8), weights=weights)
    loss = dp.PrivacyLoss.total([answer.loss for answer in answers])
    assert loss.delta(0.5 * (1 + 1e-12)) <= 1e-8
    assert session.spent > 0


def test_queries_declared_together_err_less():
    queries = [QUERIES[0]] * 12
    session = opened(dp.Budget(2, 1e-6))
    together = session.preview_plan(queries, epsilon=1, delta=Fraction(1, 10**7))[0]["n"].error
    alone = opened(dp.Budget(2)).preview(QUERIES[0], epsilon=Fraction(1, 12))["n"].error
    assert together < alone


@pytest.mark.parametrize("count", [2, 30, 100])
def test_any_number_of_queries_uses_up_what_was_asked(count):
    """What composition saves grows with the number of queries: 11.5 times for a hundred, where sigma is 46.8."""
    planned = opened(dp.Budget(1, 1e-7)).preview_plan(QUERIES[:1] * count, epsilon=1, delta=Fraction(1, 10**7))
    loss = dp.PrivacyLoss.total([plan.loss for plan in planned])
    assert 0.98e-7 < loss.delta(1) <= 1e-7
    if count == 100:
        assert planned[0].loss.rho == pytest.approx(0.5 / 46.8**2, rel=1e-3)


def test_weights_give_a_query_more():
    session = opened(dp.Budget(1))
    heavy, light = session.preview_plan(QUERIES[:2], epsilon=1, weights=[9, 1])
    assert heavy.epsilon == 0.9
    assert light.epsilon == 0.1
    assert heavy["n"].error < light["n"].error


def test_the_plan_is_charged_once_before_anything_is_read():
    class Failing(DuckDBEngine):
        def run(self, sql):
            raise RuntimeError

    session = opened(dp.Budget(1), engine=Failing())
    with pytest.raises(ReleaseFailed):
        session.plan(QUERIES, epsilon=Fraction(1, 2))
    assert session.spent == Fraction(1, 2)
    with pytest.raises(BudgetExceeded):
        session.plan(QUERIES, epsilon=Fraction(3, 4))
    assert session.spent == Fraction(1, 2)


@pytest.mark.parametrize(
    ("queries", "settings"),
    [
        ([], {}),
        (QUERIES[0], {}),
        (QUERIES, {"weights": [1]}),
        (QUERIES, {"weights": [1, 1, 1, 0]}),
        (QUERIES, {"epsilon": 0}),
        ([QUERIES[0], "SELECT x FROM t"], {}),
    ],
)
def test_what_is_no_plan_is_refused_before_anything_is_spent(queries, settings):
    session = opened(dp.Budget(1))
    with pytest.raises(InvalidParameter):
        session.plan(queries, **settings)
    assert session.spent == 0
