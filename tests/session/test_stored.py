"""What a ledger answers again, and what it must not."""

import contextlib
import threading

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.ledger import Ledger, Purpose
from discreet.session.book import Memory
from discreet.tables.sql import parse
from discreet.testing import seeded

SCHEMA = {"spent": dp.Bounds(0, 10), "city": dp.Values(["Bergen", "Oslo"])}
SQL = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


def visits(rows=4):
    return pa.table(
        {
            "user": list(range(rows)),
            "visit": list(range(rows)),
            "city": ["Oslo", "Bergen"] * (rows // 2),
            "spent": [5.0] * rows,
        }
    )


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def opened(ledger, *, data=None, budget=None, **settings):
    account = ledger.account("visits", budget=budget or dp.Budget(10), who="curator")
    said = {"name": "visits", "schema": SCHEMA, "unit": dp.Person("user", groups=1, rows=2), "version": "1", **settings}
    if said.pop("several", False):
        said.pop("name"), said.pop("schema")
    return dp.Session(visits() if data is None else data, budget=account, **said)


def test_the_same_request_is_free_and_the_same(ledger):
    first = opened(ledger).release(SQL, epsilon=1)
    again = opened(ledger).release(SQL, epsilon=1)
    assert (first.stored, again.stored) == (False, True)
    assert again.rows == first.rows
    assert ledger.account("visits").spent.amount == 1
    assert "nothing was charged now" in repr(again)


@pytest.mark.parametrize(
    "change",
    [
        {"version": "2"},
        {"version": None},
        {"unit": dp.Person("user", groups=1, rows=1)},
        {"schema": {"spent": dp.Bounds(0, 20), "city": dp.Values(["Bergen", "Oslo"])}},
        {"schema": {"spent": dp.Bounds(0, 10), "city": dp.Values(["Oslo", "Bergen"])}},
    ],
)
def test_another_declaration_is_another_release(ledger, change):
    opened(ledger).release(SQL, epsilon=1)
    assert not opened(ledger, **change).release(SQL, epsilon=1).stored
    assert ledger.account("visits").spent.amount == 2


@pytest.mark.parametrize("settings", [{"epsilon": 2}, {"epsilon": 1, "level": 0.9}, {"epsilon": 1, "noise": "laplace"}])
def test_other_settings_are_another_release(ledger, settings):
    session = opened(ledger)
    session.release(SQL, epsilon=1)
    assert not session.release(SQL, **settings).stored


def test_fresh_noise_is_charged(ledger):
    session = opened(ledger)
    session.release(SQL, epsilon=1)
    assert not session.release(SQL, epsilon=1, fresh=True).stored
    assert ledger.account("visits").spent.amount == 2


def test_a_public_table_that_changed_is_another_release(ledger):
    sql = "SELECT big, COUNT(*) AS n FROM visits JOIN towns ON visits.city = towns.name GROUP BY big"
    answers = []
    for big in ([0, 1], [1, 1], [1, 1]):
        towns = pa.table({"name": ["Oslo", "Bergen"], "big": big})
        answers.append(opened(ledger, public={"towns": towns}).release(sql, epsilon=1))
    assert [answer.stored for answer in answers] == [False, False, True]


def test_another_key_of_a_table_is_another_release(ledger):
    tables = {"visits": dp.Table(visits(), SCHEMA, key="user")}
    opened(ledger, data=tables, several=True).release(SQL, epsilon=1)
    other = {"visits": dp.Table(visits(), SCHEMA, key="visit")}
    with pytest.raises(dp.RelationMismatch, match="persons by user, and not about persons by visit"):
        opened(ledger, data=other, several=True)


def test_queries_that_differ_in_epsilon_alone_are_told_apart():
    tables = {"visits": ("user", "visit", "city", "spent")}
    options = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon={}) city, COUNT(*) AS n FROM visits GROUP BY city"
    one, other = (dp.Request(parse(options.format(epsilon), tables)) for epsilon in (1, 3))
    assert one.fingerprint != other.fingerprint


def test_constants_of_different_types_are_told_apart():
    query = dp.Query("visits")
    made = [dp.Request(query.where(dp.col("user") == value).agg(n=dp.count())) for value in (1, True)]
    made += [dp.Request(query.where(dp.col(name).is_null()).agg(n=dp.count())) for name in ("a.b",)]
    assert len({request.fingerprint for request in made}) == len(made)


def test_a_key_stands_for_one_request_on_one_version(ledger):
    session = opened(ledger)
    first = session.release(SQL, epsilon=1, key="spring")
    assert session.release(SQL, epsilon=1, key="spring").rows == first.rows
    with pytest.raises(InvalidParameter, match="used for another request"):
        session.release(SQL, epsilon=2, key="spring")
    with pytest.raises(InvalidParameter, match="used for another request"):
        opened(ledger, version="2").release(SQL, epsilon=1, key="spring")
    assert ledger.account("visits").spent.amount == 1


def test_what_was_made_with_a_seed_is_never_answered_to_others(ledger):
    with pytest.warns(dp.NotPrivateWarning), seeded(1):
        made = opened(ledger).release(SQL, epsilon=1)
    real = opened(ledger).release(SQL, epsilon=1)
    assert (made.private, real.private, real.stored) == (False, True, False)
    charges = [entry for entry in ledger.entries("visits") if entry.kind == "charge"]
    assert [entry.body["private"] for entry in charges] == [False, True]


def test_a_plan_is_one_charge_and_is_answered_again(ledger):
    queries = [SQL, "SELECT COUNT(*) AS n FROM visits"]
    first = opened(ledger).plan(queries, epsilon=1)
    again = opened(ledger).plan(queries, epsilon=1)
    assert [answer.rows for answer in again] == [answer.rows for answer in first]
    assert all(answer.stored for answer in again)
    assert sum(entry.kind == "charge" for entry in ledger.entries("visits")) == 1


def test_one_key_in_memory_is_charged_once_by_many_threads():
    for _ in range(50):
        account = dp.Budget(100).open()
        book, start = Memory(account), threading.Barrier(8)
        purpose = Purpose(key="once", fingerprint="x")

        def charge(book=book, start=start, purpose=purpose):
            start.wait()
            with contextlib.suppress(InvalidParameter):
                book.charge(dp.PrivacyLoss.laplace(1), purpose)

        threads = [threading.Thread(target=charge) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert account.spent.amount == 1


BASIC = dp.Budget(1, 1e-6, filter="basic")


def test_where_epsilons_are_added_a_plan_is_charged_what_was_asked(ledger):
    session = opened(ledger, budget=BASIC)
    session.plan([SQL] + [f"SELECT COUNT(*) AS n{i} FROM visits" for i in range(39)], epsilon=0.5)
    assert session.spent <= 0.5
    one = dp.Session(visits(), name="visits", schema=SCHEMA, unit=dp.Row(), budget=BASIC)
    one.plan([dp.Request(SQL, noise="gaussian")], epsilon=1, delta=1e-6)
    assert 0.99 < one.spent <= 1


def test_where_epsilons_are_added_what_is_solved_for_an_error_is_charged_what_it_costs(ledger):
    session = opened(ledger, budget=BASIC)
    queries = [dp.Request(f"SELECT COUNT(*) AS n{i} FROM visits", error={f"n{i}": 500}) for i in range(3)]
    loss = session.planned_loss(queries, epsilon=0.9)
    session.plan(queries, epsilon=0.9)
    assert loss.epsilon(0.9e-6) <= float(session.spent) < 0.05


def test_a_plan_that_is_not_the_last_does_not_take_everything():
    session = dp.Session(visits(), name="visits", schema=SCHEMA, unit=dp.Row(), budget=dp.Budget(1, 1e-6))
    queries = [dp.Request("SELECT MEDIAN(spent) AS m FROM visits")]
    with pytest.raises(dp.BudgetExceeded):
        session.plan(queries, epsilon=0.9, last=False)
    assert session.spent == 0
    session.plan(queries, epsilon=0.9)
    assert session.account.remaining.amount == 0


def test_requests_say_their_own_weight(ledger):
    with pytest.raises(InvalidParameter, match="its own weight"):
        opened(ledger).preview_plan([dp.Request(SQL), dp.Request(SQL)], epsilon=1, weights=[1, 2])
