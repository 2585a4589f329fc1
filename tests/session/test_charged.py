"""What a plan is charged covers what it releases: exactly, for every mix of requests and every kind of budget."""

from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting.terms import Approximate

COUNT, MEAN, CITY = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT city, AVG(spent) AS m FROM visits GROUP BY city",
    "SELECT city, COUNT(*) AS k FROM visits GROUP BY city",
)
MIXES = {
    "free": [dp.Request(COUNT), dp.Request(MEAN), dp.Request(CITY)],
    "weighted": [dp.Request(COUNT, weight=5), dp.Request(MEAN)],
    "one with an epsilon": [dp.Request(COUNT, epsilon=Fraction(1, 4)), dp.Request(MEAN), dp.Request(CITY)],
    "one with an error": [dp.Request(COUNT, error={"n": 60}), dp.Request(MEAN)],
    "errors alone": [dp.Request(COUNT, error={"n": 60}), dp.Request(CITY, error={"k": 90})],
    "a delta of its own": [dp.Request(COUNT, delta=Fraction(1, 10**9)), dp.Request(MEAN)],
    "many": [dp.Request(COUNT)] * 12,
    "gaussian": [dp.Request(COUNT, noise="gaussian"), dp.Request(MEAN, noise="gaussian")],
}
UNITS = [dp.Row(), dp.Row(relation="replace_one"), dp.Person("user", groups=2, rows=3)]
EPSILON, DELTA = Fraction(4, 5), Fraction(1, 10**6)


def planned(mix, unit, filter_name):
    """Return the planner, the plans, their loss and what is charged; no data is needed."""
    table = pa.table({"user": [1], "city": ["Oslo"], "spent": [1.0]})
    schema = {"spent": dp.Bounds(0, 10), "city": dp.Values(["Bergen", "Oslo"])}
    budget = dp.Budget(1, 2 * DELTA, filter=filter_name)
    session = dp.Session(table, name="visits", schema=schema, unit=unit, budget=budget)
    plans, loss = session._planner.batch(MIXES[mix], EPSILON, DELTA)
    return session, plans, loss, session._planner.charged_together(plans, loss, EPSILON, DELTA)


def covers(charged, loss):
    """Whether the charge is the loss, or an (epsilon, delta) that it keeps: by either bound, as both are certified."""
    if charged.terms == loss.terms:
        return charged.relation == loss.relation
    ((term, count),) = charged.terms
    assert isinstance(term, Approximate)
    keeps = Fraction(loss.delta(term.epsilon)) <= term.failure or loss.epsilon(term.failure) <= term.epsilon
    return count == 1 and keeps and charged.relation == loss.relation


@pytest.mark.parametrize(("mix", "unit", "filter_name"), list(product(MIXES, UNITS, ["basic", "zcdp", "renyi"])))
def test_the_charge_covers_the_release(mix, unit, filter_name):
    session, plans, loss, charged = planned(mix, unit, filter_name)
    assert loss.terms == dp.PrivacyLoss.total([plan.loss for plan in plans]).terms
    assert covers(charged, loss)
    assert Fraction(loss.delta(EPSILON)) <= DELTA
    if filter_name == "basic":
        assert session.account.cost(charged).amount <= EPSILON


@pytest.mark.parametrize("mix", ["free", "gaussian", "errors alone"])
def test_the_check_catches_a_charge_that_is_too_small(mix):
    _, _, loss, charged = planned(mix, dp.Row(), "basic")
    ((term, _),) = charged.terms
    less = dp.PrivacyLoss.approximate(term.epsilon * Fraction(9, 10), term.failure).under("add_remove")
    assert not covers(less, loss)
    assert not covers(charged, loss + dp.PrivacyLoss.laplace(Fraction(1, 10)))
